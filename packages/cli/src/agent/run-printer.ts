// What the user sees of a run: the answer on stdout, everything else on stderr.
import { type AgentEvent, addUsage, costOf, type Model, NO_USAGE, type TokenUsage } from "@trunkline/agent";
import { formatMs, printable, type Redactor } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { MarkdownStream } from "../terminal/markdown.js";
import { type ProgressLine, progressLineFor } from "../terminal/progress-line.js";
import { columnsOf } from "../terminal/text-width.js";

interface RunPrinterOptions {
  /** Print the answer as it arrives. Otherwise the command prints it once it is complete. */
  readonly stream: boolean;
  /** Show the model's thoughts. */
  readonly thoughts: boolean;
  /** One line per call instead of two. */
  readonly folded: boolean;
  /** Redacts values that must not appear in an answer. */
  readonly keys: Redactor;
  /** Clears the servers' progress line. */
  readonly clearProgress: () => void;
}

const MAX_ARGS_CHARS = 2000;
const MAX_OBSERVATION_CHARS = 2000;
const MAX_FOLDED_CHARS = 60;

export class RunPrinter {
  readonly #context: CommandContext;
  readonly #options: RunPrinterOptions;
  readonly #answer: PieceWriter;
  /** On a terminal, answers are rendered; elsewhere they are written as they are. */
  readonly #markdown: MarkdownStream | undefined;
  readonly #running: ProgressLine | undefined;
  readonly #calls = new Map<string, string>();
  /** Whether the model is at work and has shown nothing yet. */
  #isWaiting = false;
  #thought = "";
  #turnText = "";
  #turns = 0;
  #usage: TokenUsage = NO_USAGE;

  constructor(context: CommandContext, options: RunPrinterOptions) {
    this.#context = context;
    this.#options = options;
    const { stdout } = context.io;
    const write = (text: string) => void stdout.write(text);
    this.#markdown =
      stdout.isTTY === true
        ? new MarkdownStream({ write, columns: () => columnsOf(stdout), palette: context.palette })
        : undefined;
    this.#answer = new PieceWriter((text) => (this.#markdown ?? { add: write }).add(text), options.keys);
    this.#running = progressLineFor(context);
  }

  /** The text of the current or last turn. */
  get turnText(): string {
    return this.#turnText;
  }

  show(event: AgentEvent): void {
    const { depth } = event;
    if (event.type !== "reasoning") this.#endThought(depth);
    switch (event.type) {
      case "turn":
        if (depth === 0) this.#turnText = "";
        this.#turns++;
        this.#endAnswer();
        this.#isWaiting = true;
        this.#spin();
        break;
      case "text":
        if (depth > 0) break;
        this.#turnText += event.text;
        if (this.#options.stream) this.#stream(event.text);
        break;
      case "reasoning":
        this.#think(event.text, depth);
        break;
      case "restart":
        if (depth === 0) this.#turnText = "";
        this.#note(`note: ${event.reason} Ignore what was shown of this answer so far.`, depth);
        break;
      case "tool-call":
        this.#showCall(event);
        break;
      case "tool-result":
        this.#showResult(event);
        break;
      case "note":
        this.#note(`note: ${event.message}`, depth);
        break;
      case "usage":
        this.#usage = addUsage(this.#usage, event.usage);
        break;
    }
  }

  /** Prints a text answer, or the part that was not streamed. */
  end(text: string): void {
    this.clear();
    if (!this.#options.stream || this.#turnText.trim() !== text.trim()) {
      this.#endAnswer();
      this.#answer.add(text);
    }
    this.#endAnswer();
  }

  /** Ends unfinished output: the run was stopped or failed. */
  break(): void {
    this.#endThought(0);
    this.clear();
    this.#endAnswer();
  }

  /** Clears lines that are rewritten in place. */
  clear(): void {
    this.#isWaiting = false;
    this.#clearLines();
  }

  #clearLines(): void {
    this.#running?.clear();
    this.#options.clearProgress();
  }

  /** Shows that the model is at work. */
  #spin(): void {
    if (this.#isWaiting) this.#running?.spin("Thinking…");
  }

