// The prompt: from the command line, and what is piped in.
import { fstatSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import { abortError, systemCodeOf, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../context.js";

/** More than any model reads. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** How long nothing may come before a person is told what is waited for. */
const WAIT_NOTE_MS = 3000;

/** The whole prompt; undefined where there is none. What is piped in stands behind the words, set apart from them. */
export async function readPrompt(context: CommandContext, words: readonly string[]): Promise<string | undefined> {
  const asked = words.join(" ").trim();
  const input = hasInput() ? await readInput(context) : "";
  if (input.trim() === "") return asked === "" ? undefined : asked;
  return asked === "" ? input.trimEnd() : `${asked}\n\n<stdin>\n${input.trimEnd()}\n</stdin>`;
}

/** Whether something is piped in: neither a terminal nor nothing at all. */
function hasInput(): boolean {
  if (process.stdin.isTTY === true) return false;
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch (error) {
    if (systemCodeOf(error) === "EBADF") return false;
    throw error;
  }
}

async function readInput({ signal, note }: CommandContext): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const timer = setTimeout(() => note("Waiting for the end of standard input…"), WAIT_NOTE_MS);
  try {
    for await (const chunk of addAbortSignal(signal, process.stdin)) {
      clearTimeout(timer);
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_INPUT_BYTES) {
        throw new TrunklineError("USAGE", "Standard input has more than 16 MiB.", {
          hint: "Keep it in the store and ask about that: trunkline store add <path>",
        });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (signal.aborted) throw abortError(signal, "Reading standard input");
    throw error;
  } finally {
    clearTimeout(timer);
  }
  const bytes = Buffer.concat(chunks);
  if (!bytes.includes(0)) return bytes.toString("utf8");
  throw new TrunklineError("USAGE", "Standard input is not text.");
}
