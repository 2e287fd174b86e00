// The operation `grep`: documents from a source, through the threads, into one answer in the order of paths, page by
// page. Nothing is left out silently: what is not in an answer is behind its cursor.
import { createHash } from "node:crypto";
import { abortable, abortError, TrunklineError } from "@trunkline/core";
import { compileGlobs } from "../glob.js";
import { decodeCursor, encodeCursor, wholeNumber } from "../params.js";
import type { TrigramQuery } from "./literals.js";
import { type CompiledPattern, compilePattern } from "./pattern.js";
import type { BatchRequest, GrepPool } from "./pool.js";
import type { BatchAnswer, BatchDocument, DocumentMatches } from "./protocol.js";
import type { ScannedMatch } from "./scan.js";

/** The parameters of the contract; `fixed` is ours. The filters that all operations share are the source's business. */
export interface GrepParams {
  readonly pattern: string;
  /** Files or folders. Default: everything. */
  readonly paths?: readonly string[] | undefined;
  readonly ignore_case?: boolean | undefined;
  readonly line_numbers?: boolean | undefined;
  readonly context?: number | undefined;
  readonly before_context?: number | undefined;
  readonly after_context?: number | undefined;
  readonly word?: boolean | undefined;
  readonly fixed?: boolean | undefined;
  readonly count?: boolean | undefined;
  readonly files_with_matches?: boolean | undefined;
  /** Per file; 0 for no limit. */
  readonly max_count?: number | undefined;
  readonly invert?: boolean | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
}

/** A document that may match. `read` is needed only where the threads of the pool have no reader of their own. */
export interface GrepDocument {
  readonly path: string;
  readonly hash: string;
  readonly sizeBytes?: number | undefined;
  /** Known to be binary: it is counted and not read. */
  readonly binary?: boolean | undefined;
  read?(): Promise<Uint8Array>;
}

/** What a source is asked for. */
export interface GrepRequest {
  /** Documents without these trigrams cannot match; a source may leave them out. "none": all may match. */
  readonly trigrams: TrigramQuery | "none";
  readonly paths: readonly string[] | undefined;
  /** Documents whose path comes before this one are not needed. */
  readonly fromPath: string | undefined;
  readonly signal: AbortSignal;
}

/** Where documents come from: in batches of any size, in the order of paths and then hashes, by their UTF-8 bytes. */
export interface GrepSource {
  documents(request: GrepRequest): AsyncIterable<readonly GrepDocument[]>;
}

/** A line that matches. Each line of a document is shown once: as a match, or as the context of one. */
export interface GrepMatch {
  readonly path: string;
  readonly hash: string;
  readonly line: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** What every answer of grep says of itself. */
export interface GrepState {
  /** There is more: go on with `cursor`. */
  readonly truncated: boolean;
  readonly cursor?: string;
  /** Binary contents that were skipped. */
  readonly binary: number;
  /** Time ran out at this document. `total` and `files` count what was searched until then. */
  readonly timed_out?: { readonly path: string; readonly budget_ms: number };
}

export type GrepResult = GrepState &
  (
    | { readonly matches: readonly GrepMatch[]; readonly total: number; readonly files: number }
    | { readonly total: number; readonly files: readonly { readonly path: string; readonly count: number }[] }
    | { readonly files: readonly string[] }
  );

/** The limits of one answer. */
export interface GrepLimits {
  /** Default 10 s. */
  readonly budgetMs?: number | undefined;
  /** Matches in one answer; default 1,000. */
  readonly maxMatches?: number | undefined;
  /** Bytes of text in one answer, by and large; default 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Files in one answer of `count` or `files_with_matches`; default 10,000. */
  readonly maxFiles?: number | undefined;
}

const DEFAULTS = { budgetMs: 10_000, maxMatches: 1000, maxBytes: 1 << 20, maxFiles: 10_000 };
const BATCH_BYTES = 2 << 20;
const BATCH_DOCUMENTS = 256;
/** A source that does not say how long a document is: a usual length. */
const USUAL_BYTES = 8192;
/** In a cursor: all of the document has been answered. */
const WHOLE_DOCUMENT = -1;

/** Where an answer ends, and what had been counted up to there, or in all where `known` says so. */
interface Place {
  readonly path: string;
  readonly hash: string;
  readonly line: number;
  readonly total: number;
  readonly files: number;
  readonly binary: number;
  readonly known: boolean;
}

/** Everything a query needs, checked. */
interface Query {
  readonly params: GrepParams;
  readonly pattern: CompiledPattern;
  readonly mode: "matches" | "count" | "files";
  readonly before: number;
  readonly after: number;
  readonly maxCount: number;
  readonly limits: typeof DEFAULTS;
  readonly digest: string;
  readonly from: Place | undefined;
  readonly wanted: (path: string) => boolean;
}

/** Searches. Rejects with `INVALID_ARGUMENT` for a bad pattern, and with `TIMEOUT` where not one document got done. */
export async function grep(
  params: GrepParams,
  environment: { readonly source: GrepSource; readonly pool: GrepPool; readonly limits?: GrepLimits | undefined },
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<GrepResult> {
  const query = checkQuery(params, environment.limits ?? {});
  const { signal } = options;
  if (signal?.aborted) throw abortError(signal, "grep");
  const page = new Page(query);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await abortable(stop.signal, search(query, page, { ...environment, stop }));
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "grep");
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    // Whatever is still under way is of no use to anybody.
    stop.abort();
  }
  if (signal?.aborted) throw abortError(signal, "grep");
  return page.answer();
}

