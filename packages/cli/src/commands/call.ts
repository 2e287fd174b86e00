import { renderText, resolveToolName } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
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
  mcp: string | undefined;
}

/** Calls one tool and prints its result. A result that reports a failure ends with exit code 1. */
export async function call(context: CommandContext, options: CallOptions): Promise<number> {
  await using opened = await openConfiguredHub(context, options.mcp);
  const { hub } = opened;
  const failed = hub.status().find(({ name, state }) => state === "failed" && options.tool.startsWith(`${name}.`));
  if (failed?.error !== undefined) throw failed.error;
  if (hub.tools().length === 0) {
    throw new TrunklineError("SERVER_UNAVAILABLE", "No server is connected.", { hint: "`trunkline doctor` says why." });
  }
  const tool = resolveToolName(options.tool, hub.tools());
  const args = readCallArguments(options, tool.inputSchema);
  const result = await hub.callTool(tool.server, tool.tool, args, { signal: context.signal });
  const printed = options.raw ? JSON.stringify(result.raw, null, 2) : renderText(result.raw);
  if (result.isError && !options.raw) context.note(printed);
  else context.out(printed);
  return result.isError ? EXIT.failure : EXIT.success;
}
