// What stands behind the module `trunkline`: configuration, hub and store, opened at the first use and closed when the
// program has nothing left to do. `run` says how; in a program of one's own the usual places are used.
import type { Hub } from "@trunkline/client";
import { type Embedder, messageOf, TrunklineError } from "@trunkline/core";
import type { Store } from "@trunkline/store";
import { EXIT } from "../exit-codes.js";
import type { OpenedHub } from "../open-hub.js";
import { storeFolder } from "../store-place.js";
import { type CommandContext, createContext } from "../terminal/context.js";
import { Interrupts } from "../terminal/interrupts.js";
import { processIo } from "../terminal/process-io.js";
import { held, holding, unreferenced } from "./lifeline.js";

/** How the parts are opened. */
export interface WorldOptions {
  readonly context: CommandContext;
  /** The file given with `--mcp`. */
  readonly mcp?: string | undefined;
}

/** A part, and how it is closed. */
interface Opened<T> {
  readonly part: T;
  close(): Promise<void>;
}

/** The parts, opened on demand. A part that is asked for after it was closed is opened again. */
export class World {
  readonly #options: WorldOptions;
  #hub: Promise<Opened<OpenedHub>> | undefined;
  #store: Promise<Opened<Store>> | undefined;
  #embedder: Promise<Embedder | undefined> | undefined;
  #closing: Promise<void> | undefined;
  #isAwaitingEnd = false;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get context(): CommandContext {
    return this.#options.context;
  }

  /** The hub. The process waits for its calls, and not for its servers. */
  async hub(): Promise<Hub> {
    return (await this.configuredHub()).hub;
  }

  /** The hub and the configuration that it was opened on. */
  async configuredHub(): Promise<Pick<OpenedHub, "hub" | "config">> {
    this.#hub ??= this.#opening(
      () => this.#openHub(),
      () => {
        this.#hub = undefined;
      },
    );
    return (await this.#hub).part;
  }

  async store(): Promise<Store> {
    this.#store ??= this.#opening(
      () => this.#openStore(),
      () => {
        this.#store = undefined;
      },
    );
    return (await this.#store).part;
  }

  /** The store with the model that searches by meaning, where that is installed. It takes a moment to load. */
  async searchableStore(): Promise<Store> {
    const store = await this.store();
    if (this.#embedder === undefined) {
      this.#embedder = this.#openEmbedder();
      const embedder = await this.#embedder;
      if (embedder !== undefined) store.useEmbedder(embedder);
    }
    await this.#embedder;
    return store;
  }

  /** Closes what is open, servers first. */
  close(): Promise<void> {
    this.#closing ??= holding(async () => {
      const parts = [this.#hub, this.#store];
      this.#hub = undefined;
      this.#store = undefined;
      const failures: unknown[] = [];
      for (const part of parts) {
        // What could not be opened has been reported to whoever wanted it.
        const opened = await part?.catch(() => undefined);
        await opened?.close().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    }).finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #opening<T>(open: () => Promise<Opened<T>>, forget: () => void): Promise<Opened<T>> {
    if (this.context.signal.aborted) throw new TrunklineError("ABORTED", "The script was interrupted.");
    this.#closeAtTheEnd();
    try {
      return await open();
    } catch (error) {
      forget();
      throw error;
    }
  }

  #closeAtTheEnd(): void {
    if (this.#isAwaitingEnd) return;
    this.#isAwaitingEnd = true;
    // Comes when the loop is empty, again after each time that something was done in it.
    process.on("beforeExit", () => {
      if (this.#hub === undefined && this.#store === undefined) return;
      this.close().catch((error: unknown) => {
        this.context.note(`trunkline: ${messageOf(error)}`);
        process.exitCode ||= EXIT.failure;
      });
    });
  }

  async #openHub(): Promise<Opened<OpenedHub>> {
    const { openConfiguredHub } = await import("../open-hub.js");
    const opened = await unreferenced(() => openConfiguredHub(this.context, { mcp: this.#options.mcp, lazy: true }));
    return { part: { ...opened, hub: held(opened.hub) }, close: async () => await opened[Symbol.asyncDispose]() };
  }

  async #openStore(): Promise<Opened<Store>> {
    const { cwd, logger, signal } = this.context;
    const { openStore } = await import("@trunkline/store");
    const store = await openStore({ path: storeFolder(this.context, undefined), cwd, logger, signal });
    return {
      part: store,
      close: async () => {
        const embedder = await this.#embedder;
        this.#embedder = undefined;
        await using _embedder = embedder;
        await store.close();
      },
    };
  }

  async #openEmbedder(): Promise<Embedder | undefined> {
    const { openStoreEmbedder } = await import("../open-embedder.js");
    return await openStoreEmbedder(this.context, this.context.signal);
  }
}

let current: World | undefined;

/** The world of this program. */
export function world(): World {
  current ??= new World({ context: createContext(processIo(new Interrupts())) });
  return current;
}

/** Sets the world up; for `run`, before the script is loaded. */
export function openWorld(options: WorldOptions): World {
  current = new World(options);
  return current;
}
