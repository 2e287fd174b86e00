// The composite tools as clients list them. Their whole description costs at most 400 tokens, whatever stands behind it:
// what operations there are, `describe` tells.
import type { ServedTool } from "../interfaces/served-tool.js";

type Definition = ServedTool["definition"];

/** Kept short: the description of `query` says what a step is. */
const STEPS = { type: "array", items: { type: "object" } };

/** `query`. */
export const queryDefinition: Definition = {
  name: "query",
  description:
    "Read-only pipeline over the store and all MCP servers. Steps are {op, params, as?, for_each?}. " +
    "Begin with op describe: lists operations; params {target} show one, {find} searches. " +
    "Later steps refer to results: $prev.results[0].hash, $name of an as, $item with for_each: $prev.results[*]; they see whole values, not cut ones.",
  inputSchema: {
    type: "object",
    properties: { steps: STEPS, max_tokens: { type: "integer" } },
    required: ["steps"],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
};

/** `execute`. */
export const executeDefinition: Definition = {
  name: "execute",
  description: "Run operations {op, params} in order: add, update, delete, server.tool. $prev works.",
  inputSchema: {
    type: "object",
    properties: {
      operations: STEPS,
      continueOnError: { type: "boolean" },
      atomic: { type: "boolean" },
      dry_run: { type: "boolean" },
      idempotency_key: { type: "string" },
      max_tokens: { type: "integer" },
    },
    required: ["operations"],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
};

/** `session`. */
export const sessionDefinition: Definition = {
  name: "session",
  description: "Scoped work: start {label}, pin {hash}, watch {paths}.",
  inputSchema: {
    type: "object",
    properties: {
      action: { enum: ["start", "stop", "pin", "unpin", "watch"] },
      params: { type: "object" },
    },
    required: ["action"],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};

/** `mcp.echo`. */
export const echoDefinition: Definition = {
  name: "mcp.echo",
  description: "Tests the connection.",
  inputSchema: { type: "object", properties: { message: { type: "string" } } },
  annotations: { readOnlyHint: true },
};
