// `search`: words and meaning rank, filters come before any cut, snippets are cut from the content.
import { TrunklineError } from "@trunkline/core";
import { decodeText } from "../content/text.js";
import { decodeCursor, encodeCursor, wholeNumber } from "../params.js";
import { type Correction, correctTerms } from "../searching/corrections.js";
import type { QueryVector } from "../searching/embedding.js";
import { fuse, meaningWeight } from "../searching/fusion.js";
import { type KeywordHit, keywordHits } from "../searching/keyword.js";
import { type Scope, scopeOf } from "../searching/scope.js";
import { codeShareOf, missingVectors, passageRow, type SemanticHit, semanticHits } from "../searching/semantic.js";
import { identifierShare, type Term, termsOf } from "../searching/terms.js";
import { type ContentRow, hexOf, matchingIds, readContent } from "../sqlite/contents.js";
import type { Db } from "../sqlite/database.js";
import { baseNameOf } from "../sqlite/documents.js";
import { type SelectionParams, selectDocuments } from "../sqlite/filters.js";
import type { SearchHit, SearchParams, SearchResult } from "../types.js";
import type { Call } from "../workers/rpc.js";
import type { ReadEnvironment } from "./environment.js";
import { cutSnippet } from "./snippet.js";

/** Parameters of `search` with the session resolved to its id, and the query embedded where that was possible. */
export type ResolvedSearchParams = Omit<SearchParams, "session" | "type"> &
  Omit<SelectionParams, "type"> & {
    readonly type?: SearchParams["type"];
    /** The session whose pinned content comes first. */
    readonly pins?: string | undefined;
    readonly embedded?: QueryVector | undefined;
  };

const DEFAULT_LIMIT = 10;
const DEFAULT_SIMILARITY = 0.7;
/** So many of the best by words are compared by meaning in any case. */
const COMPARED = 200;
/** So many that are near in meaning join those that have the words. */
const JOINING = 100;

interface Hit {
  readonly entry: number;
  readonly score: number;
  readonly passage?: number | undefined;
  readonly parts: Readonly<Record<string, unknown>>;
}

interface Ranking {
  readonly type: SearchResult["type"];
  readonly hits: readonly Hit[];
  readonly notice?: string | undefined;
}

/** `search`. */
export function search(
  env: ReadEnvironment,
  params: ResolvedSearchParams,
  call: Call,
): SearchResult | { paths: string[]; total: number; cursor?: string } {
  const started = performance.now();
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const offset = params.cursor === undefined ? 0 : Number(decodeCursor(params.cursor, 1)[0]);
  return env.truth.reading(() =>
    env.index.reading(() => {
      const scope = scopeOf(env, filtersOf(params));
      const { terms, corrections } = wordsOf(env.index, params);
      const { type, hits, notice } =
        params.hash === undefined
          ? rank(env.index, { params, terms, scope }, call)
          : { type: "keyword" as const, hits: byHash(env, params), notice: undefined };
      const ordered = pinnedFirst(env, params, hits);
      const page = ordered.slice(offset, offset + limit);
      const cursor = ordered.length > offset + limit ? { cursor: encodeCursor([offset + limit]) } : {};
      const rows = page.map((hit) => ({ hit, row: documentOf(env, hit.entry) }));
      if (params.paths_only) {
        return {
          paths: rows.flatMap(({ row }) => (row === undefined ? [] : [row.path])),
          total: ordered.length,
          ...cursor,
        };
      }
      const shown = terms.map((term) => term.corrected ?? term.word);
      const results = rows.flatMap(({ hit, row }) =>
        row === undefined ? [] : [describe(env, { hit, row }, { terms: shown, params, call })],
      );
      return {
        total: ordered.length,
        type,
        execution_time_ms: Math.round(performance.now() - started),
        results,
        ...cursor,
        ...(corrections.length === 0 ? {} : { corrections }),
        ...(notice === undefined ? {} : { notice }),
      };
    }),
  );
}

