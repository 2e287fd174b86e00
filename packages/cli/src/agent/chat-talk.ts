// A running conversation: turn by turn, each message saved once it is complete.
import { Conversation, createFrameKey, type Message, messageText, textMessage } from "@trunkline/agent";
import type { CommandContext } from "../terminal/context.js";
import type { AgentSession } from "./agent-session.js";
import type { ChatFile } from "./chat-files.js";

/** A conversation with a model. Its file is created with the first message. */
export class ChatTalk implements AsyncDisposable {
  readonly file: ChatFile;
  readonly #context: CommandContext;
  readonly #session: AgentSession;
  /** One key for all turns: earlier results are still framed. */
  readonly #frameKey = createFrameKey();
  #conversation: Conversation | undefined;

  constructor(context: CommandContext, session: AgentSession, file: ChatFile) {
    this.#context = context;
    this.#session = session;
    this.file = file;
  }

  get isEmpty(): boolean {
    return (this.#conversation?.messages.length ?? 0) === 0;
  }

  /** Loads the messages of an earlier chat. */
  async resume(): Promise<readonly Message[]> {
    return (await this.#open()).messages;
  }

  /** Starts over. */
  async clear(): Promise<void> {
    await this.#conversation?.clear();
  }

  /**
   * Sends the user's message and prints the model's answer. Ctrl-C first cancels running calls, then ends the turn;
   * everything said so far is kept. Rejects with the model's error, and keeps the user's message.
   */
  async say(text: string): Promise<"answered" | "unfinished" | "stopped"> {
    const { signal: ending } = this.#context;
    const conversation = await this.#open();
    await conversation.append(textMessage("user", text));
    const stop = new AbortController();
    const writing: Promise<void>[] = [];
    let lastSaid = "";
    // Adds to the session's own handler, which runs first and cancels running calls.
    using _interrupts = this.#context.interrupts.take(() => {
      if (stop.signal.aborted) return false;
      stop.abort("SIGINT");
      return true;
    });
    try {
      const result = await this.#session.run({
        messages: [...conversation.messages],
        frameKey: this.#frameKey,
        signal: AbortSignal.any([ending, stop.signal]),
        onMessage: (message) => {
          if (message.role === "assistant") lastSaid = messageText(message);
          writing.push(conversation.append(message));
        },
      });
      this.#session.printAnswer(result);
      return result.ended === "answer" ? "answered" : "unfinished";
    } catch (error) {
      const { turnText } = this.#session.printer;
      if (turnText.trim() !== "" && turnText !== lastSaid) {
        writing.push(conversation.append(textMessage("assistant", `${turnText.trimEnd()} […]`)));
      }
      if (!stop.signal.aborted || ending.aborted) throw error;
      return "stopped";
    } finally {
      await Promise.all(writing);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#conversation?.close();
  }

  async #open(): Promise<Conversation> {
    this.#conversation ??= await Conversation.open(this.file.path, { redactor: this.#context.redactor });
    return this.#conversation;
  }
}
