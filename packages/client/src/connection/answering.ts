// Putting a server's question to the channel that it is for, and how often a server may ask.
import { type Logger, TrunklineError } from "@trunkline/core";
import type { Channel, QuestionContext, Root } from "../channel/channel.js";
import type { Call } from "../channel/in-flight.js";
import { answerQuestion, declinedAnswer, type Question } from "../channel/questions.js";

/** What answering needs to know. */
export interface AnsweringOptions {
  readonly server: string;
  readonly logger: Logger;
  /** More questions than this during one call are a server that asks for ever. */
  readonly maxQuestions: number;
  /** What there is for channels that have no roots of their own. */
  readonly roots: () => readonly Root[] | undefined;
}

/** The answers to one server. */
export class Answering {
  readonly #options: AnsweringOptions;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /** Puts a question to the channel of a call. The call's own time stands still meanwhile. */
  async ask(call: Call, question: Question, signal: AbortSignal, key?: string): Promise<Record<string, unknown>> {
    this.count(call);
    call.deadline.pause();
    try {
      const context = {
        server: this.#options.server,
        signal,
        ...(call.tool === undefined ? {} : { tool: call.tool }),
        ...(key === undefined ? {} : { key }),
      };
      return await this.#put(question, call.channel, context);
    } finally {
      call.deadline.resume();
    }
  }

  /** Puts a question that belongs to no call to a channel. */
  async askOutside(
    channel: Channel | undefined,
    question: Question,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    return await this.#put(question, channel, { server: this.#options.server, signal });
  }

  /** Counts a question of a call, and ends the call where that was one too many. */
  count(call: Call): void {
    const { server, maxQuestions } = this.#options;
    call.questions++;
    if (call.questions <= maxQuestions) return;
    const error = new TrunklineError(
      "PROTOCOL",
      `Server "${server}" asked more than ${maxQuestions} times during one call.`,
      {
        hint: "The call was ended: a server that never stops asking would hold it for ever.",
      },
    );
    call.deadline.fail(error);
    throw error;
  }

  async #put(
    question: Question,
    channel: Channel | undefined,
    context: QuestionContext,
  ): Promise<Record<string, unknown>> {
    const roots = question.method === "roots/list" ? this.#options.roots() : undefined;
    if (roots !== undefined && channel?.roots === undefined) return { roots };
    if (channel === undefined) return declinedAnswer(question.method);
    try {
      return await answerQuestion(channel, question, { ...context, logger: this.#options.logger });
    } catch (error) {
      // A server that has heard of other roots asks on its own, and the call that happened to be under way may be over before
      // its channel has answered.
      if (roots === undefined || context.signal.aborted) throw error;
      return { roots };
    }
  }
}