function filtersOf(params: ResolvedSearchParams): SelectionParams {
  const { collection, snapshot, tags, match_all_tags, metadata, session, extension, path_pattern } = params;
  return { collection, snapshot, tags, match_all_tags, metadata, session, extension, pattern: path_pattern };
}

function wordsOf(index: Db, params: ResolvedSearchParams): { terms: Term[]; corrections: Correction[] } {
  const words = termsOf(params.query);
  const similarity = params.similarity ?? DEFAULT_SIMILARITY;
  if (!(similarity >= 0 && similarity <= 1)) {
    throw new TrunklineError("INVALID_ARGUMENT", `similarity has to be a number from 0 to 1, not ${similarity}.`);
  }
  const exact = params.fuzzy === false || params.hash !== undefined || params.type === "semantic";
  return exact ? { terms: words.map((word) => ({ word })), corrections: [] } : correctTerms(index, words, similarity);
}

interface RankContext {
  readonly params: ResolvedSearchParams;
  readonly terms: readonly Term[];
  readonly scope: Scope;
}

function rank(index: Db, context: RankContext, call: Call): Ranking {
  const { params, terms, scope } = context;
  const asked = params.type ?? "hybrid";
  // Everything is somewhat near to nothing.
  if (params.query.trim() === "") return { type: "keyword", hits: [] };
  const words = () => keywordHits(index, { terms, scope }, call.check);
  const { embedded } = params;
  if (asked === "keyword" || embedded === undefined || "missing" in embedded) {
    const why = embedded !== undefined && "missing" in embedded ? embedded.missing : undefined;
    const notice = asked === "keyword" ? undefined : `Searched by keyword: ${why ?? "the query was not embedded"}.`;
    return { type: "keyword", hits: byWords(words()), notice };
  }
  const keyword = asked === "semantic" ? [] : words();
  const also = new Set(keyword.slice(0, COMPARED).map((hit) => hit.entry));
  const semantic = semanticHits(index, embedded, { scope, also, check: call.check });
  if (semantic === undefined) {
    const notice = "Searched by keyword: nothing here was embedded with this model yet.";
    return { type: "keyword", hits: byWords(asked === "semantic" ? words() : keyword), notice };
  }
  const missing = missingVectors(index, embedded.model);
  const notice =
    missing === undefined
      ? undefined
      : `Embedding is under way: ${missing.embedded} of ${missing.total} documents are found by meaning so far.`;
  if (asked === "semantic") return { type: "semantic", hits: byMeaning(semantic), notice };
  return { type: "hybrid", hits: byBoth(index, { query: params.query, keyword, semantic }), notice };
}

function byWords(hits: readonly KeywordHit[]): Hit[] {
  return hits.map(({ entry, score }) => ({
    entry,
    score: bounded(score),
    parts: { keyword: { bm25: rounded(score) } },
  }));
}

function byMeaning(hits: readonly SemanticHit[]): Hit[] {
  return hits.map(({ entry, score, passage }) => ({
    entry,
    score: Math.max(0, score),
    passage,
    parts: { semantic: { cosine: rounded(score) } },
  }));
}

function byBoth(
  index: Db,
  { query, keyword, semantic }: { query: string; keyword: readonly KeywordHit[]; semantic: readonly SemanticHit[] },
): Hit[] {
  const weight = meaningWeight({
    identifiers: identifierShare(query),
    code: codeShareOf(index, semantic),
    lead: leadOf(semantic),
  });
  const bm25 = new Map(keyword.map((hit) => [hit.entry, hit.score]));
  const near = new Map(semantic.map((hit) => [hit.entry, hit]));
  const joining = semantic.filter((hit, at) => at < JOINING || bm25.has(hit.entry));
  return fuse(keyword, joining, weight).map((fused) => {
    const words = bm25.get(fused.entry);
    const meaning = near.get(fused.entry);
    return {
      entry: fused.entry,
      score: fused.score,
      passage: words === undefined ? meaning?.passage : undefined,
      parts: {
        weight: rounded(weight),
        ...(words === undefined ? {} : { keyword: { bm25: rounded(words), score: rounded(fused.keyword) } }),
        ...(meaning === undefined
          ? {}
          : { semantic: { cosine: rounded(meaning.score), score: rounded(fused.semantic) } }),
      },
    };
  });
}

