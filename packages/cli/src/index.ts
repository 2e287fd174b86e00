/**
 * The package `trunkline`, for scripts and for your own programs. Nothing is opened until it is used, and everything is
 * closed when the program has nothing left to do. The parts are also available as separate libraries:
 * `@trunkline/client`, `@trunkline/store`, `@trunkline/agent`.
 */
export type {
  Agent,
  AgentEvent,
  AgentRequest,
  AgentResult,
  Message,
  Model,
  ModelOptions,
  Tool,
  ToolOutput,
} from "@trunkline/agent";
export type { CallResult, Hub } from "@trunkline/client";
export { type ErrorCode, isTrunklineError, type SourcedTool, TrunklineError } from "@trunkline/core";
export type { AnyStore, Store } from "@trunkline/store";
export { EXIT, exitCodeOf } from "./app/exit-codes.js";
export { type RunOptions, registerAgent } from "./scripting/run-agent.js";
export { agent } from "./scripting/script-agent.js";
export { args } from "./scripting/script-args.js";
export { hub, type ScriptHub } from "./scripting/script-hub.js";
export { type AskOptions, model, type ScriptModel } from "./scripting/script-model.js";
export { type ScriptStore, store } from "./scripting/script-store.js";
