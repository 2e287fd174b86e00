import { addAbortSignal } from "node:stream";
import { type Message, textMessage } from "@trunkline/agent";
import { abortError, TrunklineError } from "@trunkline/core";
import type { AgentOptions } from "../../agent/agent-options.js";
import { AgentSession, type SessionOptions } from "../../agent/agent-session.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";

export interface AskOptions extends AgentOptions {
  words: readonly string[];
}

/** More than any model reads. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** After this much silence, tell the user what the command is waiting for. */
const WAIT_NOTE_MS = 3000;

export async function ask(context: CommandContext, options: AskOptions): Promise<number> {
  return await answerOnce(context, options.words, { ...options, name: "ask", agent: "tools" });
}

/** Runs an agent on one prompt and prints its answer. A run that stops early counts as a failure. */
export async function answerOnce(
  context: CommandContext,
  words: readonly string[],
  options: SessionOptions,
): Promise<number> {
  const prompt = await readPrompt(context, words);
  if (prompt === undefined && options.replay === undefined) {
    throw new TrunklineError("USAGE", "There is nothing to ask.", {
      hint: `For example: trunkline ${options.name} "Which steps does a release have?"`,
    });
  }
  // A person reads along; a program waits for the end.
  const stream = options.stream ?? (options.format === "text" && context.io.stdout.isTTY === true);
  await using session = await AgentSession.open(context, { ...options, stream });
  const messages: readonly Message[] = prompt === undefined ? session.recordedPrompt : [textMessage("user", prompt)];
  try {
    const result = await session.run({ messages });
    session.printAnswer(result);
    if (session.neededSignIn !== undefined) throw session.neededSignIn;
    return result.ended === "answer" ? EXIT.success : EXIT.failure;
  } finally {
    session.printUsage();
  }
}

/** Builds the prompt from the words, followed by piped input, marked as such. Returns undefined if both are empty. */
async function readPrompt(context: CommandContext, words: readonly string[]): Promise<string | undefined> {
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
        throw new TrunklineError("USAGE", "Standard input is larger than 16 MiB.", {
          hint: "Add it to the store and ask about that: trunkline store add <path>",
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
