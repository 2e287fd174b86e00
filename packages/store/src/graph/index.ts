/** The code graph: what each document says, how documents relate, and how to traverse the graph. */
export {
  DEFAULT_MAX_LENGTH,
  DEFAULT_TIME_MS,
  type ExtractInput,
  type ExtractLimits,
  extractGraph,
  extractGraphSync,
  loadGrammar,
} from "./extract.js";
export { languageOf } from "./language-of.js";
export { MemoryGraph } from "./memory-graph.js";
export { toMermaid } from "./mermaid.js";
export {
  type FileEdge,
  type FileFacts,
  type FileGraph,
  GRAPH_LANGUAGES,
  type GraphEdge,
  type GraphExport,
  type GraphImport,
  type GraphLanguage,
  type GraphLink,
  type GraphSymbol,
  type ImportedName,
  type ImportKind,
  type Incomplete,
  NODE_TYPES,
  type NodeType,
  type ProjectConfig,
  RELATIONS,
  type Reference,
  type Relation,
  type SymbolFacts,
  type SymbolKind,
} from "./model/graph-model.js";
export {
  collectionKey,
  contentKey,
  externalKey,
  fileKey,
  type ParsedKey,
  parseKey,
  symbolKey,
  tagKey,
  typeOfKey,
  versionKey,
} from "./model/node-keys.js";
export { slugOf } from "./prose.js";
export { releaseParsers } from "./reading/parser.js";
export { isConfigPath } from "./reading/project-config.js";
export type { GraphSource } from "./resolve/lookup.js";
export { type Affected, affectedBy, interfaceHash, providedKeys } from "./resolve/lookup-keys.js";
export { type ResolvedFile, resolveFile } from "./resolve/resolve.js";
export {
  type GraphNode,
  type Neighbours,
  type NodeDescription,
  parseRelation,
  type Traversal,
  type TraverseOptions,
  traverse,
} from "./traverse.js";
