// `download`: writes to a partial file first, so an interrupted download can resume, then adds it to the store like any
// other file. If the checksum is wrong or the file is too large, nothing is stored.
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { formatMs, parseContentId, startDeadline, TrunklineError } from "@trunkline/core";
import { isPublicAddress } from "@trunkline/core/network";
import type { Call } from "@trunkline/core/threads";
import type { DownloadParams, DownloadResult } from "../contract/index.js";
import { metadataObject, tagList, wholeNumber } from "../contract/params.js";
import { RESULTS_KEPT_MS } from "../engine/writing/store-content.js";
import { DocumentBatcher } from "./document-batch.js";
import type { DocumentTarget } from "./document-target.js";
import { readSmallFile, uploadLargeFile, WHOLE_FILE_BYTES } from "./file-content.js";
import { connectionError, type FetchAnswer, fetchChecked } from "./net/fetch.js";

/** Parameters of `download` with the caller's permissions. */
export interface ResolvedDownloadParams extends DownloadParams {
  readonly allowPrivate: boolean;
  readonly session?: string;
}

/** Unfinished downloads, in the store's folder. */
const PARTIAL_FOLDER = "partial";
const DEFAULT_TIMEOUT_MS = 60_000;
/** A server can send without end, and a model may have chosen it. */
const DEFAULT_MAX_BYTES = 1_000_000_000;

interface Partial {
  readonly file: string;
  readonly facts: string;
}

/** `download`. `timeout_ms` limits how long the server can stay silent. */
export async function downloadTo(
  env: DocumentTarget,
  params: ResolvedDownloadParams,
  call: Call,
): Promise<DownloadResult> {
  const expected = params.checksum === undefined ? undefined : parseContentId(params.checksum);
  const timeoutMs = wholeNumber(params.timeoutMs, { name: "timeout_ms", from: 0 }) || DEFAULT_TIMEOUT_MS;
  const maxBytes = wholeNumber(params.maxBytes, { name: "max_bytes", from: 1 }) ?? DEFAULT_MAX_BYTES;
  const partial = partialOf(env.folder, params.url);
  if (params.resume === false) forget(partial);
  using deadline = startDeadline({
    timeoutMs,
    signal: call.signal,
    what: `Downloading ${params.url}`,
    hint: `The server sent nothing for ${formatMs(timeoutMs)}; run the download again to resume it.`,
  });
  const fetched = await fetchInto(partial, {
    params,
    maxBytes,
    signal: deadline.signal,
    extend: () => deadline.extend(),
    call,
  });
  const found = await hashOf(partial.file);
  if (expected !== undefined && found !== expected) {
    forget(partial);
    throw new TrunklineError("IO", `${params.url} has the hash ${found}, not ${expected}. Nothing was stored.`, {
      hint: "The file was changed on the server or in transit.",
      data: { expected, found },
    });
  }
  const stored = await storeFile(env, { partial, url: fetched.url, contentType: fetched.contentType }, params, call);
  forget(partial);
  return {
    ...stored,
    url: fetched.url,
    resumedBytes: fetched.resumedBytes,
    ...(fetched.contentType === undefined ? {} : { contentType: fetched.contentType }),
  };
}

