// Keyword ranking over the FTS5 index.
import type { Db } from "../engine/sqlite/database.js";
import { type Demotion, NO_DEMOTION } from "./demotion.js";
import { hitsOf, type KeywordHits } from "./keyword-scores.js";
import { wordsOf } from "./postings.js";
import type { Scope } from "./search-scope.js";
import { ftsTerm, isCompound, type Term, termShare } from "./terms.js";

/** Finds entries in the scope that have some of the terms. `most`: how many of the best to return. */
export function keywordHits(
  index: Db,
  {
    terms,
    scope,
    most,
    demotion = NO_DEMOTION,
  }: { terms: readonly Term[]; scope: Scope; most: number; demotion?: Demotion },
  check: () => void,
): KeywordHits {
  const words = wordsOf(index);
  const asked = new Map(terms.map((term) => [ftsTerm(term), term]));
  const found = [...asked].map(([query, term]) => ({
    postings: words.postings(query, isCompound(term) ? undefined : term.word, check),
    share: termShare(term),
  }));
  return hitsOf(found, { scope, most, demotion, documents: words.count });
}
