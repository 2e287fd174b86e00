import { generatedIndexer } from "./engine/indexing/generated-indexer.js";
import type { Indexer } from "./engine/indexing/indexer.js";
import { graphIndexer } from "./graph/graph-indexer.js";
import { trigramIndexer } from "./grep/trigram-index.js";
import { fuzzyIndexer } from "./search/fuzzy-indexer.js";
import { keywordIndexer } from "./search/keyword-indexer.js";
import { ranksIndexer } from "./search/ranks-indexer.js";
import { vectorConversion } from "./search/vector-conversion.js";
import { vectorsIndexer } from "./search/vectors-indexer.js";

/** Every indexer, in the order in which changes are reported to them. Add new ones here. */
export const indexers: readonly Indexer[] = [
  keywordIndexer,
  vectorsIndexer,
  fuzzyIndexer,
  trigramIndexer,
  generatedIndexer,
  ranksIndexer,
  vectorConversion,
  graphIndexer,
];
