// `grep`, `get` and `search` on given documents: from an earlier answer, or stored results by hash.
import { type FileLimits, isTrunklineError, parseContentIdPrefix, TrunklineError } from "@trunkline/core";
import { RESULTS_COLLECTION } from "../budget/stored-value.js";
import type { OperationContext, Params } from "../interfaces/operation.js";
import type { StoreCalls } from "./store-calls.js";

const AT_ONCE = 4;
const FILTERS = ["collection", "snapshot", "tags", "metadata", "session"] as const;
const LISTED_AT_ONCE = 5000;

/** A document as in answers, with a hash, a path or both. */
export interface DocumentRef {
  readonly hash?: string;
  readonly path?: string;
  readonly collection?: string;
}

/** A document with both fields known. */
interface NamedContent {
  readonly path: string;
  readonly hash: string;
  readonly collection?: string;
}

/** Runs `grep` on `documents` and the contents of `hash`. */
export async function grepDocuments(
  calls: StoreCalls,
  params: Params & {
    readonly hash?: string | readonly string[];
    readonly documents?: readonly DocumentRef[];
    readonly paths?: readonly string[];
  },
  context: OperationContext,
): Promise<unknown> {
  const { hash, documents = [], paths, ...rest } = params;
  const other = Object.fromEntries(
    Object.entries(rest).filter(
      ([name]) => !(FILTERS as readonly string[]).includes(name) && name !== "match_all_tags",
    ),
  );
  if (paths !== undefined) {
    const given = hash === undefined ? "documents" : "hash";
    throw new TrunklineError("INVALID_ARGUMENT", `paths and ${given} cannot be combined.`, {
      hint: "Use include to filter by path.",
      data: { parameter: "paths" },
    });
  }
  const hashes = hash === undefined ? [] : typeof hash === "string" ? [hash] : hash;
  const named = await inGroups(
    [...documents, ...hashes.map((each): DocumentRef => ({ hash: each, collection: text(params.collection) }))],
    async (document) => await namedContent(calls, document, context),
  );
  const wanted = hash === undefined ? await narrowed(calls, { documents: named, params }, context) : named;
  if (wanted.length === 0) return nothingFound(params);
  const searched = wanted.map(({ path, hash: id }) => ({ path, hash: id }));
  return await calls.run("grep", { ...other, documents: searched }, { context });
}

/** Runs `get` for several documents. Reports the error of each one that fails; rejects only if all of them fail. */
export async function getDocuments(
  calls: StoreCalls,
  params: Params & { readonly documents?: readonly DocumentRef[] },
  { context, limits }: { readonly context: OperationContext; readonly limits?: FileLimits },
): Promise<Readonly<Record<string, unknown>>> {
  const { documents = [], hash, path, ...rest } = params;
  if (hash !== undefined || path !== undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "documents cannot be combined with hash or path.", {
      data: { parameter: "documents" },
    });
  }
  if (rest.outputPath !== undefined && documents.length > 1) {
    throw new TrunklineError("INVALID_ARGUMENT", "outputPath works with a single document only.", {
      hint: "Use restore to write several.",
      data: { parameter: "outputPath" },
    });
  }
  let failure: unknown;
  let had = 0;
  const results = await inGroups(documents, async (document) => {
    try {
      const result = await getOne(calls, { document, rest }, { context, limits });
      had++;
      return result;
    } catch (error) {
      if (!isTrunklineError(error) || error.code === "ABORTED") throw error;
      failure ??= error;
      const { code, message, hint } = error;
      const { path, hash, collection } = document;
      return { path, hash, collection, error: { code, message, ...(hint === undefined ? {} : { hint }) } };
    }
  });
  if (had === 0 && failure !== undefined) throw failure;
  return { documents: results, total: results.length };
}

/** Gets a document by path if it still has this content, otherwise by content. */
async function getOne(
  calls: StoreCalls,
  { document, rest }: { document: DocumentRef; rest: Params },
  details: { readonly context: OperationContext; readonly limits: FileLimits | undefined },
): Promise<unknown> {
  const { path, hash } = document;
  const collection = document.collection ?? rest.collection;
  const where = { ...rest, ...(collection === undefined ? {} : { collection }) };
  if (hash === undefined) return await calls.run("get", { ...where, path }, details);
  // A file is written only once, so with outputPath there is no second try.
  if (path !== undefined && rest.version === undefined && rest.outputPath === undefined) {
    try {
      const found = await calls.run("get", { ...where, path }, details);
      if (found.hash === hash) return found;
    } catch (error) {
      if (!isTrunklineError(error, "NOT_FOUND") && !isTrunklineError(error, "AMBIGUOUS")) throw error;
    }
  }
  return await calls.run("get", { ...where, hash }, details);
}

