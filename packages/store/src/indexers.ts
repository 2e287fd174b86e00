import type { Indexer } from "./engine/indexing/indexer.js";
import { graphIndexer } from "./graph/graph-indexer.js";
import { trigramIndexer } from "./grep/trigram-index.js";
import { fuzzyIndexer } from "./search/fuzzy-indexer.js";
import { keywordIndexer } from "./search/keyword-indexer.js";
import { ranksIndexer } from "./search/ranks-indexer.js";
import { vectorsIndexer } from "./search/vectors-indexer.js";

/** Every indexer of the store, in the order in which they are told of a change. A new one is added here. */
export const indexers: readonly Indexer[] = [
  keywordIndexer,
  vectorsIndexer,
  fuzzyIndexer,
  trigramIndexer,
  ranksIndexer,
  graphIndexer,
];