/** How far the nearest is before the next. */
function leadOf([first, second]: readonly SemanticHit[]): number {
  if (first === undefined || second === undefined || first.score <= 0) return 0;
  return (first.score - second.score) / first.score;
}

/** BM25 is unbounded; a score is between 0 and 1. */
function bounded(bm25: number): number {
  return bm25 / (bm25 + 5);
}

function rounded(number: number): number {
  return Number(number.toFixed(4));
}

function pinnedFirst(
  { truth, index }: ReadEnvironment,
  { pins }: ResolvedSearchParams,
  hits: readonly Hit[],
): readonly Hit[] {
  if (pins === undefined) return hits;
  const contents = truth.all<{ content: number }>("SELECT content FROM pins WHERE session = ?", pins);
  const pinned = new Set(
    contents.flatMap(({ content }) =>
      index.all<{ id: number }>("SELECT id FROM entries WHERE content = ?", content).map((row) => row.id),
    ),
  );
  return pinned.size === 0 ? hits : [...hits].sort((a, b) => Number(pinned.has(b.entry)) - Number(pinned.has(a.entry)));
}

/** Every document whose content begins with these digits. */
function byHash({ truth, index }: ReadEnvironment, params: ResolvedSearchParams): Hit[] {
  const selection = selectDocuments(truth, filtersOf(params));
  return matchingIds(truth, params.hash as string, Number.MAX_SAFE_INTEGER).flatMap((id) =>
    truth
      .all<{ version: number }>(
        `SELECT v.id AS version FROM ${selection.from} WHERE c.hash = ? AND ${selection.where} ORDER BY d.path, v.id`,
        Buffer.from(id, "hex"),
        ...selection.values,
      )
      .flatMap(({ version }) => {
        const entry = index.get<{ id: number }>("SELECT id FROM entries WHERE version = ?", version)?.id;
        return entry === undefined ? [] : [{ entry, score: 1, parts: { hash: id } }];
      }),
  );
}

interface DocumentHit extends ContentRow {
  readonly document: number;
  readonly path: string;
  readonly title: string | null;
}

function documentOf({ truth, index }: ReadEnvironment, entry: number): DocumentHit | undefined {
  const found = index.get<{ document: number; version: number }>(
    "SELECT document, version FROM entries WHERE id = ?",
    entry,
  );
  if (found === undefined) return undefined;
  return truth.get<DocumentHit>(
    `SELECT d.id AS document, d.path, d.title, c.id, c.hash, c.size, c.type
     FROM documents d JOIN versions v ON v.id = ? JOIN contents c ON c.id = v.content WHERE d.id = ?`,
    found.version,
    found.document,
  );
}

function describe(
  { truth, index }: ReadEnvironment,
  { hit, row }: { hit: Hit; row: DocumentHit },
  { terms, params, call }: { terms: readonly string[]; params: ResolvedSearchParams; call: Call },
): SearchHit {
  const text = row.type === "text" ? decodeText(readContent(truth, row, call.check)) : "";
  const passage = hit.passage === undefined ? undefined : passageRow(index, hit.passage);
  const { snippet, line } = cutSnippet(text, terms, {
    context: params.context ?? 0,
    lineNumbers: params.line_numbers ?? false,
    within: passage === undefined ? undefined : { from: passage.from_line, to: passage.to_line },
  });
  return {
    id: row.document,
    hash: hexOf(row.hash),
    title: row.title ?? baseNameOf(row.path),
    path: row.path,
    score: rounded(hit.score),
    snippet,
    ...(line === undefined ? {} : { line }),
    ...(params.explain ? { explain: { ...hit.parts, terms } } : {}),
  };
}
