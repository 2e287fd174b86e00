// The tools that servers listed last, for `tools`, `stats`, `setup` and shell completion.
import type { Hub } from "@trunkline/client";
import type { SourcedTool } from "@trunkline/core";
import type { ListedTool } from "@trunkline/gateway/journal";
import type { CommandContext } from "../terminal/context.js";
import { cacheFolder } from "./folders.js";

/** Saves the tools of the hub's connected servers. */
export async function keepTools(context: Pick<CommandContext, "home">, hub: Hub): Promise<void> {
  await hub.catalogue.remember({ folder: cacheFolder(context) });
  await hub.catalogue.saved();
}

/** Returns the tools of every server that was ever connected, by its name. Connects none. */
export async function knownTools(
  context: Pick<CommandContext, "home">,
): Promise<ReadonlyMap<string, readonly SourcedTool[]>> {
  const { readRememberedTools } = await import("@trunkline/client/catalogue");
  return await readRememberedTools(cacheFolder(context));
}

/** Returns every known tool of these servers, as a client without Trunkline would list it. */
export async function directTools(
  context: Pick<CommandContext, "home">,
  servers: ReadonlySet<string>,
): Promise<readonly ListedTool[]> {
  const { directDefinition } = await import("@trunkline/client/catalogue");
  return [...(await knownTools(context))]
    .filter(([server]) => servers.has(server))
    .flatMap(([, tools]) => tools)
    .map(directDefinition)
    .map((tool) => ({ ...tool, description: tool.description ?? "" }));
}
