// One question to the user at the terminal, with any number of lines. It is asked on stderr because stdout is for the
// result. One reader stays open for all lines, so text pasted all at once can fill several fields.
import { createInterface, type Interface } from "node:readline";
import type { CommandContext } from "./context.js";
import { dropTypedAhead, PromptScreen } from "./typed-ahead.js";

/** Why there are no more answers: Ctrl-C, Ctrl-D (or the end of input), or the question was withdrawn. */
type PromptEnding = "interrupted" | "ended" | "withdrawn";

export interface Prompt {
  say(line: string): void;
  /** Asks for one line; returns `undefined` once the prompt has ended. */
  ask(question: string): Promise<string | undefined>;
  /** Asks for one line that is typed after the question is shown: for everything that approves something. */
  askAfresh(question: string): Promise<string | undefined>;
}

/** Uses the terminal as a prompt for one question. Nothing else may read from the terminal in the meantime. */
export class TerminalPrompt implements Prompt, Disposable {
  readonly #context: CommandContext;
  readonly #signal: AbortSignal;
  readonly #screen: PromptScreen;
  readonly #reader: Interface;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #ending: PromptEnding | undefined;
  readonly #onAbort = () => this.#end("withdrawn");

  /** Aborting `signal` withdraws the question. */
  constructor(context: CommandContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
    this.#screen = new PromptScreen(context.io.stderr);
    this.#reader = createInterface({
      input: context.io.stdin,
      output: this.#screen,
      terminal: true,
      // Input typed for one server is not offered to the next.
      historySize: 0,
    });
    this.#reader.on("line", (line) => this.#onLine(line));
    // While the reader is active, Ctrl-C goes to it instead of signalling the process.
    this.#reader.on("SIGINT", () => this.#end("interrupted"));
    this.#reader.on("close", () => this.#end("ended"));
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#end("withdrawn");
    // An input that has already ended emits no further event.
    else if (context.io.stdin.readableEnded || context.io.stdin.destroyed) this.#end("ended");
  }

  /** Why `ask` returned `undefined`; `undefined` while the prompt is open. */
  get ending(): PromptEnding | undefined {
    return this.#ending;
  }

  say(line: string): void {
    this.#context.note(line);
  }

  async ask(question: string): Promise<string | undefined> {
    if (this.#ending !== undefined) return undefined;
    this.#reader.setPrompt(this.#context.redactor.text(question));
    this.#reader.prompt();
    const pasted = this.#lines.shift();
    if (pasted !== undefined) {
      this.#context.io.stderr.write(`${pasted}\n`);
      return pasted;
    }
    return await new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  async askAfresh(question: string): Promise<string | undefined> {
    if (this.#ending !== undefined) return undefined;
    await dropTypedAhead(this.#reader, { stdin: this.#context.io.stdin, screen: this.#screen });
    this.#lines.length = 0;
    return await this.ask(question);
  }

  [Symbol.dispose](): void {
    this.#end("withdrawn");
  }

  #onLine(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  #end(ending: PromptEnding): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#reader.close();
    if (this.#waiting === undefined) return;
    // The cursor is still after the question.
    this.#context.io.stderr.write("\n");
    this.#waiting(undefined);
    this.#waiting = undefined;
  }
}
