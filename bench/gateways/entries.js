// The upstream servers of a gateway, and how each kind of gateway takes them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ command: string, args: string[] } | { type: "http", url: string }} Entry */

/** Writes a configuration with these servers. @param {string} folder @param {Record<string, object>} servers */
export function configuration(folder, servers) {
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return file;
}

/** Returns the command of the only server. @param {Record<string, Entry>} servers @returns {string[]} */
export function onlyCommand(servers) {
  const [entry] = Object.values(servers);
  if (entry === undefined || !("command" in entry))
    throw new Error("This gateway takes exactly one server, which must be a command.");
  return [entry.command, ...entry.args];
}
