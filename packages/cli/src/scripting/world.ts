// Backs the module `trunkline`: an App, opened on first use and closed when the program has nothing left to do. `run`
// configures it; in your own program it uses the default locations. It watches the process, because a script ends like
// any Node program.
import type { Hub, LoadedConfig } from "@trunkline/client";
import { messageOf, type ToolCallResult, TrunklineError } from "@trunkline/core";
import type { AnyStore } from "@trunkline/store";
import { type App, openApp } from "../app/app.js";
import { EXIT } from "../app/exit-codes.js";
import { type CommandContext, createContext } from "../terminal/context.js";
import { Interrupts } from "../terminal/interrupts.js";
import { processIo } from "../terminal/process-io.js";
import { held, holding, unreferenced } from "./lifeline.js";

interface WorldOptions {
  readonly context: CommandContext;
  /** The file given with `--mcp`. */
  readonly mcp?: string;
}

/** The parts, opened on demand. A part requested after closing is opened again. */
export class World {
  readonly #options: WorldOptions;
  #app: App | undefined;
  #hub: Hub | undefined;
  #closing: Promise<void> | undefined;
  #isAwaitingEnd = false;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get context(): CommandContext {
    return this.#options.context;
  }

  /** Returns the configuration the hub was opened with. */
  async config(): Promise<LoadedConfig> {
    return await this.#opened().config();
  }

  /** Opens the hub. The process waits for its calls, but not for its servers. */
  async hub(): Promise<Hub> {
    const app = this.#opened();
    const hub = await unreferenced(() => app.hub());
    if (this.#app !== app) return held(hub);
    this.#hub ??= held(hub);
    return this.#hub;
  }

  /** Runs a call and writes its line in the journal. */
  async journalled<Result extends ToolCallResult>(operation: string, run: () => Promise<Result>): Promise<Result> {
    const { journalled } = await import("../app/journalled-call.js");
    return await journalled(this.#opened(), operation, run);
  }

  async store(): Promise<AnyStore> {
    return await this.#opened().store();
  }

  /** Opens the store with the semantic search model, if installed. Loading it takes a moment. */
  async searchableStore(): Promise<AnyStore> {
    return await this.#opened().searchableStore();
  }

  /** Closes what is open, servers first. */
  close(): Promise<void> {
    this.#closing ??= holding(async () => {
      const app = this.#app;
      this.#app = undefined;
      this.#hub = undefined;
      await app?.close();
    }).finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  #opened(): App {
    if (this.context.signal.aborted) throw new TrunklineError("ABORTED", "The script was interrupted.");
    this.#closeAtTheEnd();
    this.#app ??= openApp(this.context, { mcp: this.#options.mcp, wanted: "unknown" });
    return this.#app;
  }

  #closeAtTheEnd(): void {
    if (this.#isAwaitingEnd) return;
    this.#isAwaitingEnd = true;
    // Fires when the event loop is empty, and again whenever it runs empty later.
    process.on("beforeExit", () => {
      if (this.#app === undefined) return;
      this.close().catch((error: unknown) => {
        this.context.note(`trunkline: ${messageOf(error)}`);
        process.exitCode ||= EXIT.failure;
      });
    });
  }
}

let current: World | undefined;

export function world(): World {
  current ??= new World({ context: createContext(processIo(new Interrupts())) });
  return current;
}

/** Configures the world. `run` calls this before the script is loaded. */
export function openWorld(options: WorldOptions): World {
  current = new World(options);
  return current;
}
