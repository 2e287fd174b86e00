// Servers as entries of a configuration.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "./command.js";

/** A server of the tests. */
export const testServer = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(root, "test", "servers", `${name}.js`), ...args],
});

const everythingPackage = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);

/** The official server that has something of everything. */
export const everythingServer = {
  command: process.execPath,
  args: [join(everythingPackage, "..", "dist", "index.js")],
};
