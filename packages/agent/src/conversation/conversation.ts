// A conversation in a file, for `chat --resume`. JSONL, appended to message by message:
//
//   {"kind":"trunkline-conversation","version":1,"createdAt":"2026-11-15T06:00:00.000Z"}    the first line
//   {"type":"message","message":{"role":"user","parts":[…]}}
//   {"type":"clear"}                                                              nothing before it counts any more
//
// A killed process loses at most the turn that was running. Known secrets are taken out of what is written; in memory the
// conversation is as it was.
import { type Clock, Redactor, systemClock, TrunklineError } from "@trunkline/core";
import { closeOpenCalls } from "../loop/message-history.js";
import { toMessage } from "../model/message-schema.js";
import type { Message } from "../model/model.js";
import { JsonlFile, readJsonl } from "../record/jsonl-file.js";

const KIND = "trunkline-conversation";
const VERSION = 1;

/** How a conversation is opened. */
export interface ConversationOptions {
  /** Takes secrets out of what is written. */
  redactor?: Redactor | undefined;
  clock?: Clock | undefined;
}

/** A conversation that is kept. */
export class Conversation implements AsyncDisposable {
  readonly #file: JsonlFile;
  readonly #redactor: Redactor;
  #messages: Message[];

  private constructor(file: JsonlFile, messages: Message[], redactor: Redactor) {
    this.#file = file;
    this.#messages = messages;
    this.#redactor = redactor;
  }

  /**
   * Opens the conversation of a file, or begins one where there is none. Rejects with `CONFIG_INVALID` for a file that
   * holds something else, which is left as it is, and with `IO`.
   */
  static async open(path: string, options: ConversationOptions = {}): Promise<Conversation> {
    const { redactor = new Redactor(), clock = systemClock } = options;
    const messages = await Conversation.load(path).catch((error: unknown) => {
      if (error instanceof TrunklineError && error.code === "NOT_FOUND") return undefined;
      throw error;
    });
    const file = await JsonlFile.open(path);
    try {
      if (messages === undefined) {
        await file.append({ kind: KIND, version: VERSION, createdAt: new Date(clock.now()).toISOString() });
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Conversation(file, messages ?? [], redactor);
  }

  /** The messages of a file. Every call in them has a result. Rejects with `NOT_FOUND`, `CONFIG_INVALID`, `IO`. */
  static async load(path: string): Promise<Message[]> {
    const [head, ...lines] = await readJsonl(path);
    // An empty file was made by a process that was killed before its first line.
    if (head === undefined) throw new TrunklineError("NOT_FOUND", `There is no conversation in ${path}.`);
    if (head.value.kind !== KIND) throw new TrunklineError("CONFIG_INVALID", `${path} is not a conversation.`);
    if (head.value.version !== VERSION) {
      throw new TrunklineError(
        "CONFIG_INVALID",
        `${path} is a conversation of version ${String(head.value.version)}.`,
        {
          hint: "It was written by another version of Trunkline.",
        },
      );
    }
    let messages: Message[] = [];
    for (const { number, value } of lines) {
      if (value.type === "clear") messages = [];
      else if (value.type === "message") {
        const message = toMessage(value.message);
        if (message === undefined)
          throw new TrunklineError("CONFIG_INVALID", `Line ${number} of ${path} is no message.`);
        messages.push(message);
      }
    }
    return closeOpenCalls(messages);
  }

  /** Where it is kept. */
  get path(): string {
    return this.#file.path;
  }

  /** Everything that was said. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Adds messages; they are in memory at once, and on disk when the promise resolves. */
  async append(...messages: readonly Message[]): Promise<void> {
    this.#messages.push(...messages);
    await Promise.all(
      messages.map((message) => this.#file.append({ type: "message", message: this.#redactor.value(message) })),
    );
  }

  /** Begins anew, in the same file. */
  async clear(): Promise<void> {
    this.#messages = [];
    await this.#file.append({ type: "clear" });
  }

  /** Waits for what is being written. Idempotent. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
