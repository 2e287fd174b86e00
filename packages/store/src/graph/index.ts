/** The code graph: what each document says, how documents relate, and how to traverse the graph. */
export { DEFAULT_MAX_LENGTH, type ExtractInput, extractGraph } from "./extract.js";
export { languageOf } from "./language-of.js";
export { MemoryGraph } from "./memory-graph.js";
export { toMermaid } from "./mermaid.js";
export {
  type FileFacts,
  type FileGraph,
  GRAPH_LANGUAGES,
  type GraphEdge,
  type GraphLanguage,
  type GraphSymbol,
  NODE_TYPES,
  type NodeType,
  RELATIONS,
  type Relation,
  type SymbolFacts,
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
  versionKey,
} from "./model/node-keys.js";
export { slugOf } from "./prose.js";
export { isConfigPath } from "./reading/project-config.js";
export type { GraphSource } from "./resolve/lookup.js";
export { type Affected, affectedBy, interfaceHash, providedKeys } from "./resolve/lookup-keys.js";
export { resolveFile } from "./resolve/resolve.js";
export { type Neighbours, type NodeDescription, parseRelation, type Traversal, traverse } from "./traverse.js";
