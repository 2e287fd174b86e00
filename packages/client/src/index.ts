/** The client: configuration to live connections, one catalogue, clean calls. */
export { type LoadConfigOptions, loadConfig } from "./config/load.js";
export type {
  ConfigScope,
  Diagnostic,
  HttpServer,
  LoadedConfig,
  ServerCommon,
  ServerDefinition,
  StdioServer,
} from "./config/types.js";
export type { ClientInfo, ServerState } from "./connection/connection.js";
export { Hub, type HubOptions, openHub, type ServerStatus } from "./hub.js";
export { dottedName, nearestNames, resolveToolName, type ToolKey } from "./names.js";
export { renderText } from "./results.js";
export { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from "./revisions.js";
