// The operation `grep`: takes documents from a source, through the threads, into one answer in path order, page by
// page. Nothing is dropped silently: anything missing from an answer can be reached with its cursor.
import { createHash } from "node:crypto";
import { abortable, abortError, TrunklineError } from "@trunkline/core";
import type { BatchAnswer, BatchRequest, GrepPool, TrigramQuery } from "@trunkline/grep";
import { compilePattern } from "@trunkline/grep";
import type { FilterParams, GrepMatch, GrepParams, GrepResult } from "../contract/index.js";
import { wholeNumber } from "../contract/params.js";
import { compileGlobs } from "../engine/files/glob.js";
import { DEFAULTS, Page, type Place, type Query, readCursor, WHOLE_DOCUMENT } from "./grep-page.js";

/** grep's own parameters. Documents and filters are up to the source. */
export type GrepQuery = Omit<GrepParams, "documents" | keyof FilterParams>;

/** A document that may match. `read` is only needed if the pool's threads have no reader. */
export interface GrepDocument {
  readonly path: string;
  readonly hash: string;
  readonly sizeBytes?: number;
  /** Known to be binary: counted but not read. */
  readonly binary?: boolean;
  read?(): Promise<Uint8Array>;
}

export interface GrepRequest {
  /** Documents without these trigrams cannot match, so a source can skip them. "none": all may match. */
  readonly trigrams: TrigramQuery | "none";
  readonly paths: readonly string[] | undefined;
  /** Documents with an earlier path are not needed. */
  readonly fromPath: string | undefined;
  readonly signal: AbortSignal;
}

/** Provides documents in batches of any size, ordered by path, then hash, by their UTF-8 bytes. */
export interface GrepSource {
  documents(request: GrepRequest): AsyncIterable<readonly GrepDocument[]>;
}

export interface GrepLimits {
  /** Default 10 s. */
  readonly budgetMs?: number;
  /** Maximum matches in one answer; default 1,000. */
  readonly maxMatches?: number;
  /** Approximate maximum bytes of text in one answer; default 1 MiB. */
  readonly maxBytes?: number;
  /** Maximum files in one answer of `count` or `files_with_matches`; default 10,000. */
  readonly maxFiles?: number;
}

const BATCH_BYTES = 4 << 20;
const BATCH_DOCUMENTS = 1024;
/** The assumed size if a source does not give one. */
const USUAL_BYTES = 8192;

export interface GrepCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Receives the matches of the answer as they are found, in order; the answer itself waits until all are counted. */
  readonly onMatches?: ((matches: readonly GrepMatch[]) => void) | undefined;
}

/**
 * Runs a query. Rejects with `INVALID_ARGUMENT` for a bad pattern, and with `TIMEOUT` if not even one document was
 * finished.
 */
export async function grep(
  params: GrepQuery,
  environment: { readonly source: GrepSource; readonly pool: GrepPool; readonly limits?: GrepLimits },
  options: GrepCallOptions = {},
): Promise<GrepResult> {
  const query = checkQuery(params, environment.limits ?? {});
  const { signal, onMatches } = options;
  if (signal?.aborted) throw abortError(signal, "grep");
  const page = new Page(query);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await abortable(stop.signal, search(query, page, { ...environment, stop, onMatches }));
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "grep");
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    // Anything still running is no longer needed.
    stop.abort();
  }
  if (signal?.aborted) throw abortError(signal, "grep");
  return page.answer();
}

function checkQuery(params: GrepQuery, limits: GrepLimits): Query {
  const { pattern, ignoreCase, word, invert, fixed } = params;
  const context = wholeNumber(params.context, { name: "context" }) ?? 0;
  const options = { ignoreCase, word, invert, fixed };
  const onlyMatching = params.onlyMatching === true;
  const { cursor, ...rest } = params;
  const digest = createHash("sha256").update(JSON.stringify(rest)).digest("base64url").slice(0, 12);
  const include = compileGlobs(params.include);
  const exclude = compileGlobs(params.exclude);
  const folders = params.paths?.map((path) => (path.endsWith("/") ? path.slice(0, -1) : path));
  return {
    params,
    pattern: compilePattern(pattern, options),
    mode: params.filesWithMatches === true ? "files" : params.count === true ? "count" : "matches",
    before: onlyMatching ? 0 : (wholeNumber(params.beforeContext, { name: "before_context" }) ?? context),
    after: onlyMatching ? 0 : (wholeNumber(params.afterContext, { name: "after_context" }) ?? context),
    onlyMatching,
    maxCount: wholeNumber(params.maxCount, { name: "max_count" }) ?? 0,
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

let lastQuery = 0;

interface Search {
  readonly source: GrepSource;
  readonly pool: GrepPool;
  readonly stop: AbortController;
  readonly onMatches: GrepCallOptions["onMatches"];
}

/** Sends out a few batches at a time and takes their answers in order. */
async function search(query: Query, page: Page, { source, pool, stop, onMatches }: Search): Promise<void> {
  const deadline = Date.now() + query.limits.budgetMs;
  // Start a thread while the source looks for documents.
  pool.warm();
  const underWay: { documents: readonly GrepDocument[]; answer: Promise<BatchAnswer> }[] = [];
  const takeOne = async (): Promise<boolean> => {
    const first = underWay.shift();
    if (first === undefined) return true;
    const goesOn = page.take(first.documents, await first.answer);
    const matches = page.untold();
    if (matches.length > 0) onMatches?.(matches);
    return goesOn;
  };
  const queryNumber = ++lastQuery;
  const send = (documents: readonly GrepDocument[]): void => {
    const answer = contentsOf(documents, query, pool).then((contents) => {
      const request: BatchRequest = {
        query: queryNumber,
        pattern: query.pattern.source,
        options: query.pattern.options,
        scan: page.scanOptions(documents[0]),
        deadline,
        documents,
        contents,
      };
      return pool.run(request, stop.signal);
    });
    // Awaited in turn; until then a failure must not count as unhandled.
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

/** Yields the wanted documents in batches large enough to be worth a message. */
async function* batches(
  query: Query,
  page: Page,
  { source, signal }: { source: GrepSource; signal: AbortSignal },
): AsyncGenerator<GrepDocument[]> {
  let batch: GrepDocument[] = [];
  let bytes = 0;
  // The first batch is small, so a page that fills up quickly is returned quickly.
  let most = { bytes: BATCH_BYTES / 8, documents: BATCH_DOCUMENTS / 8 };
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
      if (bytes < most.bytes && batch.length < most.documents) continue;
      yield batch;
      batch = [];
      bytes = 0;
      most = { bytes: BATCH_BYTES, documents: BATCH_DOCUMENTS };
    }
  }
  if (batch.length > 0) yield batch;
}

function isAnswered(document: GrepDocument, from: Place | undefined): boolean {
  if (from === undefined) return false;
  const order = compareText(document.path, from.path) || compareText(document.hash, from.hash);
  return order < 0 || (order === 0 && from.line === WHOLE_DOCUMENT);
}

/** Compares by UTF-8 bytes, which equals code point order. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Reads the contents, unless the threads read them themselves. */
async function contentsOf(
  documents: readonly GrepDocument[],
  query: Query,
  pool: GrepPool,
): Promise<Uint8Array[] | undefined> {
  if (pool.reads) return undefined;
  return await Promise.all(documents.map((document) => readOf(document, query)));
}

async function readOf(document: GrepDocument, query: Query): Promise<Uint8Array> {
  if (document.read !== undefined) return await document.read();
  throw new TrunklineError("INTERNAL", `grep for ${query.pattern.source} has no way to read ${document.path}.`);
}