/** Corrects swapped hashes and paths, which models often mix up. */
export function lookedUp(params: Params): Params {
  const hash = text(params.hash);
  const path = text(params.path);
  if (hash !== undefined && path === undefined && parsedPrefix(hash) === undefined) {
    return { ...params, hash: undefined, path: hash };
  }
  if (path !== undefined && hash === undefined && /^(?:sha256[-:])?[0-9a-f]{64}$/i.test(path)) {
    return { ...params, hash: path, path: undefined };
  }
  // Both come from the same answer: the hash identifies the version.
  if (path !== undefined && hash !== undefined) return { ...params, path: undefined };
  return params;
}

/** Handles `search` with `hash`: searches inside stored results; for documents, answers like the store. */
export async function searchHandles(
  calls: StoreCalls,
  params: Params & { readonly query: string; readonly hash: string | readonly string[] },
  context: OperationContext,
): Promise<unknown> {
  const { hash, ...rest } = params;
  const store = await calls.store(context);
  const prefixes = typeof hash === "string" ? [hash] : hash;
  const handles: { id: string; path: string }[] = [];
  const plain: string[] = [];
  for (const prefix of prefixes) {
    const ids = await store.resolve(prefix, { signal: context.signal });
    // A prefix that matches several contents asks for the list of matches, not for what is in them.
    const only = ids.length === 1 ? ids[0] : undefined;
    const content = only === undefined ? undefined : await namedContent(calls, { hash: only }, context);
    if (content !== undefined && (content.collection === undefined || content.collection === RESULTS_COLLECTION)) {
      handles.push({ id: content.hash, path: content.path });
    } else plain.push(prefix);
  }
  if (handles.length > 0 && params.query.trim() !== "") {
    const { searchContents } = await import("./search-contents.js");
    return await searchContents(store, { ...rest, query: params.query, contents: handles }, context.signal);
  }
  const [first, ...more] = prefixes;
  const answer = await calls.run("search", { ...rest, hash: first }, { context });
  if (more.length === 0) return answer;
  const others = await inGroups(more, async (each) => await calls.run("search", { ...rest, hash: each }, { context }));
  const all = [answer, ...others];
  const key = Array.isArray(answer.paths) ? "paths" : "results";
  return {
    ...answer,
    total: all.reduce((sum, { total }) => sum + Number(total), 0),
    [key]: all.flatMap((each) => each[key] as unknown[]),
  };
}

async function namedContent(
  calls: StoreCalls,
  document: DocumentRef,
  context: OperationContext,
): Promise<NamedContent> {
  const { hash, path, collection } = document;
  if (path !== undefined && hash !== undefined && /^[0-9a-f]{64}$/.test(hash)) return { path, hash, collection };
  const found = await calls.run("get", hash === undefined ? { path, collection } : { hash, collection }, { context });
  const id = String(found.hash);
  return { hash: id, path: text(found.path) ?? path ?? id, collection: collection ?? text(found.collection) };
}

/** Returns the documents that match the filters. */
async function narrowed(
  calls: StoreCalls,
  { documents, params }: { documents: readonly NamedContent[]; params: Params },
  context: OperationContext,
): Promise<readonly NamedContent[]> {
  const given = FILTERS.filter((name) => params[name] !== undefined);
  if (given.length === 0) return documents;
  const filters = Object.fromEntries([...given, "match_all_tags"].map((name) => [name, params[name]]));
  const listed = new Set<string>();
  let cursor: unknown;
  do {
    const page = await calls.run("list", { ...filters, limit: LISTED_AT_ONCE, cursor }, { context });
    for (const row of page.documents as NamedContent[]) listed.add(JSON.stringify([row.path, row.hash]));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return documents.filter(({ path, hash }) => listed.has(JSON.stringify([path, hash])));
}

function nothingFound({ count, files_with_matches }: Params): unknown {
  const state = { truncated: false, binary: 0 };
  if (files_with_matches === true) return { files: [], ...state };
  return count === true ? { total: 0, files: [], ...state } : { matches: [], total: 0, files: 0, ...state };
}

function parsedPrefix(hash: string): string | undefined {
  try {
    return parseContentIdPrefix(hash);
  } catch (error) {
    if (isTrunklineError(error, "INVALID_ARGUMENT")) return undefined;
    throw error;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}
