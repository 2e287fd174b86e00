// The service: what every endpoint serves, put together from surface, prompts and resources.

import type { Hub, LogMessageLevel, Root } from "@trunkline/client";
import { isRecord, type Logger, messageOf } from "@trunkline/core";
import type { Backends } from "./backends.js";
import { complete } from "./completions.js";
import { echoTool } from "./composite/echo.js";
import { createCompositeTools } from "./composite/tools.js";
import { ServiceEvents } from "./events.js";
import type { Caller, Exchange } from "./exchange.js";
import { type BeginCall, callNotes } from "./journal/call-notes.js";
import type { Journal, TokenAccount } from "./journal/journal.js";
import type { Params } from "./operations/operation.js";
import { createRegistry, type ServerRegistry } from "./operations/registry.js";
import { createRunner, type RunOperation } from "./operations/run-operation.js";
import { Prompts } from "./prompts/prompts.js";
import { isLogged, isLogLevel } from "./protocol/log-levels.js";
import { RPC_CODES, RpcError } from "./protocol/rpc-error.js";
import type { McpService, ServerInfo, ServiceEvent, TaskSupport } from "./protocol/service.js";
import { Resources } from "./resources/resources.js";
import { collisionError, DirectSurface, unknownTool } from "./surface/direct.js";
import { instructionsFor } from "./surface/instructions.js";
import type { ServedTool, ToolResult } from "./surface/served-tool.js";
import { Upstreams } from "./upstreams.js";

/** Which tools clients see. */
export type SurfaceKind = "composite" | "direct" | "both";

/** What rules whether an operation may run. */
export type PolicyVerdict = "allow" | "ask" | "deny";

/** Sets of rules by glob. A function is asked before each operation: the configuration may be read late, and change. */
export type Policies =
  | readonly Readonly<Record<string, PolicyVerdict>>[]
  | (() => Promise<readonly Readonly<Record<string, PolicyVerdict>>[]>);

/** How a service is set up. */
export interface ServiceOptions {
  readonly info: ServerInfo;
  readonly backends: Backends;
  readonly logger: Logger;
  /** Default `composite`. */
  readonly surface?: SurfaceKind | undefined;
  /** How the direct surface names tools. Default `prefixed`. */
  readonly names?: "prefixed" | "plain" | undefined;
  /** Rules by glob, one set per configuration file: the most specific of a set counts, the strictest of all sets wins. */
  readonly policies?: Policies | undefined;
  /** What to say beside a refusal by these rules; undefined leaves it at the usual. */
  readonly denialHint?: (() => Promise<string | undefined>) | undefined;
  /** The folder that relative paths are relative to, and that clients over HTTP may read. */
  readonly workspace: string;
  /** Further folders that clients over HTTP may read and write. */
  readonly allowPaths?: readonly string[] | undefined;
  /** Folders of the program itself, such as that of the user's configuration: clients never read or write there. */
  readonly ownFolders?: readonly string[] | undefined;
  /** Further files and folders that clients do not write, such as a configuration that was named. */
  readonly unwritable?: readonly string[] | undefined;
  /** Folders that `get` may write to with `outputPath`. */
  readonly allowWrite?: readonly string[] | undefined;
  readonly allowPrivateAddresses?: boolean | (() => Promise<boolean>) | undefined;
  /** Whether answers over the budget are stored and given as a handle. Default true. */
  readonly spill?: boolean | undefined;
  /** Where `PROMPT-*.md` files are, the first folder winning. */
  readonly promptFolders?: readonly string[] | undefined;
  /** Where what upstream servers last listed is kept between runs. */
  readonly cacheFolder?: string | undefined;
  readonly journal?: Journal | undefined;
  readonly account?: TokenAccount | undefined;
}

/** A service. Closing it closes nothing of its backends. */
export interface Service extends McpService, AsyncDisposable {
  /**
   * Finds out what can only be known with every server connected: with plain names, whether two tools would have the same
   * one. Rejects with `CONFIG_INVALID`. Where nothing can go wrong it returns at once.
   */
  start(options?: { signal?: AbortSignal }): Promise<void>;
  /** Stops telling of changes, and everything that callers had to themselves. Idempotent. */
  close(): Promise<void>;
}