function checkQuery(params: GrepParams, limits: GrepLimits): Query {
  const { pattern, ignore_case, word, invert, fixed } = params;
  const context = wholeNumber(params.context, { name: "context" }) ?? 0;
  const options = { ignore_case, word, invert, fixed };
  const { cursor, ...rest } = params;
  const digest = createHash("sha256").update(JSON.stringify(rest)).digest("base64url").slice(0, 12);
  const include = compileGlobs(params.include);
  const exclude = compileGlobs(params.exclude);
  const folders = params.paths?.map((path) => (path.endsWith("/") ? path.slice(0, -1) : path));
  return {
    params,
    pattern: compilePattern(pattern, options),
    mode: params.files_with_matches === true ? "files" : params.count === true ? "count" : "matches",
    before: wholeNumber(params.before_context, { name: "before_context" }) ?? context,
    after: wholeNumber(params.after_context, { name: "after_context" }) ?? context,
    maxCount: wholeNumber(params.max_count, { name: "max_count" }) ?? 0,
    limits: {
      budgetMs: limits.budgetMs ?? DEFAULTS.budgetMs,
      maxMatches: limits.maxMatches ?? DEFAULTS.maxMatches,
      maxBytes: limits.maxBytes ?? DEFAULTS.maxBytes,
      maxFiles: limits.maxFiles ?? DEFAULTS.maxFiles,
    },
    digest,
    from: cursor === undefined ? undefined : readCursor(cursor, digest),
    wanted: (path) =>
      (folders === undefined || folders.some((folder) => path === folder || path.startsWith(`${folder}/`))) &&
      (params.include === undefined || params.include.length === 0 || include(path)) &&
      !exclude(path),
  };
}

function readCursor(cursor: string, digest: string): Place {
  const [of, path, hash, line, total, files, binary, known] = decodeCursor(cursor, 8);
  const numbers = [line, total, files, binary, known];
  if (of !== digest || typeof path !== "string" || typeof hash !== "string" || !numbers.every(Number.isInteger)) {
    throw new TrunklineError("INVALID_ARGUMENT", "This cursor belongs to another grep.", {
      hint: "Pass the cursor of the answer before, with the same parameters.",
    });
  }
  return {
    path,
    hash,
    line: line as number,
    total: total as number,
    files: files as number,
    binary: binary as number,
    known: known === 1,
  };
}

interface Search {
  readonly source: GrepSource;
  readonly pool: GrepPool;
  readonly stop: AbortController;
}

/** Sends batches out, a few at a time, and takes their answers in order. */
async function search(query: Query, page: Page, { source, pool, stop }: Search): Promise<void> {
  const deadline = Date.now() + query.limits.budgetMs;
  const underWay: { documents: readonly GrepDocument[]; answer: Promise<BatchAnswer> }[] = [];
  const takeOne = async (): Promise<boolean> => {
    const first = underWay.shift();
    return first === undefined || page.take(first.documents, await first.answer);
  };
  const queryKey = {};
  const send = (documents: readonly GrepDocument[]): void => {
    const answer = packed(documents, query, pool).then((part) => {
      const request: BatchRequest = {
        pattern: query.pattern.source,
        options: query.pattern.options,
        scan: page.scanOptions(documents[0]),
        deadline,
        ...part,
      };
      return pool.run(queryKey, request, stop.signal);
    });
    // It is awaited in turn; until then a failure must not count as unhandled.
    answer.catch(() => {});
    underWay.push({ documents, answer });
  };
  for await (const documents of batches(query, page, { source, signal: stop.signal })) {
    stop.signal.throwIfAborted();
    send(documents);
    if (underWay.length >= pool.width && !(await takeOne())) return;
  }
  while (underWay.length > 0) if (!(await takeOne())) return;
}

