// Builds the console's page with Vite into packages/console/assets, unless nothing has changed since the last build.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const folder = fileURLToPath(new URL("../packages/console/", import.meta.url));
/** The parts of core are those that the page imports. */
const INPUTS = [
  "page",
  "vite.config.ts",
  "package.json",
  "../core/src/json.ts",
  "../core/src/schema",
  "../core/src/text-diff.ts",
];
const stampFile = join(folder, "assets", ".inputs");

/** A hash of everything that goes into the page. */
function stamp() {
  const hash = createHash("sha256");
  for (const place of INPUTS) addTo(hash, join(folder, place));
  return hash.digest("hex");
}

/** @param {import("node:crypto").Hash} hash @param {string} path */
function addTo(hash, path) {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) addTo(hash, join(path, name));
  else
    hash
      .update(`${relative(folder, path)}\0`)
      .update(readFileSync(path))
      .update("\0");
}

const current = stamp();
if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== current) {
  await build({ configFile: join(folder, "vite.config.ts"), logLevel: "warn" });
  writeFileSync(stampFile, current);
}