function partialOf(folder: string, url: string): Partial {
  const partials = join(folder, PARTIAL_FOLDER);
  if (lstatSync(partials, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new TrunklineError("STORE_UNTRUSTED", `${partials} is a symbolic link. A store's files are never links.`, {
      hint: "Remove the link if you did not make it.",
    });
  }
  mkdirSync(partials, { recursive: true, mode: 0o700 });
  const name = createHash("sha256").update(url).digest("hex").slice(0, 32);
  return { file: join(partials, `${name}.part`), facts: join(partials, `${name}.json`) };
}

function forget({ file, facts }: Partial): void {
  rmSync(file, { force: true });
  rmSync(facts, { force: true });
}

interface Fetched {
  readonly url: string;
  readonly contentType: string | undefined;
  readonly resumedBytes: number;
}

interface FetchOptions {
  readonly params: ResolvedDownloadParams;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly extend: () => void;
  readonly call: Call;
}

async function fetchInto(partial: Partial, options: FetchOptions): Promise<Fetched> {
  const { params, signal } = options;
  const validator = validatorOf(partial);
  const had = validator === undefined ? 0 : (statSync(partial.file, { throwIfNoEntry: false })?.size ?? 0);
  const range: Record<string, string> = had > 0 && validator ? { range: `bytes=${had}-`, "if-range": validator } : {};
  const answer = await fetchChecked({
    url: params.url,
    headers: { ...params.headers, "accept-encoding": "identity", ...range },
    signal,
    isAllowed: (address) => params.allowPrivate || isPublicAddress(address),
  });
  const contentType = answer.headers["content-type"];
  const resumed = answer.status === 206 && continuesAt(answer, had);
  // 416: the partial file is already complete.
  if (answer.status === 416 && had > 0 && rangeTotal(answer) === had) {
    answer.body.destroy();
    return { url: answer.url, contentType: undefined, resumedBytes: had };
  }
  if (answer.status !== 200 && !resumed) {
    answer.body.destroy();
    if (answer.status === 206 || answer.status === 416) forget(partial);
    throw new TrunklineError("CONNECTION_FAILED", `${answer.url} returned status ${answer.status}.`, {
      retryable: answer.status >= 500 || answer.status === 429 || answer.status === 206 || answer.status === 416,
      data: { status: answer.status },
    });
  }
  await saveBody(partial, answer, { ...options, from: resumed ? had : 0 });
  return { url: answer.url, contentType, resumedBytes: resumed ? had : 0 };
}

/** The validator the server sent when the partial file was started. Only that content can be resumed. */
function validatorOf({ facts }: Partial): string | undefined {
  if (statSync(facts, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    const { validator } = JSON.parse(readFileSync(facts, "utf8")) as { validator?: unknown };
    return typeof validator === "string" ? validator : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function continuesAt(answer: FetchAnswer, offset: number): boolean {
  return new RegExp(`^bytes ${offset}-`).test(answer.headers["content-range"] ?? "");
}

function rangeTotal(answer: FetchAnswer): number {
  return Number(/\/(\d+)$/.exec(answer.headers["content-range"] ?? "")?.[1]);
}

async function saveBody(
  partial: Partial,
  answer: FetchAnswer,
  options: FetchOptions & { from: number },
): Promise<void> {
  const { maxBytes, signal, extend, call, from } = options;
  const length = Number(answer.headers["content-length"] ?? Number.NaN);
  if (from + length > maxBytes) {
    answer.body.destroy();
    throw tooLarge(answer.url, maxBytes);
  }
  const etag = answer.headers.etag;
  const validator = etag?.startsWith("W/")
    ? answer.headers["last-modified"]
    : (etag ?? answer.headers["last-modified"]);
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  const creating = O_WRONLY | O_CREAT | O_NOFOLLOW;
  const fd = openSync(partial.file, creating | (from > 0 ? O_APPEND : O_TRUNC), 0o600);
  let size = from;
  try {
    if (from === 0) saveFacts(partial.facts, { url: answer.url, validator });
    for await (const part of answer.body as AsyncIterable<Uint8Array>) {
      extend();
      size += part.length;
      if (size > maxBytes) {
        answer.body.destroy();
        throw tooLarge(answer.url, maxBytes);
      }
      writeSync(fd, part);
      call.progress({ progress: size, ...(Number.isNaN(length) ? {} : { total: from + length }) });
    }
    fsyncSync(fd);
  } catch (error) {
    if (error instanceof TrunklineError) {
      if (error.code === "INVALID_ARGUMENT") forget(partial);
      throw error;
    }
    throw connectionError(answer.url, error, signal);
  } finally {
    closeSync(fd);
  }
  if (!Number.isNaN(length) && size !== from + length) {
    throw new TrunklineError("CONNECTION_FAILED", `${answer.url} ended after ${size} of ${from + length} bytes.`);
  }
}

function saveFacts(path: string, facts: { url: string; validator: string | undefined }): void {
  rmSync(path, { force: true });
  writeFileSync(path, JSON.stringify(facts), { flag: "wx", mode: 0o600 });
}

function tooLarge(url: string, maxBytes: number): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", `${url} is larger than max_bytes (${maxBytes}). Nothing was stored.`, {
    hint: "Repeat the download with a larger `max_bytes` if you need it.",
  });
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  return hash.digest("hex");
}

async function storeFile(
  env: DocumentTarget,
  { partial, url, contentType }: { partial: Partial; url: string; contentType: string | undefined },
  params: ResolvedDownloadParams,
  call: Call,
): Promise<{ hash: string; path: string; size: number; newBytes: number }> {
  const { isStored } = env.questions;
  const batch = {
    collection: params.collection ?? "default",
    tags: tagList(params.tags),
    metadata: {
      source: url,
      ...(contentType === undefined ? {} : { contentType: contentType }),
      ...metadataObject(params.metadata),
    },
    session: params.session,
  };
  const batcher = new DocumentBatcher(env, batch, call);
  const place = { path: params.url, root: undefined, file: undefined };
  const size = statSync(partial.file).size;
  let hash: string;
  if (size > WHOLE_FILE_BYTES) {
    const { content, newBytes } = await uploadLargeFile(env, partial.file, { isStored, call });
    await batcher.addUploaded({ ...place, title: basename(new URL(url).pathname) || undefined }, content, newBytes);
    hash = content.hash;
  } else {
    const read = (stored: (hash: string) => boolean) => {
      const { prepared } = readSmallFile(partial.file, { isStored: stored, known: undefined });
      if (prepared === undefined) throw new TrunklineError("INTERNAL", "A download was read but not prepared.");
      return prepared;
    };
    const prepared = read(isStored);
    await batcher.add({ ...place, title: prepared.text?.title }, prepared, () => read(() => false));
    hash = prepared.hash;
  }
  const { newBytes } = await batcher.finish();
  return { hash, path: params.url, size, newBytes: newBytes };
}

/** Removes interrupted downloads that were never resumed. */
export function removeOldPartials(folder: string, now: number): void {
  const partials = join(folder, PARTIAL_FOLDER);
  // Never a link: what is behind it is not ours to remove.
  if (lstatSync(partials, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(partials)) {
    if (!/^[0-9a-f]{32}\.(?:part|json)$/.test(name)) continue;
    const path = join(partials, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < now - RESULTS_KEPT_MS) rmSync(path, { force: true });
  }
}