/** The documents that are wanted, in batches that are worth a message. */
async function* batches(
  query: Query,
  page: Page,
  { source, signal }: { source: GrepSource; signal: AbortSignal },
): AsyncGenerator<GrepDocument[]> {
  let batch: GrepDocument[] = [];
  let bytes = 0;
  // The first batches are small, so that a page that is filled soon is answered soon.
  let most = BATCH_BYTES / 8;
  const request = {
    trigrams: query.pattern.trigrams(),
    paths: query.params.paths,
    fromPath: query.from?.path,
    signal,
  };
  for await (const documents of source.documents(request)) {
    for (const document of documents) {
      if (!query.wanted(document.path) || isAnswered(document, query.from)) continue;
      if (document.binary === true) {
        page.countBinary();
        continue;
      }
      batch.push(document);
      bytes += document.sizeBytes ?? USUAL_BYTES;
      if (bytes < most && batch.length < BATCH_DOCUMENTS) continue;
      yield batch;
      batch = [];
      bytes = 0;
      most = BATCH_BYTES;
    }
  }
  if (batch.length > 0) yield batch;
}

function isAnswered(document: GrepDocument, from: Place | undefined): boolean {
  if (from === undefined) return false;
  const order = compareText(document.path, from.path) || compareText(document.hash, from.hash);
  return order < 0 || (order === 0 && from.line === WHOLE_DOCUMENT);
}

/** In the order of their UTF-8 bytes, which is that of their code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** What goes to the thread: names, and the contents in one piece unless the thread reads for itself. */
async function packed(
  documents: readonly GrepDocument[],
  query: Query,
  pool: GrepPool,
): Promise<{ documents: BatchDocument[]; data?: ArrayBuffer }> {
  if (pool.reads) return { documents: documents.map(({ path, hash }) => ({ path, hash })) };
  const contents = await Promise.all(documents.map((document) => readOf(document, query)));
  const data = new ArrayBuffer(contents.reduce((sum, bytes) => sum + bytes.length, 0));
  const all = new Uint8Array(data);
  let offset = 0;
  const packedDocuments = documents.map(({ path, hash }, index): BatchDocument => {
    const bytes = contents[index] as Uint8Array;
    all.set(bytes, offset);
    offset += bytes.length;
    return { path, hash, bytes: [offset - bytes.length, bytes.length] };
  });
  return { documents: packedDocuments, data };
}

async function readOf(document: GrepDocument, query: Query): Promise<Uint8Array> {
  if (document.read !== undefined) return await document.read();
  throw new TrunklineError("INTERNAL", `grep for ${query.pattern.source} has no way to read ${document.path}.`);
}

/** One answer while it is made: takes the answers of batches in order until it is full, and counts on. */
class Page {
  readonly #query: Query;
  readonly #matches: GrepMatch[] = [];
  readonly #files: { path: string; count: number }[] = [];
  #bytes = 0;
  #total: number;
  #fileCount: number;
  #binary: number;
  /** Where the page ends, once something did not fit. */
  #end: Place | undefined;
  /** The last place up to which everything is in the page. */
  #reached: Place | undefined;
  #timedOutAt: string | undefined;

  constructor(query: Query) {
    this.#query = query;
    this.#total = query.from?.total ?? 0;
    this.#fileCount = query.from?.files ?? 0;
    this.#binary = query.from?.binary ?? 0;
    this.#reached = query.from;
  }

