// Chat entries, for the arrow keys of the next chat: one JSON string per line, newest last.
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, parseJson, systemCodeOf, writeFileAtomically } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

const MAX_ENTRIES = 1000;
/** The file is trimmed when it reaches this size. */
const MAX_LINES = 2 * MAX_ENTRIES;
/** Longer entries are not worth recalling with an arrow key. */
const MAX_ENTRY_CHARS = 20_000;

/** The entries of earlier chats and of this one. If the file is unusable, only the history is lost. */
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

  /** Returns the entries, newest first, without duplicates. */
  newestFirst(): string[] {
    return [...new Set(this.#entries.toReversed())];
  }

  /** Saves an entry, with known secrets redacted. */
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
      if (code !== "ENOENT") this.#context.logger.warn("chat history unavailable", { code, error: messageOf(error) });
    }
  }
}