/** Puts a service together. It opens nothing. */
export function createService(options: ServiceOptions): Service {
  return new TrunklineService(options);
}

type Raw = Readonly<Record<string, unknown>>;

/** The revision that put a name to what servers could always complete. */
const COMPLETIONS_SINCE = "2025-03-26";

class TrunklineService implements Service {
  readonly info: ServerInfo;
  readonly instructions: string;
  readonly #options: ServiceOptions;
  readonly #events: ServiceEvents;
  readonly #upstreams: Upstreams;
  readonly #registry: ServerRegistry;
  readonly #own: ReadonlyMap<string, ServedTool>;
  readonly #direct: DirectSurface | undefined;
  readonly #begin: BeginCall;
  readonly #prompts: Prompts;
  readonly #resources: Resources;
  readonly #statusListeners = new Set<() => void>();
  /** Lasting callers, and what lets go of what upstream servers keep for them alone. */
  readonly #held = new Map<string, () => void>();
  readonly #logLevels = new Map<string, string>();
  /** The roots of the client at stdio. */
  #roots: readonly Root[] | undefined;
  /** The servers that wait for a sign-in, as they were last told of. */
  #signIns = "";
  #toolsText: { readonly tools: unknown; readonly text: string } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ServiceOptions) {
    const { info, logger, surface = "composite", names = "prefixed", policies, journal, account } = options;
    this.info = info;
    this.#options = options;
    this.instructions = instructionsFor(surface, names);
    this.#events = new ServiceEvents(logger);
    this.#upstreams = new Upstreams(() => options.backends.hub(), {
      logger,
      listener: {
        onOpened: (hub) => this.#onOpened(hub),
        onCatalogue: (changed) => this.#onCatalogue(changed),
        onStatus: () => this.#onStatus(),
      },
    });
    const backends: Backends = {
      hub: () => this.#upstreams.hub(),
      store: () => options.backends.store(),
      embedder: async () => await options.backends.embedder?.(),
    };
    const run = createRunner({ policies, denialHint: options.denialHint, journal, logger });
    this.#begin = callNotes({ journal, logger });
    const noting: RunOperation = async (operation, params, context) => {
      const outcome = await run(operation, params, context);
      if (operation.server !== undefined) this.#resources.routes.note(operation.server, outcome.blocks);
      return outcome;
    };
    this.#registry = createRegistry({ ...options, backends, tokens: () => account?.report?.() });
    const composite =
      surface === "direct"
        ? [echoTool]
        : createCompositeTools({ ...options, backends, registry: this.#registry, run: noting, begin: this.#begin });
    this.#own = new Map(composite.map((tool) => [tool.definition.name, tool]));
    if (surface !== "composite") {
      this.#direct = new DirectSurface({
        upstreams: this.#upstreams,
        names,
        reserved: new Set(this.#own.keys()),
        run,
        begin: this.#begin,
        logger,
        onResult: (server, { content }) => {
          this.#resources.routes.note(server, content);
          if (account !== undefined) countText(account, content);
        },
      });
    }
    this.#prompts = new Prompts({
      upstreams: this.#upstreams,
      folders: options.promptFolders ?? [],
      builtin: surface !== "direct",
      names,
      logger,
      onChanged: () => this.#events.note("prompts_list_changed"),
    });
    this.#resources = new Resources({
      upstreams: this.#upstreams,
      store: backends.store,
      status: () => this.#status(),
      onStatus: (listener) => this.#onStatusChanged(listener),
      logger,
    });
  }

  capabilities(revision: string): Raw {
    return {
      // The composite tools are always the same.
      tools: this.#direct === undefined ? {} : { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      ...(revision >= COMPLETIONS_SINCE ? { completions: {} } : {}),
      logging: {},
    };
  }

  async start({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (this.#direct === undefined || this.#options.names !== "plain") return;
    const collisions = await this.#direct.collisions(signal ?? new AbortController().signal);
    if (collisions.length > 0) throw collisionError(collisions);
  }

  async handle(method: string, params: Raw, exchange: Exchange): Promise<Raw> {
    if (exchange.caller.lasting) this.#hold(exchange);
    switch (method) {
      case "tools/call":
        return await this.#call(params, exchange);
      case "tools/list":
        return { tools: await this.#tools(exchange) };
      case "prompts/list":
        return await this.#prompts.list(exchange);
      case "prompts/get":
        return await this.#noted(method, exchange, () => this.#prompts.get(params, exchange));
      case "resources/list":
        return await this.#resources.list(params, exchange);
      case "resources/templates/list":
        return await this.#resources.templates(params, exchange);
      case "resources/read":
        return await this.#noted(method, exchange, () => this.#resources.read(params, exchange));
      case "completion/complete":
        return await complete(params, exchange, {
          prompts: this.#prompts,
          resources: this.#resources,
          upstreams: this.#upstreams,
        });
      default:
        throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    }
  }

  taskSupport(tool: string): TaskSupport | undefined {
    return this.#own.has(tool) ? undefined : this.#direct?.taskSupport(tool);
  }

  inputSchema(tool: string): Raw | undefined {
    const definition = this.#own.get(tool)?.definition ?? this.#direct?.definition(tool);
    return isRecord(definition?.inputSchema) ? definition.inputSchema : undefined;
  }

  onEvent(listener: (event: ServiceEvent) => void): () => void {
    this.#prompts
      .watch()
      .catch((error: unknown) => this.#options.logger.warn("prompts not watched", { error: messageOf(error) }));
    return this.#events.listen(listener);
  }

  async subscribe(
    uri: string,
    listener: () => void,
    { signal }: { signal?: AbortSignal },
  ): Promise<() => Promise<void>> {
    return await this.#resources.subscribe(uri, listener, signal);
  }

  async setLogLevel(caller: Caller, level: string): Promise<void> {
    if (!isLogLevel(level)) throw new RpcError(RPC_CODES.invalidParams, `"${level}" is not a level of log messages.`);
    this.#logLevels.set(caller.id, level);
    await this.#passLogLevel(this.#upstreams.opened);
  }

  async rootsChanged(caller: Caller, roots: readonly Root[]): Promise<void> {
    // Over HTTP several clients share the servers: roots of one are no answer to a question that nobody's call caused.
    if (caller.endpoint !== "stdio") return;
    this.#roots = roots;
    await this.#passRoots(this.#upstreams.opened);
  }

  async release(caller: Caller): Promise<void> {
    this.#held.get(caller.id)?.();
    this.#held.delete(caller.id);
    const hadLevel = this.#logLevels.delete(caller.id);
    const steps = [this.#registry.release(caller), hadLevel ? this.#passLogLevel(this.#upstreams.opened) : undefined];
    for (const outcome of await Promise.allSettled(steps)) {
      if (outcome.status === "rejected")
        this.#options.logger.warn("a caller's things were not given up", { error: messageOf(outcome.reason) });
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#events[Symbol.dispose]();
      this.#prompts[Symbol.dispose]();
      this.#upstreams[Symbol.dispose]();
      for (const release of this.#held.values()) release();
      this.#held.clear();
      this.#statusListeners.clear();
      await this.#registry.close();
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #call({ name, arguments: args = {} }: Raw, exchange: Exchange): Promise<ToolResult> {
    if (typeof name !== "string" || !isRecord(args)) {
      const what =
        typeof name !== "string" ? "The name of the tool is missing." : "The arguments of a tool are an object.";
      const refusal = new RpcError(RPC_CODES.invalidParams, what);
      return await this.#noted(typeof name === "string" ? name : "tools/call", exchange, () => Promise.reject(refusal));
    }
    const own = this.#own.get(name);
    // The other tools note what they run.
    if (own === echoTool) return await this.#noted(name, exchange, () => own.call(args as Params, exchange));
    if (own !== undefined) return await own.call(args as Params, exchange);
    if (this.#direct !== undefined) return await this.#direct.call(name, args, exchange);
    const unknown = unknownTool(name, `There are: ${[...this.#own.keys()].join(", ")}.`);
    return await this.#noted(name, exchange, () => Promise.reject(unknown));
  }

  /** One line in the journal for what is no operation. */
  async #noted<T extends Raw>(what: string, { caller, signal }: Exchange, work: () => Promise<T>): Promise<T> {
    const end = this.#begin(what, caller.name);
    try {
      const result = await work();
      end({ value: result, ...(result.isError === true ? { code: "INVALID_ARGUMENT" } : {}) });
      return result;
    } catch (error) {
      end(signal.aborted ? { code: "ABORTED" } : { error });
      throw error;
    }
  }

  /** One page, however many there are: some clients know no second one. */
  async #tools({ signal }: Exchange): Promise<readonly unknown[]> {
    const own = [...this.#own.values()].map(({ definition }) => definition);
    const upstream = await this.#direct?.list(signal);
    const tools = upstream === undefined ? own : [...own, ...upstream];
    const { account } = this.#options;
    if (account !== undefined) {
      if (this.#toolsText === undefined || this.#toolsText.tools !== upstream)
        this.#toolsText = { tools: upstream, text: JSON.stringify(tools) };
      account.add("surface", this.#toolsText.text);
    }
    return tools;
  }

  #onOpened(hub: Hub): void {
    const passing = Promise.all([this.#passLogLevel(hub), this.#passRoots(hub)]);
    passing.catch((error: unknown) => this.#options.logger.warn("a server was not told", { error: messageOf(error) }));
  }

  #onCatalogue(changed: readonly ("tools" | "prompts" | "resources")[]): void {
    if (changed.includes("tools") && this.#direct !== undefined) {
      this.#direct.changed();
      this.#events.note("tools_list_changed");
    }
    if (changed.includes("prompts")) this.#events.note("prompts_list_changed");
    if (changed.includes("resources")) {
      this.#resources.routes.changed();
      this.#events.note("resources_list_changed");
    }
  }

  #onStatus(): void {
    for (const listener of this.#statusListeners) listener();
    const hub = this.#upstreams.opened;
    if (this.#direct === undefined || hub === undefined) return;
    // A server that waits for a sign-in has one tool more, and that is no change of any list of its own.
    const signIns = hub
      .status()
      .flatMap(({ name, state }) => (state === "needs-auth" ? [name] : []))
      .join();
    if (signIns === this.#signIns) return;
    this.#signIns = signIns;
    this.#direct.changed();
    this.#events.note("tools_list_changed");
  }

  #onStatusChanged(listener: () => void): () => void {
    const own = () => listener();
    this.#statusListeners.add(own);
    return () => void this.#statusListeners.delete(own);
  }

  async #status(): Promise<Raw> {
    const hub = await this.#upstreams.hub();
    const servers = hub.status().map(({ name, state, toolCount, resourceCount, promptCount, revision, error }) => ({
      name,
      state,
      tools: toolCount,
      resources: resourceCount,
      prompts: promptCount,
      ...(revision === undefined ? {} : { revision }),
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    }));
    return { server: this.info, servers };
  }

  /** Servers send from the lowest level on that any caller wants; who wants less gets less at the endpoint. */
  async #passLogLevel(hub: Hub | undefined): Promise<void> {
    const [first, ...others] = this.#logLevels.values();
    if (hub === undefined || first === undefined) return;
    const lowest = others.reduce((low, level) => (isLogged(low, level) ? level : low), first);
    await hub.setLogLevels(lowest as LogMessageLevel); // checked when it was set
  }

  async #passRoots(hub: Hub | undefined): Promise<void> {
    if (hub === undefined || this.#roots === undefined) return;
    try {
      await hub.setRoots(this.#roots);
    } catch (error) {
      this.#options.logger.warn("a server was not told of roots", { error: messageOf(error) });
    }
  }

  /** Connections that a caller has to itself live as long as the caller, not only as long as a call. */
  #hold({ caller, channel }: Exchange): void {
    const hub = this.#upstreams.opened;
    if (hub === undefined || channel.party === undefined || this.#held.has(caller.id)) return;
    const { party } = channel;
    const held = new Promise<void>((resolve) => this.#held.set(caller.id, resolve));
    hub
      .withChannel({ party }, () => held)
      .catch((error: unknown) => this.#options.logger.warn("connections not closed", { error: messageOf(error) }));
  }
}

function countText(account: TokenAccount, content: unknown): void {
  if (!Array.isArray(content)) return;
  for (const block of content) {
    if (block?.type === "text" && typeof block.text === "string") account.add("results", block.text);
  }
}