  countBinary(): void {
    if (this.#query.from?.known !== true) this.#binary++;
  }

  scanOptions(first: GrepDocument | undefined): BatchRequest["scan"] {
    const { mode, limits, maxCount, before, after, from } = this.#query;
    const full = this.#end !== undefined || mode !== "matches";
    return {
      maxCount,
      before,
      after,
      afterLine: first !== undefined && isSame(first, from) ? (from?.line ?? 0) : 0,
      // One more than fits, so that a page knows that there is more.
      collect: full ? 0 : limits.maxMatches - this.#matches.length + 1,
      collectBytes: full ? 0 : limits.maxBytes - this.#bytes,
      firstOnly: mode === "files",
    };
  }

  /** Takes a batch's answer. False: the page is done, and what is under way is not needed. */
  take(documents: readonly GrepDocument[], answer: BatchAnswer): boolean {
    const { from } = this.#query;
    if (from?.known !== true) this.#binary += answer.binary;
    const stop = answer.stoppedAt ?? documents.length;
    let next = 0;
    for (const found of answer.found) {
      this.#reach(documents[Math.min(found.index, stop) - 1]);
      const document = documents[found.index] as GrepDocument;
      this.#takeDocument(document, found);
      next = found.index + 1;
      if (this.#end !== undefined && from?.known === true) return false;
    }
    if (stop > next) this.#reach(documents[stop - 1]);
    if (answer.stoppedAt === undefined) return true;
    this.#timedOutAt = (documents[answer.stuckAt ?? answer.stoppedAt] ?? documents[0])?.path ?? "";
    return false;
  }

  /** Everything up to and with this document is in the page. */
  #reach(document: GrepDocument | undefined): void {
    if (document !== undefined && this.#end === undefined) this.#reached = this.#place(document, WHOLE_DOCUMENT);
  }

  #place(document: { path: string; hash: string }, line: number): Place {
    const known = this.#query.from?.known === true;
    return {
      path: document.path,
      hash: document.hash,
      line,
      total: this.#total,
      files: this.#fileCount,
      binary: this.#binary,
      known,
    };
  }

  #takeDocument(document: GrepDocument, found: DocumentMatches): void {
    const { mode, from, limits } = this.#query;
    const isContinued = isSame(document, from);
    if (mode === "matches") this.#takeMatches(document, found, isContinued);
    else {
      if (this.#end === undefined && this.#files.length >= limits.maxFiles) this.#end = this.#reached;
      if (this.#end === undefined) this.#files.push({ path: document.path, count: found.count });
    }
    if (from?.known !== true) {
      // A document that is gone on with was counted up to the line of the cursor.
      this.#total += found.count - found.skipped;
      if (!isContinued) this.#fileCount++;
    }
    this.#reach(document);
  }

  #takeMatches(document: GrepDocument, found: DocumentMatches, isContinued: boolean): void {
    const { limits } = this.#query;
    let taken = 0;
    for (const match of found.matches) {
      if (this.#end !== undefined) return;
      if (this.#matches.length >= limits.maxMatches || this.#bytes > limits.maxBytes) break;
      this.#matches.push(this.#render(document, match));
      this.#bytes += match.sizeBytes;
      taken++;
    }
    // The thread may also have collected less than there is, because it would not have fitted.
    if (this.#end === undefined && taken < found.count - found.skipped) this.#endAt(document, { taken, isContinued });
  }

  /** The page ends after the last match in it. */
  #endAt(document: GrepDocument, { taken, isContinued }: { taken: number; isContinued: boolean }): void {
    if (taken === 0 && !isContinued) {
      this.#end = this.#reached;
      return;
    }
    const last = this.#matches.at(-1);
    const line = taken === 0 ? (this.#query.from?.line ?? 0) : (last?.line ?? 0);
    const place = this.#place(document, line);
    this.#end = place.known
      ? place
      : { ...place, total: place.total + taken, files: place.files + (isContinued ? 0 : 1) };
  }

  #render(document: GrepDocument, match: ScannedMatch): GrepMatch {
    const numbered = this.#query.params.line_numbers === true;
    const firstLine = match.line - match.before.length;
    const context = (line: number) => (text: string, index: number) => (numbered ? `${line + index}-${text}` : text);
    return {
      path: document.path,
      hash: document.hash,
      line: match.line,
      text: numbered ? `${match.line}:${match.text}` : match.text,
      ...(this.#query.before > 0 ? { before: match.before.map(context(firstLine)) } : {}),
      ...(this.#query.after > 0 ? { after: match.after.map(context(match.line + 1)) } : {}),
    };
  }

  answer(): GrepResult {
    const { mode, from, limits } = this.#query;
    const timedOutAt = this.#timedOutAt;
    const end = this.#end ?? (timedOutAt === undefined ? undefined : this.#reached);
    if (timedOutAt !== undefined && (end === undefined || end === from)) throw this.#timeout(timedOutAt);
    const complete = timedOutAt === undefined;
    const place = end === undefined || from?.known === true || !complete ? end : this.#withTotals(end);
    const state: GrepState = {
      truncated: end !== undefined,
      ...(place === undefined ? {} : { cursor: this.#cursor(place) }),
      binary: this.#binary,
      ...(timedOutAt === undefined ? {} : { timed_out: { path: timedOutAt, budget_ms: limits.budgetMs } }),
    };
    if (mode === "files") return { files: this.#files.map((file) => file.path), ...state };
    if (mode === "count") return { total: this.#total, files: this.#files, ...state };
    return { matches: this.#matches, total: this.#total, files: this.#fileCount, ...state };
  }

  /** All documents have been searched: later pages need not count again. */
  #withTotals(end: Place): Place {
    return { ...end, total: this.#total, files: this.#fileCount, binary: this.#binary, known: true };
  }

  #cursor(place: Place): string {
    const { path, hash, line, total, files, binary, known } = place;
    return encodeCursor([this.#query.digest, path, hash, line, total, files, binary, known ? 1 : 0]);
  }

  #timeout(path: string): TrunklineError {
    const { budgetMs } = this.#query.limits;
    return new TrunklineError("TIMEOUT", `grep had ${budgetMs} ms and did not get through ${path}.`, {
      hint: "Leave the document out with exclude, or make the pattern simpler: smaller counts in {n,m}.",
      retryable: false,
      data: { path, budget_ms: budgetMs },
    });
  }
}

function isSame(document: { path: string; hash: string }, place: Place | undefined): boolean {
  return place !== undefined && document.path === place.path && document.hash === place.hash;
}