  #endAnswer(): void {
    this.#answer.flush({ endLine: true });
    this.#markdown?.end();
  }

  /** Suppresses lines that are rewritten in place while a question is on the screen. */
  hold(): Disposable {
    this.clear();
    this.#endAnswer();
    return this.#running?.hold() ?? { [Symbol.dispose]: () => {} };
  }

  /** Formats the cost of all runs so far as one line. */
  usageLine(model: Pick<Model, "provider" | "id">): string {
    const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = this.#usage;
    const cost = costOf(this.#usage, model);
    const parts = [
      `${inputTokens} input tokens${cachedInputTokens > 0 ? ` (${cachedInputTokens} cached)` : ""}`,
      `${outputTokens} output tokens${reasoningTokens > 0 ? ` (${reasoningTokens} for thinking)` : ""}`,
      `${this.#turns} ${this.#turns === 1 ? "turn" : "turns"}`,
      cost === undefined ? "unknown cost" : `about $${cost.toFixed(cost < 0.01 ? 6 : 4)}`,
    ];
    return `usage: ${parts.join(", ")} (${model.provider}/${model.id})`;
  }

  #stream(text: string): void {
    this.clear();
    this.#answer.add(text);
  }

  #think(text: string, depth: number): void {
    if (!this.#options.thoughts) return;
    this.#thought += text;
    const lines = this.#thought.split("\n");
    this.#thought = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") this.#note(`thought: ${line}`, depth);
  }

  #endThought(depth: number): void {
    if (this.#thought.trim() !== "") this.#note(`thought: ${this.#thought}`, depth);
    this.#thought = "";
  }

  #showCall({ id, title, args, depth }: Extract<AgentEvent, { type: "tool-call" }>): void {
    // Before it is cut: half a secret would not be recognised.
    const text = this.#context.redactor.text(typeof args === "string" ? args : (JSON.stringify(args) ?? ""));
    this.#isWaiting = false;
    if (!this.#options.folded) {
      this.#note(`tool: ${title} ${cut(text, MAX_ARGS_CHARS)}`, depth);
      this.#running?.spin(this.#context.redactor.text(printable(`${title} …`)));
      return;
    }
    const line = `tool: ${title} ${cut(text, MAX_FOLDED_CHARS)}`;
    this.#calls.set(id, line);
    this.#endAnswer();
    this.#running?.spin(this.#context.redactor.text(printable(`${line} …`)));
  }

  #showResult(event: Extract<AgentEvent, { type: "tool-result" }>): void {
    const { id, title, isError, durationMs, depth } = event;
    const text = this.#context.redactor.text(event.text);
    if (!this.#options.folded) {
      const [first = "", ...more] = cut(text, MAX_OBSERVATION_CHARS).split("\n");
      this.#note(`observation: ${isError ? "error: " : ""}${first}`, depth);
      for (const line of more) this.#note(`  ${line}`, depth);
      return;
    }
    const call = this.#calls.get(id) ?? `tool: ${title}`;
    this.#calls.delete(id);
    const [first = ""] = text.trimStart().split("\n");
    const outcome = isError ? `failed: ${cut(first, 2 * MAX_FOLDED_CHARS)}` : cut(first, MAX_FOLDED_CHARS);
    this.#note(`${call} → ${outcome} (${formatMs(durationMs)})`, depth);
  }

  /** Prints a line on stderr, below the output so far. */
  #note(line: string, depth: number): void {
    this.#clearLines();
    this.#endAnswer();
    this.#context.note(`${"  ".repeat(depth)}${printable(line)}`);
    this.#spin();
  }
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = /[\uD800-\uDBFF]/.test(text[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  return `${text.slice(0, end)}… (${text.length} characters)`;
}

/**
 * Writes text that arrives in pieces. A secret can be cut anywhere, so the last word is held back until it is complete.
 */
export class PieceWriter {
  readonly #write: (text: string) => void;
  readonly #redactor: Redactor;
  #pending = "";
  #written = "";

  constructor(write: (text: string) => void, redactor: Redactor) {
    this.#write = write;
    this.#redactor = redactor;
  }

  /** Whether the cursor is after text. */
  get isOpen(): boolean {
    return this.#written !== "" && !this.#written.endsWith("\n");
  }

  add(piece: string): void {
    const text = this.#pending + piece;
    const end = text.search(/\s\S*$/) + 1;
    this.#pending = text.slice(end);
    this.#put(text.slice(0, end));
  }

  /** Writes what is pending; with `endLine`, ends the line. */
  flush({ endLine = false }: { endLine?: boolean } = {}): void {
    this.#put(this.#pending);
    this.#pending = "";
    if (endLine && this.isOpen) this.#put("\n");
  }

  #put(text: string): void {
    if (text === "") return;
    this.#write(this.#redactor.text(text));
    this.#written = text;
  }
}
