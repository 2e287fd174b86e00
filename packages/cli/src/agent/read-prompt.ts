// The prompt: from the command line, and what is piped in.
import { addAbortSignal } from "node:stream";
import { abortError, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

/** More than any model reads. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** How long nothing may come before a person is told what is waited for. */
const WAIT_NOTE_MS = 3000;

/** The whole prompt; undefined where there is none. What is piped in stands behind the words, set apart from them. */
export async function readPrompt(context: CommandContext, words: readonly string[]): Promise<string | undefined> {
  const asked = words.join(" ").trim();
  const input = context.hasPipedInput() ? await readInput(context) : "";
  if (input.trim() === "") return asked === "" ? undefined : asked;
  return asked === "" ? input.trimEnd() : `${asked}\n\n<stdin>\n${input.trimEnd()}\n</stdin>`;
}

async function readInput({ io, signal, note }: CommandContext): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const timer = setTimeout(() => note("Waiting for the end of standard input…"), WAIT_NOTE_MS);
  try {
    for await (const chunk of addAbortSignal(signal, io.stdin)) {
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
