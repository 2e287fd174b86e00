// Files that a user names on the command line as input.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileReason, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

/** Reads a file the user named. Throws `USAGE` with the reason if that is not possible. */
export async function readInputFile(
  { cwd, signal }: Pick<CommandContext, "cwd" | "signal">,
  path: string,
  hint?: string,
): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), { encoding: "utf8", signal });
  } catch (error) {
    const reason = fileReason(error);
    if (reason === undefined || signal.aborted) throw error;
    const details = { cause: error, hint };
    throw new TrunklineError("USAGE", `Cannot read ${path}: ${reason}.`, details);
  }
}

/** Parses JSON from `place`, a file or the name of an argument. Throws `USAGE` with the position of the first mistake. */
export async function parseInputJson(text: string, place: string, hint?: string): Promise<unknown> {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const { jsonFault } = await import("@trunkline/config");
    const { line, column, reason } = jsonFault(text, { strict: true }) ?? unlocated;
    const details = { cause: error, hint };
    throw new TrunklineError("USAGE", `${place}:${line}:${column} cannot be used: ${reason}.`, details);
  }
}

/** For the rare text that only the second parser accepts. */
const unlocated = { line: 1, column: 1, reason: "it is not valid JSON" };
