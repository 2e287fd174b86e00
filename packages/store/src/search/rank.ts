// Ranks a query over the embedded index: by words, by meaning, or by both.
import type { Db } from "../engine/sqlite/database.js";
import { keywordHits } from "./keyword-hits.js";
import {
  byBoth,
  byMeaning,
  byWords,
  COMPARED,
  keywordNotice,
  missingNotice,
  nothingEmbedded,
  type Ranking,
  type RankQuery,
} from "./search-ranking.js";
import { missingVectors, semanticHits } from "./semantic.js";

export function rank(index: Db, query: RankQuery, check: () => void): Ranking {
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
