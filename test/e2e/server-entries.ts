// Test servers as configuration entries.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "./command.js";

export const testServer = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(root, "test", "servers", `${name}.js`), ...args],
});

const everythingPackage = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);

/** The official server that has a bit of everything. */
export const everythingServer = {
  command: process.execPath,
  args: [join(everythingPackage, "..", "dist", "index.js")],
};
