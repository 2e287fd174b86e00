import { trigramIndexer } from "../grep/trigram-index.js";
import { fuzzyIndexer } from "./fuzzy.js";
import { graphIndexer } from "./graph.js";
import type { Indexer } from "./indexer.js";
import { keywordIndexer } from "./keyword.js";
import { ranksIndexer } from "./ranks.js";
import { vectorsIndexer } from "./vectors.js";

/** Every indexer of the store, in the order in which they are told of a change. A new one is added here. */
export const indexers: readonly Indexer[] = [
  keywordIndexer,
  vectorsIndexer,
  fuzzyIndexer,
  trigramIndexer,
  ranksIndexer,
  graphIndexer,
];
