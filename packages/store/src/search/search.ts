// `search`: ranks by words and meaning, applies filters before any cut, and cuts snippets from the content.
import { TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { SearchHit, SearchParams, SearchPathsResult, SearchResult } from "../contract/index.js";
import { decodeCursor, encodeCursor, wholeNumber } from "../contract/params.js";
import { decodeText } from "../engine/content/text.js";
import { reachedSeq } from "../engine/indexing/catch-up.js";
import { type ContentRow, hexOf, matchingIds, readContent } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { baseNameOf, currentSeq } from "../engine/sqlite/documents.js";
import { type SelectionParams, selectDocuments } from "../engine/sqlite/filters.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { type Correction, correctTerms } from "./corrections.js";
import { demotionOf, kindOfDocument } from "./demotion.js";
import type { QueryVector } from "./embedding.js";
import { entriesOf } from "./entry-states.js";
import { wordSource } from "./fuzzy-indexer.js";
import { keywordHits } from "./keyword-hits.js";
import {
  byBoth,
  byMeaning,
  byWords,
  COMPARED,
  type Hit,
  keywordNotice,
  missingNotice,
  nothingEmbedded,
  pinnedFirst,
  type Ranking,
  type RankQuery,
  shownScore,
} from "./search-ranking.js";
import { type Scope, scopeOf } from "./search-scope.js";
import type { SemanticHit } from "./semantic-hit.js";
import { cutSnippet } from "./snippet.js";
import { type Term, termsOf } from "./terms.js";
import { vectorIndexOf } from "./vector-index.js";

/** By index: the kinds of its entries, by entry id. An entry keeps its path, so only new entries are looked up. */
const kept = new WeakMap<Db, { readonly made: string; readonly kinds: Uint8Array }>();

/** Parameters of `search` with the session resolved to its id, and the query embedded if possible. */
type ResolvedSearchParams = Omit<SearchParams, "session" | "type"> &
  Omit<SelectionParams, "type"> & {
    readonly type?: SearchParams["type"];
    /** The session whose pinned content comes first. */
    readonly pins?: string;
    readonly embedded?: QueryVector;
    /** Answers from the index as it is. By default an index that is behind gives no answer. */
    readonly acceptStale?: boolean;
  };

/** The index lacks changes that are already in the store. */
interface BehindResult {
  readonly behind: true;
}

const DEFAULT_LIMIT = 10;
const DEFAULT_SIMILARITY = 0.7;
export function search(
  env: ReadEnvironment,
  params: ResolvedSearchParams,
  call: Call,
): SearchResult | SearchPathsResult | BehindResult {
  const started = performance.now();
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const offset = params.cursor === undefined ? 0 : Number(decodeCursor(params.cursor, 1)[0]);
  return env.truth.reading(() =>
    env.index.reading(() => {
      // Reading the index first fixes its state before that of the documents, so it can be behind but never ahead.
      const reached = reachedSeq(env.index);
      if (reached < currentSeq(env.truth) && params.acceptStale !== true) return { behind: true };
      const scope = scopeOf(env, filtersOf(params));
      const words = wordsOf(env.index, params);
      const { terms, corrections } = call.viewer === undefined ? words : visibleWords(env, words, { scope, call });
      const pinned = pinnedEntries(env, params);
      const { query, embedded } = params;
      const byQuery = (): Ranking => {
        const demotion = demotionOf(kindsOf(env), { query, scope });
        const most = offset + limit;
        return rank(
          env.index,
          { query, type: params.type, embedded, terms, scope, demotion, most, pinned },
          call.check,
        );
      };
      const { type, hits, total, notice } = params.hash === undefined ? byQuery() : byHash(env, params);
      const page = pinnedFirst(hits, pinned).slice(offset, offset + limit);
      const cursor = total > offset + limit && page.length === limit ? { cursor: encodeCursor([offset + limit]) } : {};
      const rows = page.map((hit) => ({ hit, row: documentOf(env, hit.entry) }));
      if (params.pathsOnly) {
        return {
          paths: rows.flatMap(({ row }) => (row === undefined ? [] : [row.path])),
          total,
          ...cursor,
          ...(notice === undefined ? {} : { notice }),
        };
      }
      const shown = terms.map((term) => term.corrected ?? term.word);
      const results = rows.flatMap(({ hit, row }) =>
        row === undefined ? [] : [describe(env, { hit, row }, { terms: shown, params, call })],
      );
      return {
        total,
        type,
        executionTimeMs: Math.round(performance.now() - started),
        results,
        ...cursor,
        ...(corrections.length === 0 ? {} : { corrections }),
        ...(notice === undefined ? {} : { notice }),
      };
    }),
  );
}

function filtersOf(params: ResolvedSearchParams): SelectionParams {
  const { collection, snapshot, tags, matchAllTags, metadata, session, extension, pathPattern } = params;
  return { collection, snapshot, tags, matchAllTags, metadata, session, extension, pattern: pathPattern };
}

function wordsOf(index: Db, params: ResolvedSearchParams): { terms: Term[]; corrections: Correction[] } {
  const words = termsOf(params.query);
  const similarity = params.similarity ?? DEFAULT_SIMILARITY;
  if (!(similarity >= 0 && similarity <= 1)) {
    throw new TrunklineError("INVALID_ARGUMENT", `similarity must be a number from 0 to 1, not ${similarity}.`);
  }
  const exact = params.fuzzy === false || params.hash !== undefined || params.type === "semantic";
  return exact
    ? { terms: words.map((word) => ({ word })), corrections: [] }
    : correctTerms(wordSource(index), words, similarity);
}

/** Drops corrections that a viewer finds nothing with: the word may only occur in results of someone else. */
function visibleWords(
  { index }: ReadEnvironment,
  { terms, corrections }: { terms: readonly Term[]; corrections: readonly Correction[] },
  { scope, call }: { scope: Scope; call: Call },
): { terms: Term[]; corrections: Correction[] } {
  const isFound = (word: string) => keywordHits(index, { terms: [{ word }], scope, most: 1 }, call.check).total > 0;
  const shown = corrections.filter(({ to }) => isFound(to));
  const kept = new Set(shown.map(({ from }) => from));
  return { terms: terms.map((term) => (kept.has(term.word) ? term : { word: term.word })), corrections: shown };
}

function pinnedEntries({ truth, index }: ReadEnvironment, { pins }: ResolvedSearchParams): ReadonlySet<number> {
  if (pins === undefined) return new Set();
  const contents = truth.column<number>("SELECT content FROM pins WHERE session = ?", pins);
  return new Set(
    contents.flatMap((content) => index.column<number>("SELECT id FROM entries WHERE content = ?", content)),
  );
}

/** Finds every document whose content hash starts with these digits. */
function byHash({ truth, index }: ReadEnvironment, params: ResolvedSearchParams): Ranking {
  const selection = selectDocuments(truth, filtersOf(params));
  const hits = matchingIds(truth, params.hash as string, Number.MAX_SAFE_INTEGER).flatMap((id) =>
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
  return { type: "keyword", hits, total: hits.length };
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
    lineNumbers: params.lineNumbers ?? false,
    within: passage === undefined ? undefined : { from: passage.from_line, to: passage.to_line },
  });
  return {
    id: row.document,
    hash: hexOf(row.hash),
    title: row.title ?? baseNameOf(row.path),
    path: row.path,
    score: shownScore(hit.score),
    snippet,
    ...(line === undefined ? {} : { line }),
    ...(params.explain ? { explain: { ...hit.parts, terms } } : {}),
  };
}

