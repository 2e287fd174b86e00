/** The client: configuration to live connections, one catalogue, clean calls. */
export {
  type Abilities,
  abilitiesOf,
  type CallProgress,
  type Channel,
  canAnswer,
  currentChannel,
  type Elicitation,
  type ElicitationAnswer,
  type FormElicitation,
  type QuestionContext,
  type Root,
  type ServerLog,
  type UrlElicitation,
} from "./channel/channel.js";
export type { AskPolicy } from "./channel/in-flight.js";
export { parseEnvFile } from "./config/dot-env.js";
export {
  type ConfigEdit,
  dialectNotes,
  type EditableConfig,
  type EditOptions,
  type EditOutcome,
  editConfigFile,
  readEditableConfig,
} from "./config/edit.js";
export { expandEnv } from "./config/expand.js";
export {
  type FindImportsOptions,
  type FoundImport,
  findImports,
  IMPORT_SOURCES,
  importSource,
  readImport,
} from "./config/import/find.js";
export type {
  ImportContext,
  ImportedServer,
  ImportPlace,
  ImportSource,
  ParsedServers,
} from "./config/import/types.js";
export { forgetInputs, type InputPrompt, type InputRequest } from "./config/inputs.js";
export { type LoadConfigOptions, loadConfig } from "./config/load.js";
export { type TrustedFile, TrustStore, type TrustSubject } from "./config/trust.js";
export type {
  ConfigFile,
  ConfigScope,
  Diagnostic,
  Dialect,
  HttpServer,
  LoadedConfig,
  RejectedServer,
  ServerCommon,
  ServerDefinition,
  StdioServer,
  ToolFilter,
} from "./config/types.js";
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from "./config/watch.js";
export { type InputDefinition, inputsOf, type ServerEntry, toDialect } from "./config/written-entry.js";
export type { ServerState } from "./connection/connection.js";
export { INHERITED_NAMES } from "./connection/environment.js";
export type { ConnectCause } from "./connection/errors.js";
export type { ClientInfo } from "./connection/generation.js";
export { type CallResult, Hub, type HubOptions, type HubWarning, type NotificationListener, openHub } from "./hub.js";
export type { ServerStatus } from "./hub-status.js";
export {
  buildToolName,
  dottedName,
  hyphenatedName,
  isGlob,
  MAX_NAME_LENGTH,
  matchesGlob,
  NAME_STYLES,
  type NameStyle,
  nearestNames,
  normalizeName,
  parseToolName,
  prefixedName,
  type ToolKey,
  toolNamePrefix,
  uriName,
  wireName,
} from "./names.js";
export { type RenamedTool, type ResolveOptions, resolveToolName, ToolNames } from "./names-table.js";
export { capText } from "./results/cap-text.js";
export {
  type RenderBlocksOptions,
  type RenderedResult,
  type ResultBlock,
  renderBlocks,
  renderText,
} from "./results.js";
export {
  definesInputRequest,
  definesMethod,
  isSupportedRevision,
  LATEST_PROTOCOL_VERSION,
  type MethodDirection,
  type ProtocolVersion,
  type RevisionFacts,
  requireMethod,
  revisionFacts,
  revisionsDefining,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "./revisions.js";
