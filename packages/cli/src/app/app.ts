// The one place that opens things: configuration, hub, store, model and service, each once, on first use, with the same
// safeguards for every caller. Commands, `serve`, scripts and the agent all work with an App.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Abilities, Hub, HubOptions, LoadedConfig } from "@trunkline/client";
import {
  atMost,
  type ContentStore,
  type Embedder,
  messageOf,
  randomGatewayName,
  TrunklineError,
} from "@trunkline/core";
import type { Backends, Exchange, Service } from "@trunkline/gateway";
import type { AnyStore } from "@trunkline/store";
import { type CommandContext, isAtTerminal } from "../terminal/context.js";
import type { AppChannel, AppOptions } from "./app-options.js";
import type { ExchangeOptions, OpenedService } from "./app-service.js";
import { reportOnUse, reportProblems } from "./config-problems.js";
import { ConfigReader } from "./config-reader.js";
import { type GuardedPlaces, guardedPlaces, isProjectStore, namedAddress, storeFolder } from "./folders.js";
import type { LateGateway } from "./late-gateway.js";
import type { LiveConfig } from "./live-config.js";
import { Once } from "./once.js";
import { withoutReference } from "./store-address.js";

/**
 * How long the service's first use of the store waits for the model. After that, search is keyword-only until the model
 * is ready.
 */
const MODEL_WAIT_MS = 5_000;

/** The questions that the clients of a service can answer. */
const SERVICE_ANSWERS: Abilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};

/** Creates an app; nothing is opened yet. */
export function openApp(context: CommandContext, options: AppOptions = {}): App {
  return new App(context, options);
}

/** The parts of one run, opened on demand and closed together. */
export class App implements AsyncDisposable {
  readonly context: CommandContext;
  readonly #options: AppOptions;
  readonly #lifetime = new AbortController();
  readonly #reader: ConfigReader;
  #config: LoadedConfig | undefined;
  readonly #reading = new Once<LoadedConfig>();
  readonly #live = new Once<LiveConfig>();
  readonly #hub = new Once<Hub>();
  /** The hub once it is open. Opening waits for the configuration, so the configuration must not wait for opening. */
  #openedHub: Hub | undefined;
  readonly #listeners = new Set<() => void>();
  #channel: AppChannel | undefined;
  readonly #store = new Once<AnyStore>();
  readonly #searchable = new Once<AnyStore>();
  readonly #contentStore = new Once<ContentStore>();
  readonly #embedder = new Once<Embedder | undefined>();
  #attaching: Promise<void> | undefined;
  readonly #gateway = new Once<LateGateway | undefined>();
  readonly #service = new Once<OpenedService>();
  #closing: Promise<void> | undefined;

  constructor(context: CommandContext, options: AppOptions) {
    this.context = context;
    this.#options = options;
    const { mcp, typed, config: mode = "ask" } = options;
    this.#reader = new ConfigReader(context, { mcp, typed, mode, wanted: this.#wanted });
  }

