// A channel for programs whose user answers later and elsewhere: on a web page, in a chat, in a test. Questions wait in
// a queue until the program takes them, and stay open until they are answered or withdrawn, or the queue is closed.
import { randomUUID } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import { type FieldValue, readFormFields, validateForm } from "@trunkline/core/schema";
import type { CallProgress, Channel, QuestionContext, ServerLog } from "./channel.js";
import {
  createChannel,
  type Elicitation,
  type ElicitationAnswer,
  type FormElicitation,
  type UrlElicitation,
} from "./typed-channel.js";

/**
 * Common to all waiting questions. `answer`, `decline` and `cancel` settle the question and return true; if it was
 * already settled or withdrawn, they do nothing and return false.
 */
interface QueuedQuestionCommon {
  /** Unguessable, so it can be part of a page's URL. */
  readonly id: string;
  /** Who is asking, and during which call. Its signal aborts when the question no longer matters. */
  readonly context: QuestionContext;
  /** Call this when the user says no. */
  decline(): boolean;
  /** Call this when the user dismisses the question without an answer. */
  cancel(): boolean;
}

/** A form to fill in. `readFormFields` reads its fields. */
export interface QueuedForm extends QueuedQuestionCommon {
  readonly kind: "form";
  readonly request: FormElicitation;
  /**
   * Submits the answers. Omitted fields get their defaults. Throws `INVALID_ARGUMENT` for answers the form does not
   * allow, with the problems by field in `data.problems`; the question then stays open.
   */
  answer(content: Readonly<Record<string, FieldValue>>): boolean;
}

/** A URL to visit. */
interface QueuedUrl extends QueuedQuestionCommon {
  readonly kind: "url";
  readonly request: UrlElicitation;
  /** Call this when the user agrees to visit the URL; the server notices when they have finished. */
  answer(): boolean;
}

/** Messages for a model to complete. */
interface QueuedSample extends QueuedQuestionCommon {
  readonly kind: "sample";
  /** The request's parameters, as the server sent them. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Submits the result as the protocol defines it: role, model, content. */
  answer(result: Readonly<Record<string, unknown>>): boolean;
}

export type QueuedQuestion = QueuedForm | QueuedUrl | QueuedSample;

interface QueueChannelOptions {
  /** For logs. */
  name?: string;
  /** The kinds of question it accepts, which are advertised to servers. Default: all. */
  kinds?: readonly QueuedQuestion["kind"][];
  log?: (message: ServerLog) => void;
  progress?: (progress: CallProgress) => void;
}

/** A channel and its queue. */
export interface QueueChannel extends Disposable {
  /** For `openHub` or `hub.withChannel`. */
  readonly channel: Channel;
  /**
   * The questions in order of arrival; ends with `close()`. Every question is delivered once, even to several loops. A
   * question withdrawn before it is taken is not delivered.
   */
  readonly questions: AsyncIterable<QueuedQuestion>;
  /** The open questions by id, taken or not, for a program that receives an answer with only the id. */
  readonly pending: ReadonlyMap<string, QueuedQuestion>;
  /** Cancels every open question, and any later one immediately. Idempotent. */
  close(): void;
}

/**
 * Creates a channel whose questions a program takes from a queue.
 *
 * ```ts
 * using queue = createQueueChannel();
 * const call = hub.withChannel(queue.channel, () => hub.call("docs.ask"));
 * for await (const question of queue.questions) {
 *   if (question.kind === "form") question.answer({ name: "Ada" });
 *   else question.decline();
 * }
 * ```
 */
export function createQueueChannel(options: QueueChannelOptions = {}): QueueChannel {
  const { name = "queue", kinds = ["form", "url", "sample"], log, progress } = options;
  const queue = new QuestionQueue();
  const modes = (["form", "url"] as const).filter((mode) => kinds.includes(mode));
  return {
    channel: createChannel({
      name,
      ...(modes.length === 0 ? {} : { elicitationModes: modes, elicit: queue.elicit }),
      ...(kinds.includes("sample") ? { sample: queue.sample } : {}),
      log,
      progress,
    }),
    questions: queue,
    pending: queue.pending,
    close: () => queue.close(),
    [Symbol.dispose]: () => queue.close(),
  };
}

