// The script passed to `run`: where it is and which language it is in.
import { accessSync, constants, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { fileReason, isFolderSync, nearestNames, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

export interface ScriptFile {
  /** As in `process.argv[1]`. */
  readonly path: string;
  readonly url: string;
  /** Its text, if it came from standard input. */
  readonly text?: string;
  readonly isTypeScript: boolean;
}

const TYPESCRIPT = new Set([".ts", ".mts"]);
const JAVASCRIPT = new Set([".js", ".mjs", ".cjs"]);
/** The name for standard input in a stack trace. */
const STDIN_NAME = "stdin-script.ts";

/** Finds the script. `-` is standard input. Throws `USAGE` if there is no such file, or if it cannot be run. */
export async function findScript({ cwd, io }: Pick<CommandContext, "cwd" | "io">, given: string): Promise<ScriptFile> {
  if (given === "-") {
    const path = join(cwd, STDIN_NAME);
    return { path: "-", url: pathToFileURL(path).href, text: await readText(io.stdin), isTypeScript: true };
  }
  const named = resolve(cwd, given);
  const found = inspect(named, given);
  if (found === undefined) throw missing(given, named);
  if (!found.isFile() && !found.isFIFO()) {
    throw new TrunklineError("USAGE", `${given} is not a file.`, { hint: "Name the script inside it." });
  }
  const path = realpathSync(named);
  const extension = extname(path);
  // A command with `#!/usr/bin/env -S trunkline run` rarely has an extension.
  const isTypeScript = extension === "" || TYPESCRIPT.has(extension);
  if (!isTypeScript && !JAVASCRIPT.has(extension)) {
    throw new TrunklineError("USAGE", `Cannot run ${given}: "${extension}" is not a script extension.`, {
      hint: `Scripts end in ${[...TYPESCRIPT, ...JAVASCRIPT].join(", ")}, or have no extension.`,
    });
  }
  return { path, url: pathToFileURL(path).href, isTypeScript };
}

/** Throws `USAGE` if the file exists but cannot be read. */
function inspect(path: string, given: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile()) accessSync(path, constants.R_OK);
    return found;
  } catch (error) {
    const reason = fileReason(error);
    if (reason === undefined) throw error;
    const hint = "Check the permissions of the script and its folders.";
    throw new TrunklineError("USAGE", `Cannot read ${given}: ${reason}.`, { cause: error, hint });
  }
}

function missing(given: string, named: string): TrunklineError {
  const nearest = nearestNames(basename(named), scriptsIn(dirname(named)));
  return new TrunklineError("USAGE", `There is no script ${given}.`, {
    hint:
      nearest.length > 0
        ? `Did you mean ${nearest.map((name) => join(dirname(given), name)).join(" or ")}?`
        : `Looked for it at ${named}.`,
  });
}

function scriptsIn(folder: string): string[] {
  if (!isFolderSync(folder)) return [];
  return readdirSync(folder).filter((name) => TYPESCRIPT.has(extname(name)) || JAVASCRIPT.has(extname(name)));
}
