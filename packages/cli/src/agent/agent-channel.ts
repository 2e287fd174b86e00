// Answers servers' questions while an agent works. The answers come from the user at the terminal or, for sampling,
// from the model once the user has agreed.
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Model, TokenUsage } from "@trunkline/agent";
import { createChannel, type QuestionContext } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import type { AppChannel } from "../app/app-options.js";
import type { CommandContext } from "../terminal/context.js";
import { createTerminalChannel, messagesOf, nameOf, sayQuoted } from "../terminal/terminal-channel.js";
import { askWord } from "../terminal/terminal-form.js";
import { TerminalPrompt } from "../terminal/terminal-prompt.js";
import type { TerminalTurns } from "../terminal/terminal-turns.js";
import { answerSampling } from "./sampling.js";

interface AgentChannelOptions {
  /** Undefined if there is no terminal. */
  readonly terminal: TerminalTurns | undefined;
  /** The current model. */
  readonly model: () => Model;
  /** Called with the cost of each model answer. */
  readonly onUsage: (usage: TokenUsage) => void;
  /** Agrees to everything up front. */
  readonly yes: boolean;
  /** Folders that servers can see. */
  readonly roots: readonly string[] | undefined;
}

/** Creates the channel; undefined if no question can be answered. */
export function createAgentChannel(context: CommandContext, options: AgentChannelOptions): AppChannel | undefined {
  const { terminal, model, yes } = options;
  const roots = options.roots?.map((folder) => {
    const path = resolve(context.cwd, folder);
    return { uri: pathToFileURL(path).href, name: basename(path) || path };
  });
  const sample = async (params: Readonly<Record<string, unknown>>, asked: QuestionContext) => {
    if (!yes && terminal !== undefined) await terminal.take(() => agree(context, params, { asked, model: model() }));
    const signal = AbortSignal.any([context.signal, asked.signal]);
    return await answerSampling(model(), params, { signal, onUsage: options.onUsage });
  };
  const answers = { name: "agent", ...(roots === undefined ? {} : { roots: async () => roots }) };
  if (terminal === undefined) {
    return yes || roots !== undefined ? createChannel({ ...answers, ...(yes ? { sample } : {}) }) : undefined;
  }
  const person = createTerminalChannel(context);
  const agent = createChannel({ ...answers, sample });
  return {
    ...person,
    name: "agent",
    abilities: { ...person.abilities, ...agent.abilities },
    signIn: (request) => terminal.take(() => person.signIn(request)),
    ask: (question, asked) => {
      if (question.method !== "elicitation/create") return agent.ask(question, asked);
      return terminal.take(() => person.ask(question, asked));
    },
  };
}

/** Asks the user whether the model may answer. Throws `ABORTED` if not. */
async function agree(
  context: CommandContext,
  params: Readonly<Record<string, unknown>>,
  { asked, model }: { asked: QuestionContext; model: Model },
): Promise<void> {
  const signal = AbortSignal.any([context.signal, asked.signal]);
  signal.throwIfAborted();
  using prompt = new TerminalPrompt(context, signal);
  prompt.say(`${nameOf(asked)} wants to use the model (${model.id}):`);
  for (const { speaker, said } of messagesOf(params)) {
    prompt.say(`  ${speaker}:`);
    sayQuoted(prompt, said, "    ");
  }
  const word = await askWord(prompt, "Let the model answer?", { yes: /^y(es)?$/i, no: /^no?$/i });
  if (word !== "yes") throw new TrunklineError("ABORTED", "The user declined at the terminal.");
}