/** How a question ends: with a reply to the server, or with no server left to reply to. */
interface Settlement<T> {
  resolve(answer: T): boolean;
  reject(reason: unknown): boolean;
}

class QuestionQueue implements AsyncIterable<QueuedQuestion> {
  /** In order of arrival. */
  readonly pending = new Map<string, QueuedQuestion>();
  readonly #untaken = new Set<QueuedQuestion>();
  readonly #takers: ((result: IteratorResult<QueuedQuestion>) => void)[] = [];
  #closed = false;

  readonly elicit = async (request: Elicitation, context: QuestionContext): Promise<ElicitationAnswer> => {
    if (this.#closed) return { action: "cancel" };
    return await this.#wait<ElicitationAnswer>(context, (common, { resolve }) => {
      const base = {
        ...common,
        decline: () => resolve({ action: "decline" }),
        cancel: () => resolve({ action: "cancel" }),
      };
      if (request.mode === "url") return { ...base, kind: "url", request, answer: () => resolve({ action: "accept" }) };
      return {
        ...base,
        kind: "form",
        request,
        answer: (content) => {
          requireValid(request, content);
          return resolve({ action: "accept", content });
        },
      };
    });
  };

  readonly sample = async (
    request: Readonly<Record<string, unknown>>,
    context: QuestionContext,
  ): Promise<Readonly<Record<string, unknown>>> => {
    if (this.#closed) throw refused("The question queue is closed.");
    return await this.#wait<Readonly<Record<string, unknown>>>(context, (common, { resolve, reject }) => ({
      ...common,
      kind: "sample",
      request,
      answer: resolve,
      decline: () => reject(refused("The request was declined.")),
      cancel: () => reject(refused("The request was cancelled.")),
    }));
  };

  close(): void {
    this.#closed = true;
    for (const question of [...this.pending.values()]) question.cancel();
    for (const take of this.#takers.splice(0)) take({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<QueuedQuestion> {
    return { next: () => this.#next(), return: async () => ({ done: true, value: undefined }) };
  }

  async #next(): Promise<IteratorResult<QueuedQuestion>> {
    const [question] = this.#untaken;
    if (question !== undefined) {
      this.#untaken.delete(question);
      return { done: false, value: question };
    }
    if (this.#closed) return { done: true, value: undefined };
    return await new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Adds a question to the queue and waits until it is settled or no longer needed. */
  async #wait<T>(
    context: QuestionContext,
    make: (common: { id: string; context: QuestionContext }, settlement: Settlement<T>) => QueuedQuestion,
  ): Promise<T> {
    const { signal } = context;
    signal.throwIfAborted();
    return await new Promise<T>((resolve, reject) => {
      const id = randomUUID();
      const settle = (end: () => void) => {
        if (!this.pending.delete(id)) return false;
        this.#untaken.delete(question);
        signal.removeEventListener("abort", onAbort);
        end();
        return true;
      };
      const onAbort = () => void settle(() => reject(signal.reason));
      const question = make(
        { id, context },
        {
          resolve: (answer) => settle(() => resolve(answer)),
          reject: (reason) => settle(() => reject(reason)),
        },
      );
      this.pending.set(id, question);
      signal.addEventListener("abort", onAbort, { once: true });
      const take = this.#takers.shift();
      if (take === undefined) this.#untaken.add(question);
      else take({ done: false, value: question });
    });
  }
}

function requireValid(request: FormElicitation, content: Readonly<Record<string, FieldValue>>): void {
  const problems = validateForm(readFormFields(request.requestedSchema), content);
  const lines = Object.entries(problems).map(([name, problem]) => `${name}: ${problem}`);
  if (lines.length === 0) return;
  throw new TrunklineError("INVALID_ARGUMENT", `The answer does not match the form. ${lines.join(" ")}`, {
    hint: "The question is still open: answer it again, decline it or cancel it.",
    data: { problems },
  });
}

function refused(message: string): TrunklineError {
  return new TrunklineError("ABORTED", message);
}
