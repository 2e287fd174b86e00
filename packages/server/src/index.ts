/**
 * The MCP server. The two endpoints are separate entry points (`@trunkline/server/stdio`, `@trunkline/server/http`), so
 * that a process loads only the one it serves.
 */
export type { Backends } from "./interfaces/backends.js";
export type { Caller, Exchange } from "./interfaces/exchange.js";
export type { McpService, ServiceEvent } from "./interfaces/mcp-service.js";
export type { Operation } from "./interfaces/operation.js";
export { createRegistry, type ServerRegistry } from "./operations/operation-registry.js";
export { describeSources } from "./pipeline/step-sources.js";
export { type ProjectPrompts, readProjectPrompts } from "./prompts/project-prompts.js";
export type { SurfacePreview } from "./surface/auto-surface.js";
export { createService, type Service, type ServiceOptions } from "./trunkline-service.js";
