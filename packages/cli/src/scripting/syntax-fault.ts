// Finds the position of a syntax error. Node prints it when a program crashes on one but does not pass it to code that
// catches the error, so a second Node process checks the most recently read files.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readSource, stripTypes } from "./strip-types.js";

/** A module that was read, and its text if it is not in a file. */
interface ReadModule {
  readonly url: string;
  readonly text?: string;
}

/** Returns `file:line`, the line and a marker below it, as Node shows them; undefined if every file is valid. */
export function findSyntaxFault(modules: readonly ReadModule[]): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-run-"));
  try {
    for (const { url, text } of modules.toReversed()) {
      const path = fileURLToPath(url);
      const source = text ?? readSource(url);
      const isScript = /\.c?js$/.test(path) && !path.endsWith(".mjs");
      const code = isScript || path.endsWith(".mjs") ? source : stripTypes(source, url).code;
      // How Node treats a .js file depends on its folder, so check it in place.
      const copy = isScript ? path : join(folder, "checked.mjs");
      if (!isScript) writeFileSync(copy, code);
      const { status, stderr } = spawnSync(process.execPath, ["--check", copy], { encoding: "utf8" });
      if (status === 0) continue;
      const shown = stderr.split("\n\n")[0] ?? "";
      return shown.replaceAll(pathToFileURL(copy).href, path).replaceAll(copy, path);
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
