/**
 * MCP servers from any configuration as one catalogue, with one place to call their tools.
 *
 * ```ts
 * const hub = await openHub();
 * try {
 *   const { text } = await hub.call("hello.hello", { name: "Ada" });
 * } finally {
 *   await hub.close();
 * }
 * ```
 */

export type {
  Diagnostic,
  HttpServer,
  InProcessClient,
  InProcessMessage,
  InProcessPeer,
  InProcessServer,
  InputPrompt,
  InputRequest,
  LoadedConfig,
  ServerDefinition,
  ServerEntry,
  Share,
  StdioServer,
} from "@trunkline/config";
export {
  buildToolName,
  type ConfigWatch,
  expandEnv,
  inProcessServer,
  type LoadConfigOptions,
  loadConfig,
  normalizeName,
  parseToolName,
  type ToolKey,
  toolNamePrefix,
  watchConfig,
} from "@trunkline/config";
export { isTrunklineError, TrunklineError } from "@trunkline/core";
export { type FormField, readFormFields, validateForm } from "@trunkline/core/schema";
export type { Catalogue } from "./catalogue/catalogue.js";
export type { SourcedPrompt, SourcedResource, SourcedTemplate } from "./catalogue/catalogue-items.js";
export type { KnownServer, ServerStatus } from "./catalogue/known-server.js";
export { ToolNames } from "./catalogue/names-table.js";
export type { MeasureTools, ToolsMeasure } from "./catalogue/remembered-tools.js";
export type {
  Abilities,
  CallProgress,
  Channel,
  CompletedVisit,
  Question,
  QuestionContext,
  Root,
  ServerLog,
  SignIn,
  SignInRequest,
} from "./channel/channel.js";
export type { AskPolicy } from "./channel/in-flight.js";
export {
  createQueueChannel,
  type QueueChannel,
  type QueuedQuestion,
} from "./channel/queue-channel.js";
export {
  type ChannelAnswers,
  createChannel,
  type Elicitation,
  type ElicitationAnswer,
} from "./channel/typed-channel.js";
export type { ListKind, ServerState } from "./connection/connection-options.js";
export { Hub } from "./hub/hub.js";
export type { CallResult, HubCallOptions, HubOptions, HubWarning } from "./hub/hub-options.js";
export type {
  Completion,
  ListOptions,
  PromptResult,
  ReadResourceResult,
} from "./hub/hub-requests.js";
export { openHub } from "./hub/open-hub.js";
export type { ResourceUpdate } from "./hub/resource-subscriptions.js";
export { type AgentTool, resourceTools } from "./hub/resource-tools.js";
export type { HoldReason } from "./pins/classify-change.js";
export type { HeldEntry } from "./pins/server-pins.js";
export { ConnectionPool, type ConnectionPoolOptions } from "./pool/connection-pool.js";
export type { PoolClock, PooledServerStatus } from "./pool/pooled-server.js";
export { type RenderedResult, renderBlocks, renderText } from "./results/render-result.js";
