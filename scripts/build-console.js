// Builds the console's page with Vite into packages/console/assets, unless nothing has changed since the last build.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const folder = fileURLToPath(new URL("../packages/console/", import.meta.url));
const stampFile = join(folder, "assets", ".inputs");

/** A hash of everything that goes into the page. */
function stamp() {
  const hash = createHash("sha256");
  for (const place of ["page", "vite.config.ts", "package.json"]) addTo(hash, join(folder, place));
  return hash.digest("hex");
}

/** @param {import("node:crypto").Hash} hash @param {string} path */
function addTo(hash, path) {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) addTo(hash, join(path, name));
  else
    hash
      .update(`${path.slice(folder.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
}

const current = stamp();
if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== current) {
  await build({ configFile: join(folder, "vite.config.ts"), logLevel: "warn" });
  writeFileSync(stampFile, current);
}
