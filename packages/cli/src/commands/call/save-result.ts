// `trunkline call --output`: saves the images, audio and other binaries of a result, or its text, to files.
import { access, constants, stat, writeFile } from "node:fs/promises";
import { dirname, join, parse, resolve } from "node:path";
import { fileReason, messageOf, printable, systemCodeOf, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../../terminal/context.js";
import { shownBytes, writeOut } from "../../terminal/output.js";
import type { ReadableResult } from "../../terminal/result-blocks.js";
import { shownPath } from "../../terminal/shown-path.js";

/** The path that stands for stdout. */
const STDOUT = "-";

/** Rejects a file that cannot be written, before the call has effects. */
export async function checkOutput({ cwd, io }: CommandContext, output: string): Promise<void> {
  if (output === STDOUT) {
    if (io.stdout.isTTY !== true) return;
    throw new TrunklineError("USAGE", "--output - would garble the terminal.", {
      hint: "Name a file, or redirect stdout.",
    });
  }
  const path = resolve(cwd, output);
  const kind = await kindOf(path);
  if (kind === "folder") {
    throw new TrunklineError("USAGE", `${printable(output)} is a folder.`, { hint: "Name a file inside it." });
  }
  const folder = dirname(path);
  if ((await kindOf(folder)) !== "folder") {
    throw new TrunklineError("USAGE", `There is no folder ${printable(shownPath(folder, cwd))}.`, {
      hint: "Create it first, or name another file.",
    });
  }
  await requireWritable(kind === "file" ? path : folder, cwd);
}

async function requireWritable(path: string, cwd: string): Promise<void> {
  try {
    await access(path, constants.W_OK);
  } catch (error) {
    const reason = fileReason(error) ?? messageOf(error);
    throw new TrunklineError("USAGE", `Cannot write to ${printable(shownPath(path, cwd))}: ${reason}.`, {
      cause: error,
      hint: "Name another file with --output.",
    });
  }
}

/**
 * Writes the binaries of a result to the file: the second one to `name-2.png`, and so on. A result without any is saved
 * as text. Returns the text that is left to print.
 */
export async function saveResult(context: CommandContext, result: ReadableResult, output: string): Promise<string> {
  const { text, binaries } = result;
  const pieces = binaries.length === 0 ? [Buffer.from(`${text}\n`)] : binaries;
  for (const [index, bytes] of pieces.entries()) {
    if (output === STDOUT) await writeOut(context, bytes);
    else await save(context, numbered(output, index + 1), bytes);
  }
  return binaries.length === 0 || output === STDOUT ? "" : text;
}

async function save({ cwd, note, signal }: CommandContext, output: string, bytes: Uint8Array): Promise<void> {
  const path = resolve(cwd, output);
  const shown = printable(shownPath(path, cwd));
  try {
    await writeFile(path, bytes, { signal });
  } catch (error) {
    const reason = fileReason(error);
    if (reason === undefined) throw error;
    throw new TrunklineError("IO", `The call succeeded, but ${shown} could not be written: ${reason}.`, {
      cause: error,
      hint: "Name another file with --output. Calling the tool again may repeat what it did.",
    });
  }
  note(`wrote ${shown} (${shownBytes(bytes.length)})`);
}

function numbered(output: string, number: number): string {
  if (number === 1) return output;
  const { dir, name, ext } = parse(output);
  return join(dir, `${name}-${number}${ext}`);
}

async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}