  /** The store's folder, whether it exists or not. */
  get storeFolder(): string {
    return storeFolder(this.context, this.#options.store);
  }

  /** The name that the user gave this process among the gateways on a store in a database. */
  get gatewayName(): string | undefined {
    return this.#options.gateway;
  }

  /** Where the store is, to show: its folder, or the address of its database without a password. */
  async storePlace(): Promise<string> {
    const address = await this.storeAddress();
    if (address === undefined) return this.storeFolder;
    const { placeOf } = await import("@trunkline/store-postgres");
    return placeOf(withoutReference(address));
  }

  /** Returns the address of the database that holds the store, if it is named, or set in the user's own settings. */
  async storeAddress(): Promise<string | undefined> {
    const { context } = this;
    const { store: named } = this.#options;
    if (named !== undefined || context.env.TRUNKLINE_STORE) return namedAddress(context, named);
    if (isProjectStore(context, named) || !existsSync(join(context.home, "settings.json"))) return undefined;
    return (await this.config()).settings?.store;
  }

  /** Paths that clients must not touch and the store does not index. */
  get guardedPlaces(): GuardedPlaces {
    return guardedPlaces(this.context, this.#options.mcp);
  }

  /** Aborts when the parts are being closed. */
  get signal(): AbortSignal {
    return this.#lifetime.signal;
  }

  /** The current configuration, if it has been read: for code that runs with every call. */
  get loadedConfig(): LoadedConfig | undefined {
    return this.#config;
  }

  /** Folders that clients may use besides the workspace, as named for this run. */
  get allowedPaths(): readonly string[] {
    return (this.#options.service?.allowPath ?? []).map((path) => resolve(this.context.cwd, path));
  }

  /** The hub, if it is open. */
  get openedHub(): Hub | undefined {
    return this.#openedHub;
  }

  /**
   * Calls the listener when a live configuration was read again and when the hub was opened. Returns a function that
   * removes it.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Returns the current configuration. Rejects with `CONFIG_INVALID` if a named file is unusable. */
  async config(): Promise<LoadedConfig> {
    if (this.#options.config === "live") {
      await this.#live.get(() => this.#openLiveConfig());
      if (this.#config === undefined) throw closedError();
      return this.#config;
    }
    this.#config ??= await this.#reading.get(() => this.#reader.read());
    return this.#config;
  }

  /** Brings a live configuration up to date at once. Does nothing if it has not been read. */
  async refreshConfig(): Promise<void> {
    await (await this.#live.opened())?.refresh();
  }

  /**
   * Asks at the terminal about unapproved project files; without a terminal, prints one notice. After a yes the
   * configuration is read again.
   */
  async confirmProject(): Promise<void> {
    const config = await this.config();
    const isOpen = config.servers.some(
      ({ trusted, disabled, needsWorkspace, needsSecrets }) =>
        !disabled && (!trusted || needsWorkspace || needsSecrets !== undefined),
    );
    if (!isOpen) return;
    const { confirmProjectFiles, confirmSecrets, confirmWorkspace } = await import("../terminal/trust-prompt.js");
    const hasChanged = [
      await confirmProjectFiles(this.context, config),
      await confirmWorkspace(this.context, config, this.#wanted),
    ];
    if (hasChanged.includes(true)) this.#config = await this.#reader.read();
    // Only about servers that start now.
    if (await confirmSecrets(this.context, await this.config(), this.#wanted)) this.#config = await this.#reader.read();
  }

  /** Returns the hub, whose servers connect on first use. For a command, having no server configured is an error. */
  hub(): Promise<Hub> {
    return this.#hub.get(() => (this.#isHeadless ? this.#openServiceHub() : this.#openCommandHub()));
  }

  /** Clears the progress line before something else is written. */
  clearProgress(): void {
    this.#channel?.clearProgress?.();
  }

  store(): Promise<AnyStore> {
    return this.#store.get(() => this.#openStore());
  }

  /**
   * Returns the store with the embedded model attached, if installed, for search by meaning. A model that takes longer
   * than `waitMs` is attached later.
   */
  searchableStore(waitMs?: number): Promise<AnyStore> {
    return this.#searchable.get(async () => {
      const [store, embedder] = await Promise.all([
        this.store(),
        waitMs === undefined ? this.embedder() : atMost(waitMs, this.embedder()),
      ]);
      if (embedder !== undefined) store.useEmbedder(embedder);
      else {
        this.#attaching = this.embedder().then((late) => {
          if (late !== undefined && !this.signal.aborted) store.useEmbedder(late);
        });
      }
      return store;
    });
  }

  /** Returns the embedded model; undefined if it is not installed or cannot be opened. */
  embedder(): Promise<Embedder | undefined> {
    return this.#embedder.get(() => this.#openEmbedder());
  }

  /** Returns the service that `serve` uses, with all its dependencies. */
  async service(): Promise<Service> {
    return (await this.#openedService()).service;
  }

  async backends(): Promise<Backends> {
    const { storeOperations } = await import("@trunkline/store/contract");
    return {
      storeOperations,
      hub: () => this.hub(),
      store: () => this.#contentStore.get(() => this.#openContentStore()),
      embedder: () => this.embedder(),
      gateway: () => this.gateway(),
    };
  }

  /** Returns this process as one of the gateways on the store; undefined for a store in a folder. */
  gateway(): Promise<LateGateway | undefined> {
    return this.#gateway.get(async () => {
      if ((await this.storeAddress()) === undefined) return undefined;
      const { LateGateway } = await import("./late-gateway.js");
      return new LateGateway({
        name: this.#options.gateway ?? randomGatewayName(),
        logger: this.context.logger,
        team: async () => (await this.store()).team,
      });
    });
  }

  /** Creates a request from the command itself to the service. */
  async exchange(name: string, options: ExchangeOptions = {}): Promise<Exchange> {
    return (await this.#openedService()).exchange(name, options);
  }

  /** Closes what was opened: the service, the gateway, the servers, the store, then the model it uses. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      const failures: unknown[] = [];
      const step = async (work: () => unknown) => {
        try {
          await work();
        } catch (error) {
          failures.push(error);
        }
      };
      await step(async () => await (await this.#service.opened())?.close());
      await step(async () => await (await this.#gateway.opened())?.leave());
      this.#lifetime.abort();
      await step(() => this.clearProgress());
      await step(async () => await (await this.#live.opened())?.close());
      await step(async () => await (await this.#hub.opened())?.close());
      await step(() => this.#attaching);
      await step(async () => await (await this.#store.opened())?.close());
      if (this.context.shared === undefined)
        await step(async () => await (await this.#embedder.opened())?.[Symbol.asyncDispose]());
      if (failures.length > 0) throw failures[0];
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #wanted(): ((server: string) => boolean) | undefined {
    const { wanted } = this.#options;
    return wanted === "unknown" ? undefined : wanted;
  }

  get #isHeadless(): boolean {
    return this.#options.config === "headless" || this.#options.config === "live";
  }

  /** Ctrl-C immediately stops whatever a command is opening; a service closes in order. */
  get #opening(): AbortSignal {
    return this.#isHeadless ? this.signal : AbortSignal.any([this.context.signal, this.signal]);
  }

  async #openLiveConfig(): Promise<LiveConfig> {
    const { LiveConfig } = await import("./live-config.js");
    return await LiveConfig.open(this.context, {
      read: (memory) => this.#reader.read(memory),
      onConfig: async (config) => {
        this.#config = config;
        if (!this.signal.aborted) await this.#openedHub?.reload(config);
        this.#tell();
      },
    });
  }

  async #openCommandHub(): Promise<Hub> {
    const { context } = this;
    const { roots, signIn, checkWithinMs } = this.#options;
    if (checkWithinMs === undefined) {
      await this.confirmProject();
      const isUsed = this.#options.wanted === "unknown" ? () => false : this.#wanted;
      reportProblems(context, await this.config(), isUsed);
      this.#channel = await this.#terminalChannel();
    }
    // `doctor` calls nothing, so nothing is asked; but servers list more tools to a client that answers questions. In the
    // broker, the connection also serves clients that do.
    const declared = checkWithinMs === undefined ? undefined : (await this.#terminalChannel())?.abilities;
    const answers = context.shared === undefined ? declared : SERVICE_ANSWERS;
    const hub = await this.#openHub({
      signal: context.signal,
      // Without a terminal there is no one to ask, so do not tell servers that we answer questions.
      ...(this.#channel === undefined ? {} : { channel: this.#channel, logLevel: "warning" }),
      ...(roots === undefined ? {} : { roots: roots.map((folder) => rootOf(resolve(context.cwd, folder))) }),
      signIn,
      connectLimitMs: checkWithinMs,
      answers,
    });
    if (this.#options.wanted === "unknown") reportOnUse(context, hub, await this.config());
    return hub;
  }

  async #terminalChannel(): Promise<AppChannel | undefined> {
    if (this.#options.channel !== undefined) return this.#options.channel;
    if (!isAtTerminal(this.context)) return undefined;
    const { createTerminalChannel } = await import("../terminal/terminal-channel.js");
    const channel = createTerminalChannel(this.context);
    const through = this.context.shared?.askThrough(this.context.cwd);
    if (through === undefined) return channel;
    const { channelThrough } = await import("@trunkline/gateway");
    return channelThrough(channel, { name: "the terminal" }, through);
  }

  async #openServiceHub(): Promise<Hub> {
    const { askPolicy, askWait, names } = this.#options.service ?? {};
    return await this.#openHub({
      // The client that made a call answers its questions, and declares what it supports.
      answers: SERVICE_ANSWERS,
      logLevel: "info",
      askPolicy,
      ...(askWait === undefined ? {} : { askWaitMs: askWait * 1000 }),
      plainNames: names === "plain",
    });
  }

  async #openHub(options: HubOptions): Promise<Hub> {
    const { logger, version, env, redactor, home, shared, cwd } = this.context;
    const config = await this.config();
    const { openHub } = await import("@trunkline/client");
    if (this.signal.aborted) throw closedError();
    const clientInfo = { name: "trunkline", version };
    const sharing = shared === undefined ? {} : { connections: shared.connections, label: cwd };
    const hub = await openHub(config, { logger, clientInfo, env, redactor, home, lazy: true, ...sharing, ...options });
    this.#openedHub = hub;
    // The configuration changed while the hub was being opened.
    if (this.#config !== undefined && this.#config !== config) await hub.reload(this.#config);
    this.#tell();
    return hub;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #openStore(): Promise<AnyStore> {
    const address = await this.storeAddress();
    const { openAddress, openFolder } = await import("./open-app-store.js");
    const opening = {
      options: this.#options,
      config: () => this.config(),
      signal: this.#opening,
      requireOpen: () => {
        if (this.signal.aborted) throw closedError();
      },
    };
    if (address !== undefined) return await openAddress(this.context, address, opening);
    return await openFolder(this.context, opening);
  }

  #openedService(): Promise<OpenedService> {
    return this.#service.get(async () => {
      const { openService } = await import("./app-service.js");
      return openService(this, await this.backends(), this.#options.service ?? {});
    });
  }

  async #openContentStore(): Promise<ContentStore> {
    const { asContentStore } = await import("@trunkline/store");
    return asContentStore(await this.searchableStore(MODEL_WAIT_MS));
  }

  async #openEmbedder(): Promise<Embedder | undefined> {
    if (this.#options.embed === false) return undefined;
    const signal = this.#opening;
    try {
      const { openEmbedder } = await import("./open-embedder.js");
      const { shared } = this.context;
      if (shared !== undefined) return await shared.embedder(() => openEmbedder(this.context));
      return await openEmbedder(this.context, signal);
    } catch (error) {
      if (!signal.aborted) this.context.logger.warn("no search by meaning", { error: messageOf(error) });
      return undefined;
    }
  }
}

function rootOf(folder: string) {
  return { uri: pathToFileURL(folder).href, name: basename(folder) || folder };
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The server is shutting down.");
}
