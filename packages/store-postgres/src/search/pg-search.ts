// `search`: ranks by words and meaning, applies filters before any cut, and cuts snippets from the content.
import { TrunklineError } from "@trunkline/core";
import type { SearchHit, SearchParams, SearchPathsResult, SearchResult } from "@trunkline/store/contract";
import {
  baseNameOf,
  byBoth,
  byMeaning,
  byWords,
  COMPARED,
  type Correction,
  correctTerms,
  cutSnippet,
  decodeCursor,
  demotionOf,
  encodeCursor,
  type Hit,
  hitsOf,
  type KeywordHits,
  keywordNotice,
  MOST_CANDIDATES,
  missingNotice,
  nothingEmbedded,
  pinnedFirst,
  type QueryVector,
  type Ranking,
  type RankQuery,
  shownScore,
  type Term,
  termShare,
  termsOf,
  type Viewer,
  wholeNumber,
} from "@trunkline/store/parts";
import { hexOf, matchingIds } from "../contents/pg-contents.js";
import { type SelectionParams, selectDocuments } from "../contents/pg-filters.js";
import type { Database, Sql } from "../database/sql.js";
import { termsOfWord } from "./bm25-scores.js";
import type { EntryStates } from "./entry-cache.js";
import { type FoundDocument, FoundTexts } from "./found-texts.js";
import { KeywordCache, LAST_CHANGE } from "./keyword-cache.js";
import type { PassageVectors } from "./passage-vectors.js";
import { untilAnswered } from "./until-answered.js";

const LIVE = 2;

const KEPT_SCOPES = 8;

/** What the searches of a gateway keep in memory. */
export class SearchCache {
  readonly words = new KeywordCache();
  readonly scopes = new ScopeCache();
  readonly texts = new FoundTexts();
}

type ResolvedSearchParams = Omit<SearchParams, "session" | "type"> &
  Omit<SelectionParams, "type"> & {
    readonly type?: SearchParams["type"];
    /** The session whose pinned content comes first. */
    readonly pins?: string;
    readonly embedded?: QueryVector;
    readonly viewer?: Viewer;
  };

const DEFAULT_LIMIT = 10;
const DEFAULT_SIMILARITY = 0.7;

interface SearchState {
  readonly sql: Sql;
  readonly words: KeywordCache;
  readonly scope: Uint8Array;
}

interface SearchEngine {
  readonly database: Database;
  readonly cache: SearchCache;
  readonly vectors: PassageVectors;
}

/** Finds everything that was acknowledged before the call, also by other gateways. */
export async function search(
  { database, cache, vectors }: SearchEngine,
  params: ResolvedSearchParams,
  signal?: AbortSignal,
): Promise<SearchResult | SearchPathsResult> {
  const started = performance.now();
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const offset = params.cursor === undefined ? 0 : Number(decodeCursor(params.cursor, 1)[0]);
  const { viewer } = params;
  return await database.look({ viewer, signal }, LAST_CHANGE, async (sql, rows) => {
    const [last] = rows as { seq: number }[];
    await cache.words.refresh(sql, last?.seq ?? 0);
    const scope = await cache.scopes.scopeOf(sql, cache.words.entries, { filters: filtersOf(params), viewer });
    const state: SearchState = { sql, words: cache.words, scope };
    const found = await wordsOf(state, params);
    const { terms, corrections } = viewer === undefined ? found : await visibleWords(state, found);
    const pinned = await pinnedEntries(sql, params);
    const ranking =
      params.hash === undefined
        ? await rank(state, { params, terms, most: offset + limit, pinned, vectors })
        : await byHash(sql, params);
    const { type, hits, total, notice } = ranking;
    const page = pinnedFirst(hits, pinned).slice(offset, offset + limit);
    const cursor = total > offset + limit && page.length === limit ? { cursor: encodeCursor([offset + limit]) } : {};
    const documents = await cache.texts.read(sql, page, { isTextWanted: params.pathsOnly !== true });
    const shownNotice = notice === undefined ? {} : { notice };
    if (params.pathsOnly) return { paths: documents.map(({ path }) => path), total, ...cursor, ...shownNotice };
    const shown = terms.map((term) => term.corrected ?? term.word);
    return {
      total,
      type,
      executionTimeMs: Math.round(performance.now() - started),
      results: documents.map((document) => describe(document, shown, params)),
      ...cursor,
      ...(corrections.length === 0 ? {} : { corrections }),
      ...shownNotice,
    };
  });
}

function filtersOf(params: ResolvedSearchParams): SelectionParams {
  const { collection, snapshot, tags, matchAllTags, metadata, session, extension, pathPattern } = params;
  return { collection, snapshot, tags, matchAllTags, metadata, session, extension, pattern: pathPattern };
}

