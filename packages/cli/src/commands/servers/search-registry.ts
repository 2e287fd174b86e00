// Searches the registry for servers. Starts nothing and writes nothing.
import { printable, printableJson, TrunklineError } from "@trunkline/core";
import { EXIT } from "../../app/exit-codes.js";
import { registryAddress } from "../../registry/registry-address.js";
import { searchRegistry } from "../../registry/registry-client.js";
import { packageLabel } from "../../registry/registry-recipe.js";
import type { RegistryServer } from "../../registry/registry-server.js";
import type { CommandContext } from "../../terminal/context.js";
import { table } from "../../terminal/table.js";
import { columnsOf } from "../../terminal/text-width.js";

interface SearchServersOptions {
  words: readonly string[];
  limit?: number;
  registry?: string;
  json?: boolean;
}

const DEFAULT_LIMIT = 20;

export async function searchServers(context: CommandContext, options: SearchServersOptions): Promise<number> {
  const words = options.words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== "");
  if (words.length === 0) throw new TrunklineError("USAGE", "There is nothing to search for.");
  const registry = await registryAddress(options.registry, context);
  const { limit = DEFAULT_LIMIT } = options;
  const { servers, isCut } = await searchRegistry(registry, { words, limit, signal: context.signal });
  if (options.json) context.out(printableJson(servers.map(forPrograms), 2));
  else for (const line of lines(context, servers)) context.outPainted(line);
  if (servers.length === 0) {
    context.note(`No server in ${registry.host} matches.`);
    return EXIT.failure;
  }
  if (!options.json) {
    if (isCut) context.note(`There are more: raise --limit above ${limit}, or add a word to narrow the search.`);
    context.note("Add one: trunkline servers add <name>");
  }
  return EXIT.success;
}

function lines({ io, palette }: CommandContext, servers: readonly RegistryServer[]): string[] {
  const rows = servers.map(({ name, version, status, description, ...ways }) => [
    palette.heading(name),
    version,
    `${status === "deprecated" ? "(deprecated) " : ""}${printable(description)}`,
    palette.dim(printable(waysText(ways))),
  ]);
  return table(rows, { columns: columnsOf(io.stdout), fixed: 2 });
}

function waysText({ packages, remotes }: Pick<RegistryServer, "packages" | "remotes">): string {
  return [...packages.map(packageLabel), ...remotes.map(({ url }) => url)].join(", ");
}

function forPrograms({ name, version, status, statusMessage, description, packages, remotes }: RegistryServer) {
  return {
    name,
    version,
    description,
    status,
    statusMessage,
    packages: packages.map(({ type, identifier, version: packageVersion, transport }) => ({
      type,
      identifier,
      version: packageVersion,
      transport,
    })),
    remotes: remotes.map(({ type, url }) => ({ type, url })),
  };
}
