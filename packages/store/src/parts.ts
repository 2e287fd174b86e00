/**
 * The parts of the store that do not depend on its database: the contract, chunking, compression, tokenizing, matching,
 * code graphs, ranking, reading and writing files. Another engine is built from these. Nothing here loads SQLite or any
 * other native code.
 */

export {
  affectedBy,
  collectionKey,
  contentKey,
  externalKey,
  type FileFacts as GraphFacts,
  fileKey,
  type GraphEdge,
  type GraphSource,
  NODE_TYPES,
  type NodeDescription,
  type NodeType,
  type ParsedKey,
  parseKey,
  providedKeys,
  type Relation,
  resolveFile,
  tagKey,
  toMermaid,
  traverse,
  versionKey,
} from "@trunkline/code-graph";
export { decodeCursor, encodeCursor, metadataObject, tagList, wholeNumber } from "./contract/params.js";
export { requireParams } from "./contract/require-params.js";
export { addTo, type ResolvedAddParams } from "./documents/add.js";
export { compare as compareTrees } from "./documents/compare-trees.js";
export type {
  AppendedUpload,
  DocumentQuestions,
  DocumentTarget,
  DocumentWrites,
  KnownContent,
  KnownFile,
  UploadPart,
} from "./documents/document-target.js";
export { downloadTo, type ResolvedDownloadParams, removeOldPartials } from "./documents/download.js";
export { neededBytes, partOf, requireWhole } from "./documents/get-parts.js";
export { listingOf } from "./documents/listing.js";
export { requireRestorable, restoreFrom } from "./documents/restore.js";
export { writeOutput } from "./documents/write-output.js";
export { type GeneratedKind, generatedKindOf } from "./engine/content/generated.js";
export { openChunk, prepareContent, sha256 } from "./engine/content/prepare.js";
export { type ContentType, decodeText, type IndexText, lazyIndexText, splitIdentifier } from "./engine/content/text.js";
export { compileGlob, isGlob } from "./engine/files/glob.js";
export type { GuardedPaths } from "./engine/files/guard.js";
export { hasIndexedText, type IndexEntry } from "./engine/indexing/indexer.js";
export { baseNameOf, type FileFacts, noDocument } from "./engine/sqlite/documents.js";
export {
  isResultsCollection,
  sessionPrefix,
  storedCollection,
  type Viewer,
  viewerOf,
} from "./engine/sqlite/visibility.js";
export {
  ChunkPacker,
  type IncomingContent,
  type IncomingDocument,
  type PackedChunk,
} from "./engine/writing/incoming.js";
export { type AddDocuments, type AddedDocuments, RESULTS_KEPT_MS } from "./engine/writing/store-content.js";
export { graphOf, isGraphText } from "./graph/document-graph.js";
export { decodeFacts, encodeFacts } from "./graph/file-codec.js";
export { DEFAULT_NODES, graphWay, nothingNamed, SETTLE_MS } from "./graph/graph-params.js";
export { findSymbol } from "./graph/symbol.js";
export {
  compareText,
  type GrepCallOptions,
  type GrepDocument,
  GrepPool,
  type GrepSource,
  grep,
  type TrigramQuery,
} from "./grep/index.js";
export {
  copyStore,
  type PlacedState,
  type Replay,
  type TransferDocument,
  type TransferEvent,
  type TransferState,
  type TransferStore,
} from "./maintenance/copy-store.js";
export { type Correction, correctTerms, MOST_CANDIDATES } from "./search/corrections.js";
export { demotionOf, kindOfDocument } from "./search/demotion.js";
export { Embedding, type EmbeddingQueue, type QueryVector } from "./search/embedding.js";
export type { EmbeddingStep } from "./search/embedding-step.js";
export { gramTerms, wordsOfEntry } from "./search/fuzzy-words.js";
export { hitsOf, type KeywordHits, type Postings } from "./search/keyword-scores.js";
export { KEYWORD_WEIGHTS, keywordRows } from "./search/keyword-text.js";
export { type Passage, passagesOf } from "./search/passages.js";
export {
  byBoth,
  byMeaning,
  byWords,
  COMPARED,
  type Hit,
  keywordNotice,
  missingNotice,
  nothingEmbedded,
  pinnedFirst,
  type Ranking,
  type RankQuery,
  shownScore,
} from "./search/search-ranking.js";
export type { SemanticHit } from "./search/semantic-hit.js";
export { cutSnippet } from "./search/snippet.js";
export { type Term, termShare, termsOf } from "./search/terms.js";
export { joinedTerm, joinedTokensOf, termCounts, tokensOf } from "./search/tokenizer.js";
export { cosine, lengthOf, likelyRows, numbersOf, signsOf, vectorBytes } from "./search/vector-math.js";
export { ClientSessions } from "./sessions/client-sessions.js";
export { type TakeChangesParams, takeChangesTo } from "./sessions/take-changes.js";
