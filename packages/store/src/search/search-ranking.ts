// One ranking for a query: by words, by meaning, or by both.
import { boundedBm25 } from "@trunkline/core";
import type { SearchParams, SearchResult } from "../contract/index.js";
import type { Db } from "../engine/sqlite/database.js";
import type { QueryVector } from "./embedding.js";
import { fuse, meaningWeight } from "./fusion.js";
import { type KeywordHits, keywordHits } from "./keyword-hits.js";
import type { Scope } from "./search-scope.js";
import { codeShareOf, missingVectors, type SemanticHit, semanticHits } from "./semantic.js";
import { identifierShare, type Term } from "./terms.js";

/** An entry in the answer's order. */
export interface Hit {
  readonly entry: number;
  readonly score: number;
  /** The passage that was found by meaning. */
  readonly passage?: number | undefined;
  /** What the score is made of, for `explain`. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** The best of what was found. */
export interface Ranking {
  readonly type: SearchResult["type"];
  /** At least as many as were wanted, where there are so many. */
  readonly hits: readonly Hit[];
  /** How many there are in all. */
  readonly total: number;
  readonly notice?: string | undefined;
}

/** What is to be ranked. */
interface RankQuery {
  readonly query: string;
  readonly type: SearchParams["type"];
  readonly embedded: QueryVector | undefined;
  readonly terms: readonly Term[];
  readonly scope: Scope;
  /** How many hits are wanted. */
  readonly most: number;
  /** Entries that are among the hits wherever they rank, if they are found at all. */
  readonly pinned: ReadonlySet<number>;
}

/** So many of the best by words are compared by meaning in any case. */
const COMPARED = 200;
/** So many that are near in meaning join those that have the words. */
const JOINING = 100;

/** What has none of the words has to be at least so near to join: everything is somewhat near to anything. */
const LEAST_COSINE = 0.2;
/** The same where nothing has any of the words, so that they may mean nothing at all. */
const LEAST_COSINE_ALONE = 0.35;

/** Ranks what the query finds within its scope. */
export function rank(index: Db, query: RankQuery, check: () => void): Ranking {
  const { embedded, type: asked = "hybrid" } = query;
  // Everything is somewhat near to nothing.
  if (query.query.trim() === "") return { type: "keyword", hits: [], total: 0 };
  const { terms, scope } = query;
  const words = () => keywordHits(index, { terms, scope, most: Math.max(query.most, COMPARED) }, check);
  if (asked === "keyword" || embedded === undefined || "missing" in embedded) {
    const why = embedded !== undefined && "missing" in embedded ? embedded.missing : undefined;
    const notice = asked === "keyword" ? undefined : `Searched by keyword: ${why ?? "the query was not embedded"}.`;
    return { ...byWords(words(), query), notice };
  }
  const keyword = asked === "semantic" ? undefined : words();
  const also = [...(keyword?.best.slice(0, COMPARED).map((hit) => hit.entry) ?? []), ...query.pinned];
  const semantic = semanticHits(index, embedded, { scope, also, check });
  if (semantic === undefined) {
    const notice = "Searched by keyword: nothing here was embedded with this model yet.";
    return { ...byWords(keyword ?? words(), query), notice };
  }
  const missing = missingVectors(index, embedded.model);
  const notice =
    missing === undefined
      ? undefined
      : `Embedding is under way: ${missing.embedded} of ${missing.total} documents are found by meaning so far.`;
  const ranking = keyword === undefined ? byMeaning(semantic) : byBoth(index, query, { keyword, semantic });
  return { ...ranking, notice };
}

function byWords({ best, total, scoreOf }: KeywordHits, { pinned }: RankQuery): Ranking {
  const known = new Set(best.map((hit) => hit.entry));
  const also = [...pinned].filter((entry) => !known.has(entry) && scoreOf(entry) > 0);
  const hits = [...best, ...also.map((entry) => ({ entry, score: scoreOf(entry) }))].map(({ entry, score }) => ({
    entry,
    score: boundedBm25(score),
    parts: { keyword: { bm25: rounded(score) } },
  }));
  return { type: "keyword", hits, total };
}

function byMeaning(hits: readonly SemanticHit[]): Ranking {
  return {
    type: "semantic",
    total: hits.length,
    hits: hits.map(({ entry, score, passage }) => ({
      entry,
      score: Math.max(0, score),
      passage,
      parts: { semantic: { cosine: rounded(score) } },
    })),
  };
}

function byBoth(
  index: Db,
  { query, pinned }: RankQuery,
  { keyword, semantic }: { keyword: KeywordHits; semantic: readonly SemanticHit[] },
): Ranking {
  const weight = meaningWeight({
    identifiers: identifierShare(query),
    code: codeShareOf(index, semantic),
    lead: leadOf(semantic),
    coverage: keyword.weight > 0 ? (keyword.best[0]?.score ?? 0) / keyword.weight : 0,
  });
  const near = new Map(semantic.map((hit) => [hit.entry, hit]));
  const best = new Set(keyword.best.map((hit) => hit.entry));
  const floor = keyword.total > 0 ? LEAST_COSINE : LEAST_COSINE_ALONE;
  const joining = semantic.filter(
    ({ entry, score }, at) => best.has(entry) || (score >= floor && (at < JOINING || pinned.has(entry))),
  );
  // What joins may have the words too, further down than the best go.
  const also = joining.flatMap(({ entry }) => {
    const score = best.has(entry) ? 0 : keyword.scoreOf(entry);
    return score > 0 ? [{ entry, score }] : [];
  });
  const fused = fuse([...keyword.best, ...also], joining, weight);
  // Fusion compares with the best there is; how good that is shows in the scores of each side.
  const sure = Math.max(boundedBm25(keyword.best[0]?.score ?? 0), joining[0]?.score ?? 0);
  const hits = fused.map(({ entry, score, ...parts }): Hit => {
    const words = keyword.scoreOf(entry);
    const meaning = near.get(entry);
    return {
      entry,
      score: score * sure,
      passage: words === 0 ? meaning?.passage : undefined,
      parts: {
        weight: rounded(weight),
        ...(words === 0 ? {} : { keyword: { bm25: rounded(words), score: rounded(parts.keyword) } }),
        ...(meaning === undefined
          ? {}
          : { semantic: { cosine: rounded(meaning.score), score: rounded(parts.semantic) } }),
      },
    };
  });
  const joined = joining.filter(({ entry }) => keyword.scoreOf(entry) === 0).length;
  return { type: "hybrid", hits, total: keyword.total + joined };
}

/** How far the nearest is before the next. */
function leadOf([first, second]: readonly SemanticHit[]): number {
  if (first === undefined || second === undefined || first.score <= 0) return 0;
  return (first.score - second.score) / first.score;
}

/** A number as answers have it. */
export function rounded(number: number): number {
  return Number(number.toFixed(4));
}
