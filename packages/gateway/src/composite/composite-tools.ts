// The composite surface: a handful of tools, no matter how many servers there are. Together their definitions cost at
// most 400 tokens; `describe` lists the operations.
import type { Exchange } from "../interfaces/exchange.js";
import type { Params } from "../interfaces/operation.js";
import { readerOf } from "../interfaces/reader.js";
import type { ServedTool, ToolResult } from "../interfaces/served-tool.js";
import { nextRequest } from "../journal/journal.js";
import type { CompositeEnvironment, CompositeOptions } from "./composite-answer.js";
import { executeTool } from "./execute-tool.js";
import { queryTool } from "./query-tool.js";
import { sessionTool } from "./session-tool.js";

/** Creates `query`, `execute` and `session`, in listing order. Opens nothing. */
export function createCompositeTools(options: CompositeOptions): readonly ServedTool[] {
  const { registry, store, account, workspace, run, log } = options;
  const shared = {
    registry,
    run,
    log,
    account,
    spill: options.spill ?? true,
    workspace,
    gateway: options.gateway,
  };
  const envOf = (exchange: Exchange): CompositeEnvironment => {
    const reader = readerOf(exchange);
    return {
      ...shared,
      ...(reader === "model" ? {} : { account: undefined }),
      reader,
      request: nextRequest(),
      store: () => store(exchange.caller.principal),
    };
  };
  return [queryTool(envOf), executeTool(envOf, registry), sessionTool(envOf)];
}

const ECHO: ServedTool["definition"] = {
  name: "mcp.echo",
  description: "Connection test.",
  inputSchema: { type: "object", properties: { message: { type: "string" } } },
  annotations: { readOnlyHint: true },
};

/**
 * The connection test. Callable on every surface, but listed only on request: some model APIs refuse a whole tool list
 * because of the dot in its name.
 */
export const echoTool: ServedTool = { definition: ECHO, call: async (args) => callEcho(args) };

/** Handles `mcp.echo`. Accepts `text` for `message`. */
function callEcho(args: Params): ToolResult {
  const message = args.message ?? args.text;
  if (typeof message === "string") return { content: [{ type: "text", text: message }] };
  const error = {
    code: "INVALID_ARGUMENT",
    message:
      message === undefined ? 'The parameter "message" is missing.' : 'The parameter "message" has to be a string.',
    hint: 'Call it with {"message": "hello"}.',
  };
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], structuredContent: { error }, isError: true };
}
