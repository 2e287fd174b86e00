import type { AgentOptions } from "../../agent/agent-options.js";
import type { CommandContext } from "../../terminal/context.js";
import { answerOnce } from "../ask/run.js";

export interface AgentCommandOptions extends AgentOptions {
  words: readonly string[];
  name: string;
  /** False with `--no-delegate`. */
  delegate: boolean;
}

export async function agent(context: CommandContext, options: AgentCommandOptions): Promise<number> {
  const { name, words, ...rest } = options;
  return await answerOnce(context, words, { ...rest, name: "agent", agent: name, thoughts: name === "react" });
}
