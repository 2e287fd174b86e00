// What stands behind a server: configuration, hub, store and model, each opened when it is first needed and closed in
// order at the end.
import type { Hub, LoadedConfig } from "@trunkline/client";
import { type ContentStore, type Embedder, TrunklineError } from "@trunkline/core";
import type { Backends } from "@trunkline/server";
import { storeOperations } from "@trunkline/store/contract";
import { guardedPlaces } from "../guarded-places.js";
import { storeFolder } from "../store-place.js";
import type { CommandContext } from "../terminal/context.js";
import type { LiveConfig } from "./live-config.js";

/** How the parts are opened. */
export interface ServeBackendsOptions {
  readonly mcp: string | undefined;
  readonly store: string | undefined;
  readonly askPolicy?: "serialize" | "isolate" | "decline" | undefined;
  /** For one call: the files are not watched, and nothing is said about them. */
  readonly once?: boolean | undefined;
  /** Whether search goes by meaning, where the model is there. Default true. */
  readonly embed?: boolean | undefined;
}

/** The first use of the store waits this long for the model; after that search goes by words until it is there. */
const MODEL_WAIT_MS = 5_000;

/** The parts, opened on demand. */
export class ServeBackends implements Backends, AsyncDisposable {
  readonly storeOperations = storeOperations;
  readonly #context: CommandContext;
  readonly #options: ServeBackendsOptions;
  readonly #lifetime = new AbortController();
  #config: LoadedConfig | undefined;
  #live: Promise<LiveConfig> | undefined;
  #hub: Promise<Hub> | undefined;
  /** The hub once it is open. Opening waits for the configuration, so the configuration must not wait for opening. */
  #openedHub: Hub | undefined;
  #store: Promise<ContentStore> | undefined;
  #embedder: Promise<Embedder | undefined> | undefined;
  #attaching: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(context: CommandContext, options: ServeBackendsOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The folder of the store, whether it is there or not. */
  get storeFolder(): string {
    return storeFolder(this.#context, this.#options.store);
  }

  /** Aborted when the parts are being closed. */
  get signal(): AbortSignal {
    return this.#lifetime.signal;
  }

  /** The configuration as it is now. Rejects with `CONFIG_INVALID` for a file that was named and cannot be used. */
  async config(): Promise<LoadedConfig> {
    this.#live ??= this.#openConfig().catch((error: unknown) => {
      this.#live = undefined;
      throw error;
    });
    await this.#live;
    const config = this.#config;
    if (config === undefined) throw closedError();
    return config;
  }

  hub(): Promise<Hub> {
    this.#hub ??= this.#openHub().catch((error: unknown) => {
      this.#hub = undefined;
      throw error;
    });
    return this.#hub;
  }

  store(): Promise<ContentStore> {
    this.#store ??= this.#openStore().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  embedder(): Promise<Embedder | undefined> {
    this.#embedder ??= this.#openEmbedder();
    return this.#embedder;
  }

  /** Ends what was opened: servers first, then the store, then the model that it uses. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#lifetime.abort();
      const failures: unknown[] = [];
      const step = async (work: () => Promise<unknown>) => {
        try {
          await work();
        } catch (error) {
          failures.push(error);
        }
      };
      const opened = <T>(part: Promise<T> | undefined) => part?.catch(() => undefined);
      await step(async () => await (await opened(this.#live))?.close());
      await step(async () => await (await opened(this.#hub))?.close());
      await step(async () => await this.#attaching);
      await step(async () => await (await opened(this.#store))?.[Symbol.asyncDispose]());
      await step(async () => await (await opened(this.#embedder))?.[Symbol.asyncDispose]());
      if (failures.length > 0) throw failures[0];
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #openConfig(): Promise<LiveConfig> {
    const { LiveConfig } = await import("./live-config.js");
    return await LiveConfig.open(this.#context, {
      mcp: this.#options.mcp,
      once: this.#options.once ?? false,
      onConfig: async (config) => {
        this.#config = config;
        if (!this.signal.aborted) await this.#openedHub?.reload(config);
      },
    });
  }

  async #openHub(): Promise<Hub> {
    const config = await this.config();
    const { openHub } = await import("@trunkline/client");
    if (this.signal.aborted) throw closedError();
    const { logger, version, env, redactor, home } = this.#context;
    const { askPolicy } = this.#options;
    const hub = await openHub(config, {
      logger,
      clientInfo: { name: "trunkline", version },
      env,
      redactor,
      home,
      lazy: true,
      // Who asks what decides the client that made the call; each client says what it can.
      answers: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
      logLevel: "info",
      ...(askPolicy === undefined ? {} : { askPolicy }),
    });
    this.#openedHub = hub;
    // Edited while it was being opened.
    if (this.#config !== undefined && this.#config !== config) await hub.reload(this.#config);
    return hub;
  }

  async #openStore(): Promise<ContentStore> {
    const { cwd, logger } = this.#context;
    const { openStore, asContentStore } = await import("@trunkline/store");
    if (this.signal.aborted) throw closedError();
    const guarded = guardedPlaces(this.#context, this.#options.mcp);
    const [store, embedder] = await Promise.all([
      openStore({ path: this.storeFolder, cwd, logger, signal: this.signal, ...guarded }),
      atMost(MODEL_WAIT_MS, this.embedder()),
    ]);
    if (embedder !== undefined) store.useEmbedder(embedder);
    else {
      this.#attaching = this.embedder().then((late) => {
        if (late !== undefined && !this.signal.aborted) store.useEmbedder(late);
      });
    }
    return asContentStore(store);
  }

  async #openEmbedder(): Promise<Embedder | undefined> {
    if (this.#options.embed === false) return undefined;
    const { openStoreEmbedder } = await import("../open-embedder.js");
    return await openStoreEmbedder(this.#context, this.signal);
  }
}

async function atMost<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The server is being stopped.");
}
