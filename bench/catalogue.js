// A catalogue of real tools, from a file outside the repository because it is not ours: {tools: [{server, tool,
// description, inputSchema}]}.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {{ server: string, tool: string, description: string, inputSchema: Record<string, unknown> }} CatalogueTool */
/** @typedef {{ server: string, tools: { name: string, description: string, inputSchema: Record<string, unknown> }[] }} Listed */

const USUAL_PLACE = fileURLToPath(new URL("../../shared/data/livemcptool/tools.json", import.meta.url));

/** Returns the given file, or the one next to the project; undefined if neither exists. @param {string} [named] */
export function catalogueFile(named) {
  if (named !== undefined) return named;
  return existsSync(USUAL_PLACE) ? USUAL_PLACE : undefined;
}

/** @param {string} file @returns {CatalogueTool[]} */
export function readCatalogue(file) {
  return JSON.parse(readFileSync(file, "utf8")).tools;
}

/**
 * Reads the catalogue as `find` ranks it.
 * @param {string} file
 */
export function readCandidates(file) {
  return readCatalogue(file).map(({ server, tool, description, inputSchema: schema }) => ({
    name: `${server}.${tool}`,
    server,
    tool,
    description,
    schema,
  }));
}

/** Reads the catalogue, grouped by server. @param {string} file @returns {Listed[]} */
export function readServers(file) {
  /** @type {Map<string, Listed>} */
  const servers = new Map();
  for (const { server, tool: name, description, inputSchema } of readCatalogue(file)) {
    const listed = servers.get(server) ?? { server, tools: [] };
    listed.tools.push({ name, description, inputSchema });
    servers.set(server, listed);
  }
  return [...servers.values()];
}
