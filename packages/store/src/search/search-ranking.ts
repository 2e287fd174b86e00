// Combines the hits of a query: by words, by meaning, or by both. Pure.
import { boundedBm25 } from "@trunkline/core";
import type { SearchParams, SearchResult } from "../contract/index.js";
import type { Demotion } from "./demotion.js";
import type { QueryVector } from "./embedding.js";
import { fuse, semanticPart } from "./fusion.js";
import type { KeywordHits } from "./keyword-scores.js";
import type { Scope } from "./search-scope.js";
import type { SemanticHit } from "./semantic-hit.js";
import type { Term } from "./terms.js";

export interface Hit {
  readonly entry: number;
  readonly score: number;
  /** The passage found by meaning. */
  readonly passage?: number;
  /** The parts of the score, for `explain`. */
  readonly parts: Readonly<Record<string, unknown>>;
}

export interface Ranking {
  readonly type: SearchResult["type"];
  /** At least as many as requested, if there are that many. */
  readonly hits: readonly Hit[];
  readonly total: number;
  readonly notice?: string;
}

export interface RankQuery {
  readonly query: string;
  readonly type: SearchParams["type"];
  readonly embedded: QueryVector | undefined;
  readonly terms: readonly Term[];
  readonly scope: Scope;
  readonly demotion: Demotion;
  /** How many hits to return. */
  readonly most: number;
  /** Entries that are included wherever they rank, if they are found at all. */
  readonly pinned: ReadonlySet<number>;
}

/** This many of the best keyword hits are always compared by meaning. */
export const COMPARED = 200;
/** This many semantic hits join the keyword hits. */
const JOINING = 100;

/** The minimum similarity for a hit without any of the words, because any two texts are somewhat similar. */
const LEAST_COSINE = 0.2;
/** The same if no document has any of the words: the query might not mean anything. */
const LEAST_COSINE_ALONE = 0.35;

const EMBEDDING =
  "Embedding runs while the store is open: search again soon, or run `trunkline store search --type semantic <words>`, which waits for it.";
const EMBED_ELSEWHERE =
  "This store cannot be changed here: run `trunkline store search --type semantic <words>` once where it is writable.";

/** Why a search ran by keyword although meaning was asked for; undefined if it was not. */
export function keywordNotice({ type = "hybrid", embedded }: Pick<RankQuery, "type" | "embedded">): string | undefined {
  if (type === "keyword") return undefined;
  const why = embedded !== undefined && "missing" in embedded ? embedded.missing : undefined;
  return `Searched by keyword: ${why ?? "the query was not embedded"}.`;
}

/** Says that nothing was embedded so far. `follows`: this process embeds documents. */
export function nothingEmbedded(follows: boolean): string {
  return `Searched by keyword: nothing was embedded yet. ${follows ? EMBEDDING : EMBED_ELSEWHERE}`;
}

/** Says how many documents can be found by meaning, if not all. */
export function missingNotice(missing: { embedded: number; total: number } | undefined): string | undefined {
  if (missing === undefined) return undefined;
  return `Embedding is in progress: ${missing.embedded} of ${missing.total} documents can be found by meaning so far.`;
}

export function byWords({ best, total, scoreOf }: KeywordHits, { demotion, pinned }: RankQuery): Ranking {
  const known = new Set(best.map((hit) => hit.entry));
  const also = [...pinned].filter((entry) => !known.has(entry) && scoreOf(entry) > 0);
  const entries = [...best.map((hit) => hit.entry), ...also];
  const hits = entries.map((entry) => ({
    entry,
    score: boundedBm25(scoreOf(entry) * demotion.factorOf(entry)),
    parts: { keyword: { bm25: rounded(scoreOf(entry)) }, ...demotion.explain(entry) },
  }));
  return { type: "keyword", hits, total };
}

