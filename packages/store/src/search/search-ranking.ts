// Ranks a query: by words, by meaning, or by both.
import { boundedBm25 } from "@trunkline/core";
import type { SearchParams, SearchResult } from "../contract/index.js";
import type { Db } from "../engine/sqlite/database.js";
import type { QueryVector } from "./embedding.js";
import { fuse, meaningWeight } from "./fusion.js";
import { type KeywordHits, keywordHits } from "./keyword-hits.js";
import type { Scope } from "./search-scope.js";
import { codeShareOf, missingVectors, type SemanticHit, semanticHits } from "./semantic.js";
import { identifierShare, type Term } from "./terms.js";

export interface Hit {
  readonly entry: number;
  readonly score: number;
  /** The passage found by meaning. */
  readonly passage?: number | undefined;
  /** The parts of the score, for `explain`. */
  readonly parts: Readonly<Record<string, unknown>>;
}

export interface Ranking {
  readonly type: SearchResult["type"];
  /** At least as many as requested, if there are that many. */
  readonly hits: readonly Hit[];
  readonly total: number;
  readonly notice?: string | undefined;
}

interface RankQuery {
  readonly query: string;
  readonly type: SearchParams["type"];
  readonly embedded: QueryVector | undefined;
  readonly terms: readonly Term[];
  readonly scope: Scope;
  /** How many hits to return. */
  readonly most: number;
  /** Entries that are included wherever they rank, if they are found at all. */
  readonly pinned: ReadonlySet<number>;
}

/** This many of the best keyword hits are always compared by meaning. */
const COMPARED = 200;
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

export function rank(index: Db, query: RankQuery, check: () => void): Ranking {
  const { embedded, type: asked = "hybrid" } = query;
  // An empty query is somewhat similar to everything.
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
    const notice = `Searched by keyword: nothing was embedded yet. ${embedded.follows ? EMBEDDING : EMBED_ELSEWHERE}`;
    return { ...byWords(keyword ?? words(), query), notice };
  }
  const missing = missingVectors(index, embedded.model);
  const notice =
    missing === undefined
      ? undefined
      : `Embedding is in progress: ${missing.embedded} of ${missing.total} documents can be found by meaning so far.`;
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
  // Joining hits can contain the words too, but rank below the best keyword hits.
  const also = joining.flatMap(({ entry }) => {
    const score = best.has(entry) ? 0 : keyword.scoreOf(entry);
    return score > 0 ? [{ entry, score }] : [];
  });
  const fused = fuse([...keyword.best, ...also], joining, weight);
  // Fused scores are relative to the best hit, so scale them by how good that hit is on either side.
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

/** Returns how far the nearest hit is ahead of the next one. */
function leadOf([first, second]: readonly SemanticHit[]): number {
  if (first === undefined || second === undefined || first.score <= 0) return 0;
  return (first.score - second.score) / first.score;
}

/** Rounds a score to the four decimals shown in results. */
export function rounded(number: number): number {
  return Number(number.toFixed(4));
}
