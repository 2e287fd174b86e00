import { type Message, textMessage } from "@trunkline/agent";
import { TrunklineError } from "@trunkline/core";
import type { AgentOptions } from "../../agent/agent-options.js";
import { AgentSession, type SessionOptions } from "../../agent/agent-session.js";
import { readPrompt } from "../../agent/read-prompt.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";

/** Options of `trunkline ask`. */
export interface AskOptions extends AgentOptions {
  words: readonly string[];
}

/** One question, one answer. */
export async function ask(context: CommandContext, options: AskOptions): Promise<number> {
  return await answerOnce(context, options.words, { ...options, name: "ask", agent: "tools" });
}

/** Lets an agent work on one prompt and prints what it answers. A run that had to stop before the end is a failure. */
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
  await using session = await AgentSession.open(context, options);
  const messages: readonly Message[] = prompt === undefined ? session.recordedPrompt : [textMessage("user", prompt)];
  try {
    const result = await session.run({ messages });
    session.printAnswer(result);
    return result.ended === "answer" ? EXIT.success : EXIT.failure;
  } finally {
    session.printUsage();
  }
}
