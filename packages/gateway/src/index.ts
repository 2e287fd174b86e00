/**
 * The MCP server. The two endpoints are separate entry points (`@trunkline/gateway/stdio`, `@trunkline/gateway/http`), so
 * that a process loads only the one it serves.
 */
export type { Backends } from "./interfaces/backends.js";
export type { CallRecorder, RecordedCall } from "./interfaces/call-recorder.js";
export {
  type AskedClient,
  type AskThrough,
  type Caller,
  channelThrough,
  type Exchange,
} from "./interfaces/exchange.js";
export type { McpService, ServiceEvent } from "./interfaces/mcp-service.js";
export type { Operation, OperationKind } from "./interfaces/operation.js";
export { createRegistry, type ServerRegistry } from "./operations/operation-registry.js";
export { describeSources } from "./pipeline/step-sources.js";
export { readProjectPrompts } from "./prompts/project-prompts.js";
export type { SurfacePreview } from "./surface/auto-surface.js";
export { leanDefinition } from "./surface/lean-definition.js";
export { createService, type Service, type ServiceOptions } from "./trunkline-service.js";
