// The line editor of a chat at a terminal. It owns the terminal only while it waits for an entry: between entries,
// servers can ask questions there and Ctrl-C stops a turn.
import { createInterface } from "node:readline";
import type { CommandContext } from "../terminal/context.js";
import { EntryReader } from "./chat-entry.js";
import { fromEditorLine, KeyStream, PasteReader, toEditorLine } from "./paste-input.js";

type Entry =
  | { readonly type: "text"; readonly text: string }
  /** Ctrl-C; `wasEmpty` says whether there was anything to discard. */
  | { readonly type: "interrupted"; readonly wasEmpty: boolean }
  /** Ctrl-D, or the terminal is gone. */
  | { readonly type: "ended" };

interface ChatEditorOptions {
  /** Earlier entries, newest first. */
  readonly history: () => readonly string[];
  /** What Tab completes at the start of a line. */
  readonly commands: readonly string[];
}

const PROMPT = "> ";
const CONTINUED = ". ";

export class ChatEditor {
  readonly #context: CommandContext;
  readonly #options: ChatEditorOptions;
  readonly #pastes = new PasteReader();
  /** Keys typed after the end of the last entry. */
  #ahead = "";

  constructor(context: CommandContext, options: ChatEditorOptions) {
    this.#context = context;
    this.#options = options;
  }

  async read(): Promise<Entry> {
    const { signal, env, io } = this.#context;
    const { stdin, stderr } = io;
    if (signal.aborted) return { type: "ended" };
    const keys = new KeyStream(stdin);
    const history = this.#options.history().map(toEditorLine);
    const reader = createInterface({
      input: keys,
      output: stderr,
      terminal: true,
      history,
      historySize: Math.max(history.length, 1) + 1,
      removeHistoryDuplicates: true,
      completer: (line: string) => [this.#completions(line), line],
    });
    const marksPastes = env.TERM !== "dumb";
    if (marksPastes) stderr.write("\u001b[?2004h");
    const lines = new EntryReader();
    let isOver = false;
    const pressAll = (text: string) => {
      this.#ahead += text;
      while (!isOver && this.#ahead !== "") {
        const end = this.#ahead.search(/[\r\n]/) + 1 || this.#ahead.length;
        const next = this.#ahead.slice(0, end);
        this.#ahead = this.#ahead.slice(end);
        keys.press(next);
      }
    };
    const onData = (chunk: Buffer | string) => pressAll(this.#pastes.read(chunk));
    const entry = await new Promise<Entry>((resolve) => {
      const end = (result: Entry) => {
        if (isOver) return;
        isOver = true;
        stdin.off("data", onData);
        stdin.off("end", onEnd);
        signal.removeEventListener("abort", onEnd);
        resolve(result);
      };
      const onEnd = () => end({ type: "ended" });
      reader.on("line", (line) => {
        const text = lines.add(fromEditorLine(line));
        if (text !== undefined) return end({ type: "text", text });
        reader.setPrompt(CONTINUED);
        reader.prompt();
      });
      reader.on("SIGINT", () => end({ type: "interrupted", wasEmpty: reader.line === "" && !lines.isOpen }));
      reader.on("close", onEnd);
      stdin.on("end", onEnd);
      signal.addEventListener("abort", onEnd, { once: true });
      reader.setPrompt(PROMPT);
      reader.prompt();
      stdin.on("data", onData);
      stdin.resume();
      pressAll("");
    });
    reader.close();
    stdin.pause();
    if (marksPastes) stderr.write("\u001b[?2004l");
    if (entry.type !== "text") stderr.write("\n");
    return entry;
  }

  #completions(line: string): string[] {
    return line.startsWith("/") ? this.#options.commands.filter((command) => command.startsWith(line)) : [];
  }
}
