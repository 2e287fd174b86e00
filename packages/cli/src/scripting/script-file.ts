// The script that `run` was given: where it is and what it is written in.
import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { isFolderSync, nearestNames, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

/** A script that can be run. */
export interface ScriptFile {
  /** As `process.argv[1]` has it. */
  readonly path: string;
  readonly url: string;
  /** Its text, where it came from standard input. */
  readonly text?: string | undefined;
  readonly isTypeScript: boolean;
}

const TYPESCRIPT = new Set([".ts", ".mts"]);
const JAVASCRIPT = new Set([".js", ".mjs", ".cjs"]);
/** What standard input is called in a stack. */
const STDIN_NAME = "stdin-script.ts";

/** Finds it. `-` is standard input. Throws `USAGE` where there is no such file, and for a kind that cannot be run. */
export async function findScript({ cwd, io }: Pick<CommandContext, "cwd" | "io">, given: string): Promise<ScriptFile> {
  if (given === "-") {
    const path = join(cwd, STDIN_NAME);
    return { path: "-", url: pathToFileURL(path).href, text: await readText(io.stdin), isTypeScript: true };
  }
  const named = resolve(cwd, given);
  const found = statSync(named, { throwIfNoEntry: false });
  if (found === undefined) throw missing(given, named);
  if (!found.isFile() && !found.isFIFO()) {
    throw new TrunklineError("USAGE", `${given} is no file.`, { hint: "Name the script in it." });
  }
  const path = realpathSync(named);
  const extension = extname(path);
  // A command of one's own, `#!/usr/bin/env -S trunkline run`, rarely has an ending.
  const isTypeScript = extension === "" || TYPESCRIPT.has(extension);
  if (!isTypeScript && !JAVASCRIPT.has(extension)) {
    throw new TrunklineError("USAGE", `${given} cannot be run: "${extension}" is no kind of script.`, {
      hint: `Scripts end in ${[...TYPESCRIPT, ...JAVASCRIPT].join(", ")} or in nothing at all.`,
    });
  }
  return { path, url: pathToFileURL(path).href, isTypeScript };
}

function missing(given: string, named: string): TrunklineError {
  const nearest = nearestNames(basename(named), scriptsIn(dirname(named)));
  return new TrunklineError("USAGE", `There is no script ${given}.`, {
    hint:
      nearest.length > 0
        ? `Did you mean ${nearest.map((name) => join(dirname(given), name)).join(" or ")}?`
        : `It was looked for at ${named}.`,
  });
}

function scriptsIn(folder: string): string[] {
  if (!isFolderSync(folder)) return [];
  return readdirSync(folder).filter((name) => TYPESCRIPT.has(extname(name)) || JAVASCRIPT.has(extname(name)));
}
