// The tools of a server as they were last seen, so that a shell can offer them without starting anything. `serve`, `tools`
// and `doctor` keep them.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJson } from "@trunkline/core";
import { cacheFolder } from "../direct-tools.js";
import { namesIn } from "../names-in.js";
import type { CommandContext } from "../terminal/context.js";

/** A tool and the names of its parameters. */
export interface KnownTool {
  readonly name: string;
  readonly about: string;
  readonly parameters: readonly string[];
}

/** What was last seen of a server; nothing where it was never connected. */
export async function knownTools(context: Pick<CommandContext, "home">, server: string): Promise<KnownTool[]> {
  const folder = cacheFolder(context);
  for (const name of await namesIn(folder)) {
    if (!/^tools-.*\.json$/.test(name)) continue;
    const kept = parseJson(await readFile(join(folder, name), "utf8"));
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
