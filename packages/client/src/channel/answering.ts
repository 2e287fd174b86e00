// Putting a server's question to the channel that it is for. The question and its answer pass as they are; only what could
// not be an answer is kept back.
import { ProtocolError } from "@modelcontextprotocol/client";
import { abortable, isRecord, type Logger, messageOf, TrunklineError } from "@trunkline/core";
import { isQuestionMethod, QUESTION_CAPABILITIES, RPC_CODES } from "@trunkline/protocol";
import type { Channel, Question, QuestionContext, Root } from "./channel.js";
import type { Call } from "./in-flight.js";

/** What answering needs to know. */
interface AnsweringOptions {
  readonly server: string;
  readonly logger: Logger;
  /** The limit of questions during one call. */
  readonly maxQuestions: number;
  /** The roots for channels that have none of their own. */
  readonly roots: () => readonly Root[] | undefined;
}

/** The code that the specification's own example gives for a refused sampling request. */
const REFUSED_CODE = -1;

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
      return await this.#put(question, call.channel, {
        server: this.#options.server,
        signal,
        ...(call.tool === undefined ? {} : { tool: call.tool }),
        ...(key === undefined ? {} : { key }),
      });
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

  /** The answer if there is nobody to ask, or no telling whom. */
  decline(method: string): Record<string, unknown> {
    if (method === "elicitation/create") return { action: "decline" };
    throw refusal("Nobody can be asked now.");
  }

  /** Counts a question of a call, and ends the call if that was one too many. */
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
    const { method } = question;
    const roots = method === "roots/list" ? this.#options.roots() : undefined;
    if (roots !== undefined && channel?.abilities?.roots === undefined) return { roots };
    if (channel === undefined) return this.decline(method);
    if (!isQuestionMethod(method)) throw new ProtocolError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    if (!accepts(channel, question)) {
      if (method === "elicitation/create") return { action: "decline" };
      throw refusal(method === "roots/list" ? "There are no roots." : "Nobody here can sample from a model.");
    }
    try {
      // A channel that says what it can answer has `ask`.
      const asking = (channel as Required<Channel>).ask(question, context);
      return checked(method, await abortable(context.signal, asking));
    } catch (error) {
      // A server that has heard of other roots asks on its own, and the call that happened to be under way may be over before
      // its channel has answered.
      if (roots !== undefined && !context.signal.aborted) return { roots };
      if (error instanceof ProtocolError) throw error;
      const from = { server: context.server, method, channel: channel.name };
      this.#options.logger.warn("a question was not answered", { ...from, error: messageOf(error) });
      if (method === "elicitation/create") return { action: "cancel" };
      throw refusal("The question was not answered.");
    }
  }
}

/** Modes of elicitation are declared one by one. */
function accepts({ abilities = {} }: Channel, { method, params = {} }: Question): boolean {
  if (!isQuestionMethod(method)) return false;
  if (method !== "elicitation/create") return abilities[QUESTION_CAPABILITIES[method]] !== undefined;
  return params.mode === "url"
    ? abilities.elicitation?.url !== undefined && typeof params.url === "string"
    : abilities.elicitation?.form !== undefined && isRecord(params.requestedSchema);
}

/** The answer, unless it means nothing to whoever asked. The fields of a form are the server's to check. */
function checked(method: string, answer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isAnswer =
    method === "elicitation/create"
      ? ["accept", "decline", "cancel"].includes(String(answer.action))
      : method !== "roots/list" || Array.isArray(answer.roots);
  if (!isAnswer) throw new TrunklineError("PROTOCOL", `The answer to ${method} is not one.`);
  return { ...answer };
}

function refusal(message: string): ProtocolError {
  return new ProtocolError(REFUSED_CODE, message);
}
