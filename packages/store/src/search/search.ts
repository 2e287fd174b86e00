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
import { demotionOf } from "./demotion.js";
import type { QueryVector } from "./embedding.js";
import { kindsOf } from "./entry-kinds.js";
import { wordSource } from "./fuzzy-indexer.js";
import { keywordHits } from "./keyword-hits.js";
import { rank } from "./rank.js";
import { type Hit, pinnedFirst, type Ranking, shownScore } from "./search-ranking.js";
import { type Scope, scopeOf } from "./search-scope.js";
import { passageRow } from "./semantic.js";
import { cutSnippet } from "./snippet.js";
import { type Term, termsOf } from "./terms.js";

/** Parameters of `search` with the session resolved to its id, and the query embedded if possible. */
type ResolvedSearchParams = Omit<SearchParams, "session" | "type"> &
  Omit<SelectionParams, "type"> & {
    readonly type?: SearchParams["type"];
    /** The session whose pinned content comes first. */
    readonly pins?: string | undefined;
    readonly embedded?: QueryVector | undefined;
    /** Answers from the index as it is. By default an index that is behind gives no answer. */
    readonly acceptStale?: boolean | undefined;
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
