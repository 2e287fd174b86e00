// Saves the tools that upstream servers last listed, for `stats`, `describe` and shell completion, which connect to no
// server.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hub } from "@trunkline/client";
import { isRecord, parseJson } from "@trunkline/core";
import type { ListedTool } from "@trunkline/gateway/journal";
import type { CommandContext } from "../terminal/context.js";
import { cacheFolder, namesIn } from "./folders.js";

/** Saves the tools of the connected servers for `stats`, `describe` and shell completion. */
export async function keepTools(context: Pick<CommandContext, "home" | "logger">, hub: Hub): Promise<void> {
  // A separate entry point, because the whole server takes a quarter of a second to load.
  const { keepCatalogue } = await import("@trunkline/gateway/catalogue");
  await keepCatalogue(hub, { folder: cacheFolder(context), logger: context.logger });
}

/** Returns every tool in the last known catalogues of these servers, as a client without Trunkline would list it. */
export async function directTools(
  context: Pick<CommandContext, "home">,
  servers: ReadonlySet<string>,
): Promise<readonly ListedTool[]> {
  const folder = cacheFolder(context);
  const tools: ListedTool[] = [];
  for (const name of await namesIn(folder)) {
    if (!/^tools-.*\.json$/.test(name)) continue;
    const kept = parseJson(await readFile(join(folder, name), "utf8").catch(() => ""));
    if (!isRecord(kept) || !servers.has(String(kept.server)) || !Array.isArray(kept.tools)) continue;
    for (const tool of kept.tools.filter(isRecord)) {
      tools.push({
        name: `mcp__${kept.server}__${tool.tool}`,
        description: typeof tool.description === "string" ? tool.description : "",
        inputSchema: tool.inputSchema,
      });
    }
  }
  return tools;
}

/** Returns the servers that were connected at least once, with the number of tools that each listed last. */
export async function knownServers(context: Pick<CommandContext, "home">): Promise<ReadonlyMap<string, number>> {
  const servers = new Map<string, number>();
  const folder = cacheFolder(context);
  for (const name of await namesIn(folder)) {
    if (!/^tools-.*\.json$/.test(name)) continue;
    const kept = parseJson(await readFile(join(folder, name), "utf8").catch(() => ""));
    if (isRecord(kept) && Array.isArray(kept.tools)) servers.set(String(kept.server), kept.tools.length);
  }
  return servers;
}

interface KnownTool {
  readonly name: string;
  readonly about: string;
  readonly parameters: readonly string[];
}

/** Returns a server's last known tools; empty if it was never connected. */
export async function knownTools(context: Pick<CommandContext, "home">, server: string): Promise<KnownTool[]> {
  const folder = cacheFolder(context);
  for (const name of await namesIn(folder)) {
    if (!/^tools-.*\.json$/.test(name)) continue;
    const kept = parseJson(await readFile(join(folder, name), "utf8").catch(() => ""));
    if (!isRecord(kept) || kept.server !== server || !Array.isArray(kept.tools)) continue;
    return kept.tools.filter(isRecord).map(toKnownTool);
  }
  return [];
}

function toKnownTool({ tool, description, inputSchema }: Readonly<Record<string, unknown>>): KnownTool {
  const properties = isRecord(inputSchema) && isRecord(inputSchema.properties) ? inputSchema.properties : {};
  const [about = ""] = typeof description === "string" ? description.trim().split("\n") : [];
  return { name: String(tool), about, parameters: Object.keys(properties) };
}
