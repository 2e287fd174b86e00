// The built page, read into memory once: a few small files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TrunklineError } from "@trunkline/core";

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const ASSETS = fileURLToPath(new URL("../../assets/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Returns the files by path: `/`, `/main-abc.js` … */
export function readPageFiles(folder: string = ASSETS): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw new TrunklineError("IO", "The console's page is not built.", { cause: error, hint: "Run: npm run build" });
  }
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    files.set(name === "index.html" ? "/" : `/${name}`, { type, bytes: readFileSync(join(folder, name)) });
  }
  return files;
}
