import { readCallArguments } from "../call-arguments.js";
import type { CommandContext } from "../context.js";
import { EXIT } from "../exit-codes.js";
import { openConfiguredHub } from "../open-hub.js";

/** Options of `trunkline call`. */
export interface CallOptions {
  tool: string;
  pairs: string[];
  json?: string;
  raw?: boolean;
  timeout?: number;
  mcp: string | undefined;
}

/** Calls one tool and prints its result. A result that reports a failure ends with exit code 1. */
export async function call(context: CommandContext, options: CallOptions): Promise<number> {
  const { signal } = context;
  await using opened = await openConfiguredHub(context, { mcp: options.mcp, lazy: true });
  const { hub } = opened;
  const tool = await hub.findTool(options.tool, signal);
  const args = readCallArguments(options, tool.inputSchema);
  const result = await hub.call(tool, args, {
    signal,
    ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }),
  });
  const printed = options.raw ? JSON.stringify(result.raw, null, 2) : result.text;
  if (result.isError && !options.raw) context.note(printed);
  else context.out(printed);
  return result.isError ? EXIT.failure : EXIT.success;
}
