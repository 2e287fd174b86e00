/** The code graph: what each document says, how documents relate, and how to traverse the graph. */
export { DEFAULT_MAX_LENGTH, type ExtractInput, extractGraph } from "./extract.js";
export { languageOf } from "./language-of.js";
export { MemoryGraph } from "./memory-graph.js";
export { toMermaid } from "./mermaid.js";
export {
  type FileEdge,
  type FileFacts,
  type FileGraph,
  GRAPH_LANGUAGES,
  type GraphEdge,
  type GraphLanguage,
  type GraphSymbol,
  IMPORT_KINDS,
  NODE_TYPES,
  type NodeType,
  REFERENCE_ROOTS,
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
  nameOf,
  type ParsedKey,
  parseKey,
  symbolKey,
  tagKey,
  versionKey,
} from "./model/node-keys.js";
export { slugOf } from "./prose.js";
export { isConfigPath } from "./reading/project-config.js";
export type { GraphSource } from "./resolve/lookup.js";
export { type Affected, affectedBy, interfaceHash, providedKeys } from "./resolve/lookup-keys.js";
export { resolveFile } from "./resolve/resolve.js";
export { type Neighbours, type NodeDescription, parseRelation, type Traversal, traverse } from "./traverse.js";
