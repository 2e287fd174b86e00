/**
 * The MCP server. The two endpoints are entry points of their own (`@trunkline/server/stdio`, `@trunkline/server/http`),
 * so that a process loads only the one it serves.
 */
export type { Backends } from "./interfaces/backends.js";
export type { Caller, Exchange } from "./interfaces/exchange.js";
export type { McpService, ServerInfo, ServiceEvent, TaskSupport } from "./interfaces/mcp-service.js";
export type { ContentBlock, Operation, OperationContext, OperationOutcome, Params } from "./interfaces/operation.js";
export type { ServedTool, ToolResult } from "./interfaces/served-tool.js";
export type { CallRecord, Journal, TokenAccount, TokenUse } from "./journal/journal.js";
export { createRegistry, type RegistryOptions, type ServerRegistry } from "./operations/operation-registry.js";
export { createRunner, type Policies, type RunnerOptions, type RunStep } from "./operations/run-operation.js";
export { createService, type Service, type ServiceOptions } from "./service.js";
export type { SurfaceKind } from "./surface/instructions.js";
