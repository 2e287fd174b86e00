import { mayBelongTo } from "@trunkline/client/internal";
import { isTrunklineError, printableJson, TrunklineError } from "@trunkline/core";
import { RPC_CODES } from "@trunkline/protocol";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { readCallArguments, unlistedArguments } from "./call-arguments.js";

export interface CallOptions {
  tool: string;
  pairs: string[];
  json?: string;
  raw?: boolean;
  timeout?: number;
  root?: string[];
  mcp: string | undefined;
}

/** Calls one tool and prints its result. The exit code is 1 if the result reports a failure. */
export async function call(context: CommandContext, options: CallOptions): Promise<number> {
  const { signal } = context;
  await using app = openApp(context, {
    mcp: options.mcp,
    wanted: (server) => mayBelongTo(options.tool, server),
    roots: options.root,
  });
  const hub = await app.hub();
  const tool = await hub.findTool(options.tool, signal);
  const args = readCallArguments(options, tool.inputSchema);
  const unlisted = unlistedArguments(args, tool.inputSchema);
  if (unlisted !== undefined) context.note(unlisted);
  const result = await hub
    .call(tool, args, { signal, ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }) })
    .catch((error: unknown) => {
      throw isAtTerminal(context) ? error : withAskingHint(error);
    });
  app.clearProgress();
  const printed = options.raw ? printableJson(result.raw, 2) : result.text;
  if (result.isError && !options.raw) context.note(printed);
  else context.out(printed);
  return result.isError ? EXIT.failure : EXIT.success;
}

function withAskingHint(error: unknown): unknown {
  if (!isTrunklineError(error, "UPSTREAM") || error.data?.code !== RPC_CODES.missingCapability) return error;
  return new TrunklineError("UPSTREAM", error.message, {
    cause: error.cause,
    data: error.data,
    hint: "This tool asks the user something. Call it at a terminal, without redirecting standard input or standard error.",
  });
}
