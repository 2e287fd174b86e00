// What was typed in chats, for the arrow keys of the next one: one JSON text per line, the newest last.
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, parseJson, systemCodeOf, writeFileAtomically } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

const MAX_ENTRIES = 1000;
/** How far the file may grow before it is cut. */
const MAX_LINES = 2 * MAX_ENTRIES;
/** A longer one is no line that somebody wants back by an arrow key. */
const MAX_ENTRY_CHARS = 20_000;

/** The entries of earlier chats and of this one. A file that cannot be used costs the history and nothing else. */
export class ChatHistory {
  readonly #context: CommandContext;
  readonly #path: string;
  readonly #entries: string[];

  private constructor(context: CommandContext, path: string, entries: string[]) {
    this.#context = context;
    this.#path = path;
    this.#entries = entries;
  }

  static async open(context: CommandContext): Promise<ChatHistory> {
    const path = join(context.home, "chat-history.jsonl");
    const history = new ChatHistory(context, path, []);
    await history.#attempt(async () => {
      const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
      const entries = lines.map((line) => parseJson(line)).filter((entry) => typeof entry === "string");
      history.#entries.push(...entries.slice(-MAX_ENTRIES));
      if (lines.length <= MAX_LINES) return;
      const kept = history.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
      await writeFileAtomically(path, kept, { mode: 0o600, folderMode: 0o700, forceMode: true });
    });
    return history;
  }

  /** The newest first, each once. */
  newestFirst(): string[] {
    return [...new Set(this.#entries.toReversed())];
  }

  /** Keeps an entry, known secrets taken out. */
  async add(text: string): Promise<void> {
    const entry = this.#context.redactor.text(text);
    if (entry.trim() === "" || entry.length > MAX_ENTRY_CHARS || entry === this.#entries.at(-1)) return;
    this.#entries.push(entry);
    await this.#attempt(async () => {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await appendFile(this.#path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT") this.#context.logger.warn("no history of chats", { code, error: messageOf(error) });
    }
  }
}
