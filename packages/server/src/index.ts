/**
 * The MCP server. The two endpoints are entry points of their own (`@trunkline/server/stdio`, `@trunkline/server/http`),
 * so that a process loads only the one it serves.
 */
export type { Backends } from "./backends.js";
export type { Caller, Era, Exchange } from "./exchange.js";
export type { CallRecord, Journal, TokenAccount, TokenUse } from "./journal/journal.js";
export type { ContentBlock, Operation, OperationContext, OperationOutcome, Params } from "./operations/operation.js";
export { createRegistry, type RegistryOptions, type ServerRegistry } from "./operations/registry.js";
export { createRunner, type RunnerOptions, type RunStep } from "./operations/run-operation.js";
export { RPC_CODES, RpcError } from "./protocol/rpc-error.js";
export type { McpService, ServerInfo, ServiceEvent, TaskSupport } from "./protocol/service.js";
export { createService, type Service } from "./service.js";
export type { Policies, ServiceOptions, SurfaceKind } from "./service-options.js";
export type { ServedTool, ToolResult } from "./surface/served-tool.js";