// The kinds of all entries, for demotion.

function kindsOf({ truth, index }: ReadEnvironment): Uint8Array {
  const { states } = entriesOf(index);
  // A rebuilt index reuses its ids.
  const made = index.get<{ value: string }>("SELECT value FROM facts WHERE key = 'vectors_made'")?.value ?? "";
  const known = kept.get(index);
  const before = known?.made === made ? known.kinds : new Uint8Array(0);
  if (before.length >= states.length) return before;
  const kinds = new Uint8Array(states.length);
  kinds.set(before);
  const entries = [...index.tuples<[number, number]>("SELECT id, document FROM entries WHERE id >= ?", before.length)];
  // Also the documents of other principals: all readers share the kinds.
  const documents = truth.tuples<[number, string, string | null]>(
    "SELECT d.id, d.path, d.root FROM json_each(?) j CROSS JOIN main.documents d ON d.id = j.value",
    JSON.stringify([...new Set(entries.map(([, document]) => document))]),
  );
  const byDocument = new Map([...documents].map(([id, path, root]) => [id, kindOfDocument(root, path)]));
  for (const [id, document] of entries) kinds[id] = byDocument.get(document) ?? 0;
  kept.set(index, { made, kinds });
  return kinds;
}

// Ranks a query over the embedded index: by words, by meaning, or by both.

