// A conversation saved to a file, for `chat --resume`. JSONL, appended message by message:
//
//   {"kind":"trunkline-conversation","version":1,"createdAt":"2026-11-15T06:00:00.000Z"}    the first line
//   {"type":"message","message":{"role":"user","parts":[…]}}
//   {"type":"clear"}                                                              discards everything before it
//
// A killed process loses at most the running turn. Known secrets are redacted in the file; the conversation in memory
// is unchanged.
import { type Clock, Redactor, systemClock, TrunklineError } from "@trunkline/core";
import { closeOpenCalls } from "../loop/message-history.js";
import { toMessage } from "../model/message-schema.js";
import type { Message } from "../model/model.js";
import { JsonlFile, readJsonl } from "../record/jsonl-file.js";

const KIND = "trunkline-conversation";
const VERSION = 1;

export interface ConversationOptions {
  /** Redacts secrets before they are written. */
  redactor?: Redactor | undefined;
  clock?: Clock | undefined;
}

/** A conversation that is saved to a file. */
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
   * Opens the conversation in a file, or starts one if the file does not exist. Rejects with `CONFIG_INVALID` if the
   * file holds something else (the file is not touched), and with `IO`.
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

  /**
   * Reads the messages from a file; every call in them has a result. Rejects with `NOT_FOUND`, `CONFIG_INVALID` or
   * `IO`.
   */
  static async load(path: string): Promise<Message[]> {
    const [head, ...lines] = await readJsonl(path);
    // An empty file comes from a process that was killed before it wrote its first line.
    if (head === undefined) throw new TrunklineError("NOT_FOUND", `${path} is empty: it has no conversation.`);
    if (head.value.kind !== KIND) throw new TrunklineError("CONFIG_INVALID", `${path} is not a conversation.`);
    if (head.value.version !== VERSION) {
      throw new TrunklineError(
        "CONFIG_INVALID",
        `${path} is a conversation in format version ${String(head.value.version)}, which this version cannot read.`,
        {
          hint: "Use the version of Trunkline that wrote it, or start a new conversation.",
        },
      );
    }
    let messages: Message[] = [];
    for (const { number, value } of lines) {
      if (value.type === "clear") messages = [];
      else if (value.type === "message") {
        const message = toMessage(value.message);
        if (message === undefined)
          throw new TrunklineError("CONFIG_INVALID", `Line ${number} of ${path} is not a message.`);
        messages.push(message);
      }
    }
    return closeOpenCalls(messages);
  }

  get path(): string {
    return this.#file.path;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Adds messages: to memory immediately, to disk when the promise resolves. */
  async append(...messages: readonly Message[]): Promise<void> {
    this.#messages.push(...messages);
    await Promise.all(
      messages.map((message) => this.#file.append({ type: "message", message: this.#redactor.value(message) })),
    );
  }

  /** Starts over, in the same file. */
  async clear(): Promise<void> {
    this.#messages = [];
    await this.#file.append({ type: "clear" });
  }

  /** Waits for pending writes. Idempotent. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
