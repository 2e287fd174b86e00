import { dottedName } from "@trunkline/client";
import type { SourcedTool } from "@trunkline/core";
import type { CommandContext } from "../context.js";
import { EXIT } from "../exit-codes.js";
import { openConfiguredHub } from "../open-hub.js";
import { signatureOf } from "../signature.js";

/** Lists every tool of every connected server. */
export async function tools(
  context: CommandContext,
  options: { json?: boolean; mcp: string | undefined },
): Promise<number> {
  await using opened = await openConfiguredHub(context, options.mcp);
  const { hub } = opened;
  const found = hub.tools();
  if (options.json) {
    context.out(JSON.stringify(found, null, 2));
  } else {
    for (const tool of found) context.out(describe(tool));
  }
  let failed = false;
  for (const { name, state, error } of hub.status()) {
    if (state !== "failed") continue;
    failed = true;
    context.note(`${name}: ${error?.message ?? "failed"}`);
  }
  if (failed) context.note("`trunkline doctor` says what to do.");
  return failed && found.length === 0 ? EXIT.failure : EXIT.success;
}

function describe(tool: SourcedTool): string {
  const [summary = ""] = (tool.description ?? "").split("\n");
  return `${dottedName(tool)}${signatureOf(tool.inputSchema)}${summary === "" ? "" : `\n    ${summary}`}`;
}