function rank(index: Db, query: RankQuery, check: () => void): Ranking {
  const { embedded, type: asked = "hybrid" } = query;
  // An empty query is somewhat similar to everything.
  if (query.query.trim() === "") return { type: "keyword", hits: [], total: 0 };
  const { terms, scope, demotion } = query;
  const words = () => keywordHits(index, { terms, scope, demotion, most: Math.max(query.most, COMPARED) }, check);
  if (asked === "keyword" || embedded === undefined || "missing" in embedded) {
    return { ...byWords(words(), query), notice: keywordNotice(query) };
  }
  const keyword = asked === "semantic" ? undefined : words();
  const also = [...(keyword?.best.slice(0, COMPARED).map((hit) => hit.entry) ?? []), ...query.pinned];
  const semantic = semanticHits(index, embedded, { scope, also, check });
  if (semantic === undefined) {
    return { ...byWords(keyword ?? words(), query), notice: nothingEmbedded(embedded.follows) };
  }
  const notice = missingNotice(missingVectors(index, embedded.model));
  const ranking = keyword === undefined ? byMeaning(semantic, query) : byBoth(query, { keyword, semantic });
  return { ...ranking, notice };
}

// Semantic ranking: the best passage of each document counts.

interface SemanticQuery {
  readonly model: string;
  readonly vector: Float32Array;
}

/** Returns entries in the scope, nearest first; `undefined` if the model has no vectors here. */
function semanticHits(
  index: Db,
  { model, vector }: SemanticQuery,
  { scope, also, check }: { scope: Scope; also?: Iterable<number>; check: () => void },
): SemanticHit[] | undefined {
  const vectors = vectorIndexOf(index, model, check);
  if (vectors === undefined) return undefined;
  const hits = new Map<number, Omit<SemanticHit, "passages">>();
  for (const { entry, passage, similarity } of vectors.nearest(
    vector,
    also === undefined ? { scope } : { scope, also },
  )) {
    if (!hits.has(entry)) hits.set(entry, { entry, passage, score: similarity });
  }
  const counts = passageCounts(index, [...hits.keys()]);
  return [...hits.values()].map((hit) => ({ ...hit, passages: counts.get(hit.entry) ?? 1 }));
}

function passageCounts(index: Db, entries: readonly number[]): ReadonlyMap<number, number> {
  return new Map(
    index.tuples<[number, number]>(
      "SELECT j.value, (SELECT max(number) + 1 FROM passages WHERE entry = j.value) FROM json_each(?) j",
      JSON.stringify(entries),
    ),
  );
}

/** Returns where a passage is in its text. */
function passageRow(index: Db, passage: number): { from_line: number; to_line: number } | undefined {
  return index.get("SELECT from_line, to_line FROM passages WHERE id = ?", passage);
}

/** Counts the searchable documents with vectors; undefined if all have them. */
function missingVectors(index: Db, model: string): { embedded: number; total: number } | undefined {
  const row = index.get<{ entry: number }>("SELECT entry FROM embedders WHERE model = ?", model);
  const reached = row?.entry ?? 0;
  if (index.one<{ last: number }>("SELECT coalesce(max(id), 0) AS last FROM entries").last <= reached) return undefined;
  const { total, embedded } = index.one<{ total: number; embedded: number }>(
    "SELECT count(*) AS total, count(*) FILTER (WHERE id <= ?) AS embedded FROM entries",
    reached,
  );
  return { embedded, total };
}
