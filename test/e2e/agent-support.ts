// What the tests of `ask`, `agent` and `chat` share.
import { createRequire } from "node:module";
import { join } from "node:path";
import { Place, root } from "./command.js";

const node = process.execPath;

/** A server of the tests. */
export const testServer = (name: string, ...args: string[]) => ({
  command: node,
  args: [join(root, "test", "servers", `${name}.js`), ...args],
});

const everything = join(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"),
  "..",
  "dist",
  "index.js",
);

/** A place with servers, and with no model but the one that a test names. */
export function placeWithServers(servers: Record<string, object> = {}): Place {
  const all = { everything: { command: node, args: [everything] }, hello: testServer("hello"), ...servers };
  return new Place({ ".trunkline/mcp.json": { mcpServers: all } }, { TRUNKLINE_TRUST: "all" });
}

/** The lines of a script for the provider `echo`. */
export function script(...turns: readonly object[]): string {
  return turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
}