async function wordsOf(
  { sql, words }: SearchState,
  params: ResolvedSearchParams,
): Promise<{ terms: Term[]; corrections: Correction[] }> {
  const asked = termsOf(params.query);
  const similarity = params.similarity ?? DEFAULT_SIMILARITY;
  if (!(similarity >= 0 && similarity <= 1)) {
    throw new TrunklineError("INVALID_ARGUMENT", `similarity must be a number from 0 to 1, not ${similarity}.`);
  }
  const isExact = params.fuzzy === false || params.hash !== undefined || params.type === "semantic";
  if (isExact) return { terms: asked.map((word) => ({ word })), corrections: [] };
  // Questions are words to count, or trigrams to find words with.
  return await untilAnswered<number | readonly string[], { terms: Term[]; corrections: Correction[] }>(
    (ask) =>
      correctTerms(
        {
          // Until it is known, a word counts as frequent, which asks nothing else about it.
          textsWith: (word, most) => Math.min(most, (ask(`count ${word}`) as number | undefined) ?? most),
          wordsLike: (grams) => (ask(`like ${grams.join(" ")}`) as readonly string[] | undefined) ?? [],
        },
        asked,
        similarity,
      ),
    async (questions) => {
      const answers = new Map<string, number | readonly string[]>();
      const counted = questions
        .filter((question) => question.startsWith("count "))
        .map((question) => question.slice(6));
      await words.using(sql, counted.flatMap(termsOfWord), (scores) => {
        for (const word of counted) answers.set(`count ${word}`, scores.textsWith(word));
      });
      for (const question of questions) {
        if (question.startsWith("like ")) answers.set(question, await wordsLike(sql, question.slice(5).split(" ")));
      }
      return answers;
    },
  );
}

async function wordsLike(sql: Sql, grams: readonly string[]): Promise<string[]> {
  const rows = await sql.rows<{ word: string }>(
    `SELECT w.word FROM (
       SELECT word, count(*) AS shared FROM word_grams WHERE gram = ANY($1::text[])
       GROUP BY word ORDER BY shared DESC, word LIMIT ${MOST_CANDIDATES}) near
     JOIN words w ON w.id = near.word ORDER BY near.shared DESC, near.word`,
    grams,
  );
  return rows.map(({ word }) => word);
}

/** Drops corrections that a viewer finds nothing with: the word may only occur in results of someone else. */
async function visibleWords(
  state: SearchState,
  { terms, corrections }: { terms: readonly Term[]; corrections: readonly Correction[] },
): Promise<{ terms: Term[]; corrections: Correction[] }> {
  const shown: Correction[] = [];
  for (const correction of corrections) {
    if ((await keywordHits(state, { terms: [{ word: correction.to }], most: 1 })).total > 0) shown.push(correction);
  }
  const kept = new Set(shown.map(({ from }) => from));
  return { terms: terms.map((term) => (kept.has(term.word) ? term : { word: term.word })), corrections: shown };
}

async function keywordHits(
  { sql, words, scope }: SearchState,
  { terms, most, query }: { terms: readonly Term[]; most: number; query?: string },
): Promise<KeywordHits> {
  const asked = new Map(terms.map((term) => [JSON.stringify([term.word, term.corrected, term.unknown]), term]));
  const needed = terms.flatMap(({ word, corrected }) => [
    ...termsOfWord(word),
    ...(corrected === undefined ? [] : termsOfWord(corrected)),
  ]);
  return await words.using(sql, needed, (scores) => {
    const { kinds, count: documents } = scores.entries;
    const lists = [...asked.values()].map((term) => ({ postings: scores.postings(term), share: termShare(term) }));
    const demotion = demotionOf(query === undefined ? new Uint8Array(0) : kinds, { query: query ?? "", scope });
    return hitsOf(lists, { scope, most, demotion, documents });
  });
}

async function rank(
  state: SearchState,
  options: {
    params: ResolvedSearchParams;
    terms: readonly Term[];
    most: number;
    pinned: ReadonlySet<number>;
    vectors: PassageVectors;
  },
): Promise<Ranking> {
  const { params, terms, most, pinned, vectors } = options;
  const { scope, words, sql } = state;
  const { embedded, type: asked = "hybrid", query: text } = params;
  // An empty query is somewhat similar to everything.
  if (text.trim() === "") return { type: "keyword", hits: [], total: 0 };
  const demotion = demotionOf(words.entries.kinds, { query: text, scope });
  const query: RankQuery = { query: text, type: params.type, embedded, terms, scope, demotion, most, pinned };
  const byKeyword = () => keywordHits(state, { terms, most: Math.max(most, COMPARED), query: text });
  if (asked === "keyword" || embedded === undefined || "missing" in embedded) {
    return { ...byWords(await byKeyword(), query), notice: keywordNotice(query) };
  }
  const keyword = asked === "semantic" ? undefined : await byKeyword();
  const also = [...(keyword?.best.slice(0, COMPARED).map((hit) => hit.entry) ?? []), ...pinned];
  const semantic = await vectors.nearest(sql, embedded, { scope, also, entries: words.entries });
  if (semantic === undefined) {
    return { ...byWords(keyword ?? (await byKeyword()), query), notice: nothingEmbedded(embedded.follows) };
  }
  const notice = [missingNotice(semantic.missing), semantic.notice].filter((part) => part !== undefined).join(" ");
  const ranking =
    keyword === undefined ? byMeaning(semantic.hits, query) : byBoth(query, { keyword, semantic: semantic.hits });
  return { ...ranking, notice: notice === "" ? undefined : notice };
}

