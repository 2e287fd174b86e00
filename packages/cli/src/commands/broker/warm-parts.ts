// What the broker keeps open between commands and clients.
import { ConnectionPool } from "@trunkline/client";
import { type Embedder, type Logger, messageOf, type Redactor } from "@trunkline/core";
import type { AskThrough, CallRecorder } from "@trunkline/gateway";
import type { AnyStore } from "@trunkline/store";
import { CallRecordings } from "../../console/call-recordings.js";
import { QuestionBoard } from "../../console/question-board.js";
import type { ConsolePerson, SharedParts, StoreKey } from "../../terminal/shared-parts.js";

/** The parts of one broker, each opened once. */
export class WarmParts implements SharedParts {
  readonly connections: ConnectionPool;
  /** What waits for a person, in all workspaces. */
  readonly questions = new QuestionBoard();
  readonly recordings = new CallRecordings();
  /** Opens the console, if it is not open yet. */
  onConsole: (person: ConsolePerson) => Promise<string> = () => Promise.reject(new Error("no console"));
  readonly #logger: Logger;
  readonly #stores = new Map<string, Promise<AnyStore>>();
  #embedder: Promise<Embedder | undefined> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.connections = new ConnectionPool({ logger });
  }

  /** Where the open stores are, to show. */
  get storePlaces(): readonly string[] {
    const keys = [...this.#stores.keys()].map((key) => JSON.parse(key) as StoreKey); // As written by `store`.
    return keys.map(({ folder, place }) => place ?? folder);
  }

  store(key: StoreKey, open: () => Promise<AnyStore>): Promise<AnyStore> {
    const text = JSON.stringify(key);
    const known = this.#stores.get(text);
    if (known !== undefined) return known;
    const opening = open();
    this.#stores.set(text, opening);
    // The next one may have more luck.
    opening.catch(() => this.#stores.delete(text));
    return opening;
  }

  embedder(open: () => Promise<Embedder | undefined>): Promise<Embedder | undefined> {
    this.#embedder ??= open().then(
      (embedder) => {
        // It may be installed later.
        if (embedder === undefined) this.#embedder = undefined;
        return embedder;
      },
      (error: unknown) => {
        this.#embedder = undefined;
        throw error;
      },
    );
    return this.#embedder;
  }

  askThrough(folder: string): AskThrough {
    return this.questions.through(folder);
  }

  recorder(workspace: string, redactor: Redactor): CallRecorder {
    return this.recordings.recorder(workspace, redactor);
  }

  async consoleLink(person: ConsolePerson): Promise<string> {
    return await this.onConsole(person);
  }

  async close(): Promise<void> {
    await this.connections
      .close()
      .catch((error: unknown) => this.#logger.error("a server was not closed", { error: messageOf(error) }));
    const stores = [...this.#stores.values()];
    this.#stores.clear();
    for (const outcome of await Promise.allSettled(stores)) {
      if (outcome.status === "fulfilled") {
        await outcome.value
          .close()
          .catch((error: unknown) => this.#logger.error("a store was not closed", { error: messageOf(error) }));
      }
    }
    const embedder = await this.#embedder?.catch(() => undefined);
    await embedder?.[Symbol.asyncDispose]();
  }
}
