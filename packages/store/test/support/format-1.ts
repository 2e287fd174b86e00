import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { temporaryFolder } from "./temporary.js";

const FIXTURE = fileURLToPath(new URL("../engine/format-1/", import.meta.url));

/**
 * Copies a store that version 0.3 wrote, with the vectors of a fake model: `/project/hub.ts`, which calls `connect` in
 * `/project/lib/connection.ts`, and `/project/notes.md`.
 */
export async function formatOneStore(): Promise<string> {
  const path = join(await temporaryFolder(), "store");
  mkdirSync(path);
  for (const name of ["content.sqlite", "index.sqlite"]) {
    writeFileSync(join(path, name), gunzipSync(readFileSync(join(FIXTURE, `${name}.gz`))));
  }
  return path;
}
