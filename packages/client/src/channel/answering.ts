// Passes a server's question to the channel of its call. Elicitations are vetted first; everything else, and every valid
// answer, is passed on unchanged.
import { abortable, firstChars, isRecord, type Logger, messageOf, TrunklineError, toOneLine } from "@trunkline/core";
import { isQuestionMethod, QUESTION_CAPABILITIES, RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Channel, Question, QuestionContext } from "./channel.js";
import type { Call } from "./in-flight.js";
import type { Leaseholder } from "./leaseholder.js";
import { vetElicitation } from "./vetted-elicitation.js";

/** Who is asked. */
interface Asked {
  readonly holder: Leaseholder;
  readonly channel: Channel | undefined;
}

/** The code from the specification's example of a rejected sampling request. */
const REFUSED_CODE = -1;

/** Answers the questions of one server. */
export class Answering {
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
  }

  /**
   * Asks the client that made the first of these calls, which one of them has caused. If the call through which it was
   * asked ends first, the question was another one's: asks again through that.
   */
  async askFor(
    calls: () => readonly Call[],
    question: Question,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    for (;;) {
      // The last one to begin is likely to be the last one to end.
      const call = calls().at(-1);
      if (call === undefined) return this.notAsked(question.method);
      const answer = await this.#ask(call, question, { signal, hasEnded: () => !calls().includes(call) });
      if (answer !== undefined) return answer;
    }
  }

  /** Asks the channel of a call. The call's timeout is paused until it answers. */
  async ask(call: Call, question: Question, signal: AbortSignal, key?: string): Promise<Record<string, unknown>> {
    return (await this.#ask(call, question, { signal, key })) ?? this.notAsked(question.method);
  }

  /** Returns undefined if the call has ended before there was an answer. */
  async #ask(
    call: Call,
    question: Question,
    options: { signal: AbortSignal; key?: string; hasEnded?: () => boolean },
  ): Promise<Record<string, unknown> | undefined> {
    const { signal, key, hasEnded } = options;
    this.count(call);
    call.deadline.pause();
    const text = shortQuestion(question);
    call.open.add(text);
    try {
      const context = {
        server: this.#server,
        signal,
        tool: call.tool,
        key,
      };
      return await this.#put(question, call, context, hasEnded);
    } finally {
      call.open.delete(text);
      call.deadline.resume();
    }
  }

  /** Asks a channel of a holder a question that belongs to no call. */
  async askOutside(asked: Asked, question: Question, signal: AbortSignal): Promise<Record<string, unknown>> {
    return (await this.#put(question, asked, { server: this.#server, signal })) ?? this.notAsked(question.method);
  }

  /** Answers a question if there is no channel to ask, or if it is unclear which one: no user has declined anything. */
  notAsked(method: string): Record<string, unknown> {
    if (method === "elicitation/create") return { action: "cancel" };
    throw refusal("No client can be asked right now.");
  }

  /** Counts a question of a call, and ends the call if it exceeds the limit. */
  count(call: Call): void {
    const server = this.#server;
    const { maxQuestions } = call.holder;
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
    { holder, channel }: Asked,
    context: QuestionContext,
    hasEnded?: () => boolean,
  ): Promise<Record<string, unknown> | undefined> {
    const { method } = question;
    const roots = method === "roots/list" ? holder.roots() : undefined;
    if (roots !== undefined && channel?.abilities?.roots === undefined) return { roots };
    if (channel === undefined) return this.notAsked(method);
    if (!isQuestionMethod(method)) throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    if (!accepts(channel, question)) {
      if (method === "elicitation/create") return this.notAsked(method);
      throw refusal(method === "roots/list" ? "No roots are available." : "The client does not support sampling.");
    }
    const asked = method === "elicitation/create" ? this.#vetted(question, channel, holder.logger) : question;
    if (asked === undefined) return { action: "decline" };
    try {
      // A channel that declares abilities has `ask`.
      const asking = (channel as Required<Channel>).ask(asked, context);
      return checked(method, await abortable(context.signal, asking));
    } catch (error) {
      if (!context.signal.aborted && hasEnded?.()) return undefined;
      // A server notified of changed roots asks for them on its own, and the running call can end before its channel
      // answers.
      if (roots !== undefined && !context.signal.aborted) return { roots };
      if (error instanceof RpcError) throw error;
      const from = { server: context.server, method, channel: channel.name };
      holder.logger.warn("a question was not answered", { ...from, error: messageOf(error) });
      if (method === "elicitation/create") return { action: "cancel" };
      throw refusal("The question was not answered.");
    }
  }

  /** Returns the elicitation as it may be shown; undefined if it must not be shown at all. */
  #vetted({ method, params = {} }: Question, channel: Channel, logger: Logger): Question | undefined {
    const server = this.#server;
    const vetted = vetElicitation(params, server);
    if ("params" in vetted) return { method, params: vetted.params };
    const reason = `Trunkline declined a question of this server: it ${vetted.refused}.`;
    logger.warn("declined an unsafe question", { server, reason: vetted.refused });
    channel.log?.({ server, level: "warning", data: reason });
    return undefined;
  }
}

const LONGEST_SHOWN = 80;

/** A question in a few words, for the holders that have to wait for its answer. */
function shortQuestion({ method, params = {} }: Question): string {
  if (method !== "elicitation/create" || typeof params.message !== "string") return method;
  return firstChars(toOneLine(params.message), LONGEST_SHOWN);
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