export function byMeaning(semantic: readonly SemanticHit[], { demotion }: RankQuery): Ranking {
  const hits = semantic.map(({ entry, score: cosine, passage, passages }) => {
    const score = semanticPart(cosine, passages);
    return {
      entry,
      score: score * demotion.factorOf(entry),
      passage,
      parts: { semantic: { cosine: rounded(cosine), passages, score: rounded(score) }, ...demotion.explain(entry) },
    };
  });
  return { type: "semantic", total: hits.length, hits: hits.sort(bestFirst) };
}

export function byBoth(
  { demotion, pinned }: RankQuery,
  { keyword, semantic }: { keyword: KeywordHits; semantic: readonly SemanticHit[] },
): Ranking {
  const near = new Map(semantic.map((hit) => [hit.entry, hit]));
  const best = new Set(keyword.best.map((hit) => hit.entry));
  const floor = keyword.total > 0 ? LEAST_COSINE : LEAST_COSINE_ALONE;
  const joining = semantic.filter(
    ({ entry, score }, at) => best.has(entry) || (score >= floor && (at < JOINING || pinned.has(entry))),
  );
  // Joining hits can contain the words too, but rank below the best keyword hits.
  const words = [...best, ...joining.map(({ entry }) => entry).filter((entry) => !best.has(entry))]
    .map((entry) => ({ entry, score: keyword.scoreOf(entry) }))
    .filter(({ score }) => score > 0);
  const fused = fuse(words, joining, { documents: keyword.documents, unknown: unknownCosine(keyword, near) });
  const hits = fused.map(({ entry, score, ...parts }): Hit => {
    const bm25 = keyword.scoreOf(entry);
    const meaning = near.get(entry);
    return {
      entry,
      score: bounded(score * demotion.factorOf(entry)),
      passage: bm25 === 0 ? meaning?.passage : undefined,
      parts: {
        ...(bm25 === 0 ? {} : { keyword: { bm25: rounded(bm25), score: rounded(parts.keyword) } }),
        semantic: {
          ...(meaning === undefined ? {} : { cosine: rounded(meaning.score), passages: meaning.passages }),
          score: rounded(parts.semantic),
        },
        ...demotion.explain(entry),
      },
    };
  });
  const joined = joining.filter(({ entry }) => keyword.scoreOf(entry) === 0).length;
  return { type: "hybrid", hits: hits.sort(bestFirst), total: keyword.total + joined };
}

/**
 * Returns the cosine to assume for keyword hits that have none. Those among the best have no vector yet and count like
 * the average of the others. The rest was not compared and stays behind them, so pages do not overlap.
 */
function unknownCosine({ best }: KeywordHits, near: ReadonlyMap<number, SemanticHit>): (entry: number) => number {
  const compared = best.slice(0, COMPARED).map(({ entry }) => entry);
  const cosines = compared.flatMap((entry) => near.get(entry)?.score ?? []);
  const average = cosines.length === 0 ? 0 : cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  const waiting = new Set(compared);
  return (entry) => (waiting.has(entry) ? Math.max(0, average) : 0);
}

function bestFirst(a: Hit, b: Hit): number {
  return b.score - a.score || a.entry - b.entry;
}

/** Maps a sum of cosine and keyword part, which has no upper bound, to 0..1 in the same order. */
function bounded(score: number): number {
  return score / (score + 1);
}

/** Rounds a score to the four decimals shown in results. */
function rounded(number: number): number {
  return Number(number.toFixed(4));
}

/** The smallest value that four decimals can show. */
const LEAST_SHOWN_SCORE = 0.0001;

/** Returns a score as results show it. A word in nearly every document is worth almost nothing, but more than zero. */
export function shownScore(score: number): number {
  return score > 0 ? Math.max(LEAST_SHOWN_SCORE, rounded(score)) : 0;
}

export function pinnedFirst(hits: readonly Hit[], pinned: ReadonlySet<number>): readonly Hit[] {
  if (pinned.size === 0) return hits;
  return [...hits].sort((a, b) => Number(pinned.has(b.entry)) - Number(pinned.has(a.entry)));
}
