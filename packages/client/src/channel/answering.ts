// Passes a server's question to the channel of its call. Elicitations are vetted first; everything else, and every valid
// answer, is passed on unchanged.
import { abortable, isRecord, type Logger, messageOf, TrunklineError, toOneLine } from "@trunkline/core";
import { isQuestionMethod, QUESTION_CAPABILITIES, RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Channel, Question, QuestionContext, Root } from "./channel.js";
import type { Call } from "./in-flight.js";
import { vetElicitation } from "./vetted-elicitation.js";

interface AnsweringOptions {
  readonly server: string;
  readonly logger: Logger;
  /** The maximum number of questions during one call. */
  readonly maxQuestions: number;
  /** Returns the roots for channels without their own. */
  readonly roots: () => readonly Root[] | undefined;
}

/** The code from the specification's example of a rejected sampling request. */
const REFUSED_CODE = -1;

/** Answers the questions of one server. */
export class Answering {
  readonly #options: AnsweringOptions;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /** Asks the channel of a call. The call's timeout is paused until it answers. */
  async ask(call: Call, question: Question, signal: AbortSignal, key?: string): Promise<Record<string, unknown>> {
    this.count(call);
    call.deadline.pause();
    const text = shortQuestion(question);
    call.open.add(text);
    try {
      return await this.#put(question, call.channel, {
        server: this.#options.server,
        signal,
        ...(call.tool === undefined ? {} : { tool: call.tool }),
        ...(key === undefined ? {} : { key }),
      });
    } finally {
      call.open.delete(text);
      call.deadline.resume();
    }
  }

  /** Asks a channel a question that belongs to no call. */
  async askOutside(
    channel: Channel | undefined,
    question: Question,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    return await this.#put(question, channel, { server: this.#options.server, signal });
  }

  /** Answers a question if there is no channel to ask, or if it is unclear which one. */
  decline(method: string): Record<string, unknown> {
    if (method === "elicitation/create") return { action: "decline" };
    throw refusal("No client can be asked right now.");
  }

  /** Counts a question of a call, and ends the call if it exceeds the limit. */
  count(call: Call): void {
    const { server, maxQuestions } = this.#options;
    call.questions++;
    if (call.questions <= maxQuestions) return;
    const error = new TrunklineError(
      "PROTOCOL",
      `Server "${server}" asked more than ${maxQuestions} questions during one call.`,
      {
        hint: "The call was stopped because a server that never stops asking would block it forever.",
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
    if (!isQuestionMethod(method)) throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    if (!accepts(channel, question)) {
      if (method === "elicitation/create") return { action: "decline" };
      throw refusal(method === "roots/list" ? "No roots are available." : "The client does not support sampling.");
    }
    const asked = method === "elicitation/create" ? this.#vetted(question, channel) : question;
    if (asked === undefined) return { action: "decline" };
    try {
      // A channel that declares abilities has `ask`.
      const asking = (channel as Required<Channel>).ask(asked, context);
      return checked(method, await abortable(context.signal, asking));
    } catch (error) {
      // A server notified of changed roots asks for them on its own, and the running call can end before its channel
      // answers.
      if (roots !== undefined && !context.signal.aborted) return { roots };
      if (error instanceof RpcError) throw error;
      const from = { server: context.server, method, channel: channel.name };
      this.#options.logger.warn("a question was not answered", { ...from, error: messageOf(error) });
      if (method === "elicitation/create") return { action: "cancel" };
      throw refusal("The question was not answered.");
    }
  }

  /** Returns the elicitation as it may be shown; undefined if it must not be shown at all. */
  #vetted({ method, params = {} }: Question, channel: Channel): Question | undefined {
    const { server, logger } = this.#options;
    const vetted = vetElicitation(params, server);
    if ("params" in vetted) return { method, params: vetted.params };
    const reason = `Trunkline declined a question of this server: it ${vetted.refused}.`;
    logger.warn("declined an unsafe question", { server, reason: vetted.refused });
    channel.log?.({ server, level: "warning", data: reason });
    return undefined;
  }
}

const LONGEST_SHOWN = 80;

/** A question in a few words, for the callers that have to wait for its answer. */
function shortQuestion({ method, params = {} }: Question): string {
  if (method !== "elicitation/create" || typeof params.message !== "string") return method;
  const text = toOneLine(params.message);
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}

/** Whether the channel can answer a question. Elicitation modes are declared individually. */
function accepts({ abilities = {} }: Channel, { method, params = {} }: Question): boolean {
  if (!isQuestionMethod(method)) return false;
  if (method !== "elicitation/create") return abilities[QUESTION_CAPABILITIES[method]] !== undefined;
  return params.mode === "url"
    ? abilities.elicitation?.url !== undefined && typeof params.url === "string"
    : abilities.elicitation?.form !== undefined && isRecord(params.requestedSchema);
}

/** Returns the answer if its shape is valid. The server validates the fields of a form. */
function checked(method: string, answer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isAnswer =
    method === "elicitation/create"
      ? ["accept", "decline", "cancel"].includes(String(answer.action))
      : method !== "roots/list" || Array.isArray(answer.roots);
  if (!isAnswer) throw new TrunklineError("PROTOCOL", `Invalid answer to ${method}.`);
  return { ...answer };
}

function refusal(message: string): RpcError {
  return new RpcError(REFUSED_CODE, message);
}