async function pinnedEntries(sql: Sql, { pins }: ResolvedSearchParams): Promise<ReadonlySet<number>> {
  if (pins === undefined) return new Set();
  const rows = await sql.rows<{ id: number }>(
    "SELECT e.id FROM pins p JOIN entries e ON e.content = p.content WHERE p.session = $1 AND e.state <> 0",
    pins,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Finds every document whose content hash starts with these digits. */
async function byHash(sql: Sql, params: ResolvedSearchParams): Promise<Ranking> {
  const selection = await selectDocuments(sql, filtersOf(params));
  const hits: Hit[] = [];
  for (const id of await matchingIds(sql, params.hash as string, 1_000_000)) {
    const rows = await sql.rows<{ id: number }>(
      `SELECT e.id FROM ${selection.from} JOIN entries e ON e.version = v.id AND e.state <> 0
       WHERE c.hash = $${selection.values.length + 1} AND ${selection.where} ORDER BY d.path, v.id`,
      ...selection.values,
      Buffer.from(id, "hex"),
    );
    for (const { id: entry } of rows) hits.push({ entry, score: 1, parts: { hash: id } });
  }
  return { type: "keyword", hits, total: hits.length };
}

function describe(
  { hit, document, hash, title, path, text, lines }: FoundDocument,
  terms: readonly string[],
  params: ResolvedSearchParams,
): SearchHit {
  const { snippet, line } = cutSnippet(text, terms, {
    context: params.context ?? 0,
    lineNumbers: params.lineNumbers ?? false,
    within: lines,
  });
  return {
    id: document,
    hash: hexOf(hash),
    title: title ?? baseNameOf(path),
    path,
    score: shownScore(hit.score),
    snippet,
    ...(line === undefined ? {} : { line }),
    ...(params.explain ? { explain: { ...hit.parts, terms } } : {}),
  };
}

// Which entries a search can find, computed before anything is ranked or cut, and kept until a document changes.

interface ScopeOptions {
  readonly filters: SelectionParams;
  readonly viewer: Viewer;
}

/** By entry id: 1 if the entry can be found. */
type Scope = Uint8Array;

class ScopeCache {
  #entries: EntryStates | undefined;
  readonly #scopes = new Map<string, Scope>();

  async scopeOf(sql: Sql, entries: EntryStates, { filters, viewer }: ScopeOptions): Promise<Scope> {
    if (this.#entries !== entries) {
      this.#entries = entries;
      this.#scopes.clear();
    }
    const given = Object.entries(filters).filter(([, value]) => value !== undefined);
    const key = JSON.stringify([given, given.length === 0 ? undefined : viewer]);
    const known = this.#scopes.get(key);
    if (known !== undefined) return known;
    const scope = given.length === 0 ? liveEntries(entries) : await selectedEntries(sql, entries, filters);
    // Sessions and snapshots change without any document changing.
    const isKept = filters.session === undefined && filters.snapshot === undefined && this.#entries === entries;
    if (!isKept) return scope;
    if (this.#scopes.size >= KEPT_SCOPES) this.#scopes.clear();
    this.#scopes.set(key, scope);
    return scope;
  }
}

/** Stored results are searched only when their collection is named. */
function liveEntries({ states, results }: EntryStates): Scope {
  return states.map((state, id) => (state === LIVE && results[id] === 0 ? 1 : 0));
}

async function selectedEntries(sql: Sql, { states }: EntryStates, filters: SelectionParams): Promise<Scope> {
  const selection = await selectDocuments(sql, filters);
  const rows = await sql.rows<{ id: number }>(
    `SELECT e.id FROM ${selection.from} JOIN entries e ON e.version = v.id WHERE e.state <> 0 AND ${selection.where}`,
    ...selection.values,
  );
  const scope = new Uint8Array(states.length);
  for (const { id } of rows) if (id < scope.length) scope[id] = 1;
  return scope;
}
