// The service behind every endpoint: combines surface, prompts and resources.
import type { KnownServer, Root, ToolKey } from "@trunkline/client";
import { isRecord, LOCAL_PRINCIPAL, type Logger, messageOf } from "@trunkline/core";
import { isLogLevel, JsonBytes, RPC_CODES, RpcError } from "@trunkline/protocol";
import { complete } from "./completions.js";
import { createCompositeTools, echoTool } from "./composite/composite-tools.js";
import { type Backends, storeFor } from "./interfaces/backends.js";
import type { CallRecorder } from "./interfaces/call-recorder.js";
import { type AskThrough, type Caller, type Exchange, withAskThrough } from "./interfaces/exchange.js";
import type { McpService, ServerInfo, ServiceEvent, TaskSupport } from "./interfaces/mcp-service.js";
import type { Params } from "./interfaces/operation.js";
import { readerOf } from "./interfaces/reader.js";
import type { ServedTool, ToolResult } from "./interfaces/served-tool.js";
import { CallLog, DEFINITION_NEWS, type Journal, type TokenAccount } from "./journal/journal.js";
import { TokenCounter } from "./journal/token-counter.js";
import type { ToolUsage } from "./journal/tool-usage.js";
import { createRegistry, type ServerRegistry } from "./operations/operation-registry.js";
import { createDenials, createRunner, type Policies } from "./operations/run-operation.js";
import type { AccessOptions } from "./operations/store-calls.js";
import type { ProjectPromptFolder } from "./prompts/project-prompts.js";
import { Prompts } from "./prompts/prompts.js";
import { Resources } from "./resources/resources.js";
import { ServiceEvents } from "./service-events.js";
import { type AutoList, AutoSurface, LIST_TTL_MS, type SurfacePreview } from "./surface/auto-surface.js";
import {
  collisionError,
  DirectSurface,
  type Listed,
  OPERATIONS_HINT,
  type ToolNaming,
  unknownTool,
} from "./surface/direct-surface.js";
import { autoInstructions, instructionsFor, type SurfaceKind } from "./surface/instructions.js";
import { ListAccount } from "./surface/list-account.js";
import { createMeasure } from "./surface/measure-tools.js";
import { serverLines } from "./surface/server-lines.js";
import type { SurfaceDecision, SurfaceSettings } from "./surface/surface-decision.js";
import { UpstreamCallers } from "./upstreams/upstream-callers.js";
import { type DefinitionNews, Upstreams } from "./upstreams/upstreams.js";

export interface ServiceOptions extends AccessOptions {
  readonly info: ServerInfo;
  readonly backends: Backends;
  readonly logger: Logger;
  /** Default `composite`. */
  readonly surface?: SurfaceKind | undefined;
  /** The settings of the surface `auto`, read at the start of each session. */
  readonly surfaceSettings?: (() => SurfaceSettings | Promise<SurfaceSettings>) | undefined;
  /** How upstream tools are named. Default `wire` on the surface `auto`, otherwise `prefixed`. */
  readonly names?: ToolNaming | undefined;
  /** Whether `mcp.echo` is listed; it can be called either way. Default false. */
  readonly echo?: boolean | undefined;
  /**
   * Rules by glob, one set per configuration file. Within a set the most specific rule counts; across sets the
   * strictest wins.
   */
  readonly policies?: Policies | undefined;
  /** The hint for a call denied by these rules; undefined uses the default. */
  readonly denialHint?: (() => Promise<string | undefined>) | undefined;
  /** Replaces known secrets in the arguments that a question of the policy shows. Default: shows them as they are. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Whether answers over the budget are stored and returned as a handle. Default true. */
  readonly spill?: boolean | undefined;
  /** Folders with `PROMPT-*.md` files; earlier folders win. */
  readonly promptFolders?: readonly string[] | undefined;
  /** The prompts of the project, which have to be approved. */
  readonly projectPrompts?: ProjectPromptFolder | undefined;
  /** Where the last listings of upstream servers are cached between runs. */
  readonly cacheFolder?: string | undefined;
  readonly journal?: Journal | undefined;
  readonly account?: TokenAccount | undefined;
  /** Which tools were used in earlier sessions. */
  readonly usage?: ToolUsage | undefined;
  /** How long `find` may wait for tools to be indexed by meaning. Default 0: they are indexed in the background. */
  readonly findWaitMs?: number | undefined;
  /** Takes part in questions to clients. Default: only the client is asked. */
  readonly askThrough?: AskThrough | undefined;
  /** Keeps the arguments and results of calls while a person wants to see them. Default: nothing is kept. */
  readonly recorder?: CallRecorder | undefined;
}

/** A service. Closing it does not close its backends. */
export interface Service extends McpService, AsyncDisposable {
  /**
   * Runs checks that need every server to be connected: with plain names, whether two tools would have the same name.
   * Rejects with `CONFIG_INVALID`. Returns immediately if there is nothing to check.
   */
  start(options?: { signal?: AbortSignal }): Promise<void>;
  canonicalArguments: NonNullable<McpService["canonicalArguments"]>;
  /**
   * Whether a call that may have run already can be made again, because its tool says that it changes nothing, or
   * nothing more the second time. Connects servers if the tool is not known yet.
   */
  isRepeatable(tool: string, options: { signal: AbortSignal }): Promise<boolean>;
  /** Journals a call of a local client that was lost with the process that ran it. */
  noteLost(tool: string, client: string): void;
  /** What the surface `auto` would list for a client, for people to see; undefined on any other surface. */
  previewSurface(caller: Pick<Caller, "name" | "capabilities" | "principal">): Promise<SurfacePreview | undefined>;
  /**
   * Calls a tool of a server, on every surface and whatever clients call it. The result is as the protocol defines it,
   * with `JsonBytes` for large fields. Rejects with an `RpcError` if there is no such tool.
   */
  callTool(key: ToolKey, args: Readonly<Record<string, unknown>>, exchange: Exchange): Promise<ToolResult>;
  /** Every server with its tools, current or from its last connection. Connects nothing. */
  knownServers(): Promise<readonly KnownServer[]>;
  /** Which of these operations the policy denies. */
  denials(operations: readonly string[]): Promise<readonly boolean[]>;
  /** Stops reporting changes and releases the state of all callers. Idempotent. */
  close(): Promise<void>;
}

/** Creates a service. Opens nothing. */
export function createService(options: ServiceOptions): Service {
  return new TrunklineService(options);
}

type Raw = Readonly<Record<string, unknown>>;

/** The revision that introduced the completions capability. Servers could provide completions even before that. */
const COMPLETIONS_SINCE = "2025-03-26";

/** The hint for a model that calls an operation as if it were a tool. */
class TrunklineService implements Service {
  readonly info: ServerInfo;
  readonly #options: ServiceOptions;
  readonly #events: ServiceEvents;
  readonly #upstreams: Upstreams;
  readonly #callers: UpstreamCallers;
  readonly #registry: ServerRegistry;
  /** Our own tools, as listed. */
  readonly #listed: readonly ServedTool[];
  /** Our own tools, including the one that may not be listed. */
  readonly #own: ReadonlyMap<string, ServedTool>;
  readonly #tools: DirectSurface;
  /** The same, if the surface has every tool under a name of its own. */
  readonly #direct: DirectSurface | undefined;
  readonly #isDenied: ReturnType<typeof createDenials>;
  readonly #auto: AutoSurface | undefined;
  readonly #names: ToolNaming;
  /** The same for every client, except on the surface `auto`. */
  readonly #instructions: string;
  readonly #log: CallLog;
  readonly #prompts: Prompts;
  readonly #resources: Resources;
  readonly #statusListeners = new Set<() => void>();
  /** The servers that require a sign-in, as last reported. */
  #signIns = "";
  readonly #lists: ListAccount | undefined;
  readonly #ownDefinitions: readonly Listed["definition"][];
  readonly #directLists = new WeakMap<readonly Listed[], AutoList>();
  readonly #lifetime = new AbortController();
  /** Starts a thread only when the tools of a server have changed. */
  readonly #counter = new TokenCounter();
  #news: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: ServiceOptions) {
    const { info, logger, surface = "composite", policies, journal, account } = options;
    const names = options.names ?? (surface === "auto" ? "wire" : "prefixed");
    this.info = info;
    this.#options = options;
    this.#names = names;
    this.#instructions = surface === "auto" ? "" : instructionsFor(surface, names);
    this.#events = new ServiceEvents(logger);
    this.#upstreams = new Upstreams(() => options.backends.hub(), {
      logger,
      folder: options.cacheFolder,
      measure: surface === "auto" ? createMeasure((texts) => this.#counter.count(texts)) : undefined,
      listener: {
        onOpened: (hub) => this.#callers.onOpened(hub),
        onCatalogue: (changed) => this.#onCatalogue(changed),
        onDefinitions: (server, news) => this.#onDefinitions(server, news),
        onStatus: () => this.#onStatus(),
      },
    });
    this.#callers = new UpstreamCallers(this.#upstreams, logger);
    const store = storeFor(options.backends);
    this.#log = new CallLog({ journal, logger });
    const serverNames = () => this.#upstreams.opened?.serverNames() ?? [];
    const run = createRunner({
      policies,
      serverNames,
      denialHint: options.denialHint,
      redact: options.redact,
      log: this.#log,
      recorder: options.recorder,
      onOutcome: ({ server, name }, { blocks, isError }, { exchange }) => {
        if (server === undefined) return;
        this.#resources.routes.note(server, blocks);
        if (isError === true) return;
        options.usage?.note(name, exchange.caller.principal);
        this.#lists?.used(server, name, exchange.caller);
      },
    });
    this.#registry = createRegistry({
      ...options,
      upstreams: this.#upstreams,
      tokens: () => account?.report?.(),
    });
    const composite =
      surface === "direct"
        ? []
        : createCompositeTools({
            ...options,
            store,
            gateway: async () => await options.backends.gateway?.(),
            registry: this.#registry,
            run,
            log: this.#log,
          });
    this.#listed = options.echo === true ? [...composite, echoTool] : composite;
    this.#own = new Map([...composite, echoTool].map((tool) => [tool.definition.name, tool]));
    const own = this.#listed.map(({ definition }) => definition);
    this.#ownDefinitions = own;
    const tools = new DirectSurface({
      upstreams: this.#upstreams,
      names,
      remembers: surface === "auto",
      spill: surface === "auto" && options.spill !== false ? store : undefined,
      reserved: new Set(this.#own.keys()),
      run,
      log: this.#log,
      logger,
      onResult: (server, { content }, exchange) => {
        this.#resources.routes.note(server, content instanceof JsonBytes ? linksIn(content) : content);
        if (account !== undefined && readerOf(exchange) === "model") countText(account, content);
      },
    });
    this.#tools = tools;
    this.#direct = surface === "composite" ? undefined : tools;
    this.#isDenied = createDenials({ policies, serverNames });
    if (this.#direct !== undefined && surface === "auto") {
      const { surfaceSettings: settings, usage } = options;
      const isDenied = this.#isDenied;
      const servers = () => this.#upstreams.servers();
      this.#auto = new AutoSurface({
        direct: this.#direct,
        own,
        servers,
        refresh: () => this.#upstreams.refresh(),
        settings,
        isDenied,
        serverNames,
        usage,
        logger,
      });
    }
    this.#lists = account === undefined ? undefined : new ListAccount(account, own);
    this.#prompts = new Prompts({
      upstreams: this.#upstreams,
      folders: options.promptFolders ?? [],
      project: options.projectPrompts,
      builtin: surface !== "direct",
      names: names === "plain" ? "plain" : "prefixed",
      logger,
      onChanged: () => this.#events.note("prompts_list_changed"),
    });
    this.#resources = new Resources({
      upstreams: this.#upstreams,
      store,
      status: () => this.#status(),
      onStatus: (listener) => this.#onStatusChanged(listener),
      logger,
    });
  }

  capabilities(revision: string): Raw {
    return {
      // The composite tools never change.
      tools: this.#direct === undefined ? {} : { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      ...(revision >= COMPLETIONS_SINCE ? { completions: {} } : {}),
      logging: {},
    };
  }

  async instructions(caller: Caller): Promise<string> {
    if (this.#auto === undefined) return this.#instructions;
    const decision = await this.#auto.begin(caller);
    const lines = decision.shape === "direct" ? "" : await this.#serverLines(decision);
    return autoInstructions(decision.shape, this.#names, lines);
  }

  async previewSurface(
    caller: Pick<Caller, "name" | "capabilities" | "principal">,
  ): Promise<SurfacePreview | undefined> {
    if (this.#auto === undefined) return undefined;
    // For people, who would wonder why an estimate changes the next time.
    await this.#upstreams.measured();
    return await this.#auto.preview(caller);
  }

  async start({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    // On the surface `auto` a tool whose name is taken is reachable as an operation.
    if (this.#direct === undefined || this.#auto !== undefined || this.#names !== "plain") return;
    const collisions = await this.#direct.collisions(signal ?? new AbortController().signal);
    if (collisions.length > 0) throw collisionError(collisions);
  }

  handle(method: string, params: Raw, given: Exchange): Promise<Raw> {
    const exchange = this.#begun(given);
    return method === "tools/call" ? this.#call(params, exchange) : this.#answer(method, params, exchange);
  }

  callTool(key: ToolKey, args: Raw, given: Exchange): Promise<ToolResult> {
    return this.#tools.callTool(key, args, this.#begun(given));
  }

  async knownServers(): Promise<readonly KnownServer[]> {
    await this.#upstreams.refresh();
    return await this.#upstreams.servers();
  }

  async denials(operations: readonly string[]): Promise<readonly boolean[]> {
    return await this.#isDenied(operations);
  }

  #begun(given: Exchange): Exchange {
    const { askThrough } = this.#options;
    const exchange = askThrough === undefined ? given : withAskThrough(given, askThrough);
    if (exchange.caller.lasting) this.#callers.hold(exchange);
    return exchange;
  }

  async #answer(method: string, params: Raw, exchange: Exchange): Promise<Raw> {
    switch (method) {
      case "tools/list":
        return await this.#list(exchange);
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

  async isRepeatable(tool: string, { signal }: { signal: AbortSignal }): Promise<boolean> {
    const known = () => this.#own.get(tool)?.definition ?? this.#direct?.definition(tool);
    if (known() === undefined) await this.#direct?.list(signal);
    const annotations = known()?.annotations;
    return isRecord(annotations) && (annotations.readOnlyHint === true || annotations.idempotentHint === true);
  }

  noteLost(tool: string, client: string): void {
    const operation = this.#own.has(tool) ? tool : this.#direct?.definition(tool)?.name;
    this.#log.note(operation, { name: client, principal: LOCAL_PRINCIPAL }, { asked: tool, code: "SERVER_EXITED" });
  }

  async canonicalArguments(tool: string, args: Raw, options: { signal: AbortSignal }): Promise<Raw> {
    return (await this.#own.get(tool)?.canonical?.(args, options)) ?? args;
  }

  onEvent(listener: (event: ServiceEvent) => void): () => void {
    this.#prompts
      .watch()
      .catch((error: unknown) => this.#options.logger.warn("cannot watch prompts", { error: messageOf(error) }));
    return this.#events.listen(listener);
  }

  async subscribe(
    uri: string,
    listener: () => void,
    options: { principal: string; signal?: AbortSignal },
  ): Promise<() => Promise<void>> {
    return await this.#resources.subscribe(uri, listener, options);
  }

  async setLogLevel(caller: Caller, level: string): Promise<void> {
    if (!isLogLevel(level)) throw new RpcError(RPC_CODES.invalidParams, `"${level}" is not a log level.`);
    await this.#callers.setLogLevel(caller, level);
  }

  async rootsChanged(caller: Caller, roots: readonly Root[]): Promise<void> {
    if (caller.endpoint === "stdio") await this.#registry.setRoots(caller, roots);
    await this.#callers.setRoots(caller, roots);
  }

  async release(caller: Caller): Promise<void> {
    this.#auto?.release(caller);
    this.#lists?.release(caller);
    const { account } = this.#options;
    const releasing = [
      this.#callers.release(caller),
      this.#registry.release(caller),
      ...(caller.lasting ? [account?.settle?.()] : []),
    ];
    for (const outcome of await Promise.allSettled(releasing)) {
      if (outcome.status === "rejected")
        this.#options.logger.warn("cannot release a caller's state", { error: messageOf(outcome.reason) });
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#lifetime.abort();
      this.#events[Symbol.dispose]();
      this.#prompts[Symbol.dispose]();
      this.#callers.close();
      this.#statusListeners.clear();
      await Promise.all([this.#upstreams.close(), this.#registry.close(), this.#news]);
      await this.#counter.close();
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #call({ name, arguments: args = {} }: Raw, exchange: Exchange): Promise<ToolResult> {
    if (typeof name !== "string" || !isRecord(args)) {
      const what =
        typeof name !== "string" ? "The tool name is missing." : "The arguments of a tool have to be an object.";
      const refusal = new RpcError(RPC_CODES.invalidParams, what);
      const known = this.#own.get(String(name))?.definition ?? this.#direct?.definition(String(name));
      return this.#noted(known?.name, exchange, () => Promise.reject(refusal));
    }
    const own = this.#own.get(name);
    // The other tools journal their own calls.
    if (own === echoTool) return this.#noted(name, exchange, () => own.call(args as Params, exchange));
    if (own !== undefined) return own.call(args as Params, exchange);
    if (this.#direct !== undefined) return this.#direct.call(name, args, exchange);
    const known = `Available: ${this.#listed.map(({ definition }) => definition.name).join(", ")}.`;
    const unknown = unknownTool(name, `${known} ${OPERATIONS_HINT}`);
    this.#log.note(undefined, exchange.caller, { asked: name, error: unknown });
    return Promise.reject(unknown);
  }

  /** Writes one journal line for a call that is not an operation. */
  async #noted<T extends Raw>(what: string | undefined, exchange: Exchange, work: () => Promise<T>): Promise<T> {
    const end = this.#log.begin(what, exchange.caller);
    try {
      const result = await work();
      end({ value: result, ...(result.isError === true ? { code: "INVALID_ARGUMENT" } : {}) });
      return result;
    } catch (error) {
      end(exchange.signal.aborted ? { code: "ABORTED" } : { error });
      throw error;
    }
  }

  /** Lists the tools on a single page, because some clients do not request the next one. */
  async #list(exchange: Exchange): Promise<Raw> {
    const { caller } = exchange;
    const auto = await this.#auto?.list(exchange);
    const list = auto?.list ?? (await this.#directList(exchange));
    const { tools } = list;
    // A list that a person reads, such as the banner of `serve --http`, costs no tokens.
    if (caller.trusted !== true) this.#lists?.add(caller, tools, auto?.decision);
    return auto !== undefined && caller.era === "modern" ? { tools, ttlMs: LIST_TTL_MS } : { tools };
  }

  /** Our own tools and, on a surface that lists them, those of all servers. */
  async #directList({ signal }: Exchange): Promise<AutoList> {
    const own = this.#ownDefinitions;
    const listed = await this.#direct?.list(signal);
    if (listed === undefined) return { tools: own, upstream: [] };
    const upstream = listed.map(({ definition }) => definition);
    const list = this.#directLists.get(listed) ?? { tools: [...own, ...upstream], upstream };
    this.#directLists.set(listed, list);
    return list;
  }

  /** Names the servers with tools that the client's list does not show. */
  async #serverLines({ servers: listed, favourites, signed }: SurfaceDecision): Promise<string> {
    try {
      const isHidden = ({ server, tool }: { server: string; tool: string }) =>
        !listed.has(server) && !favourites.has(`${server}.${tool}`) && !signed.has(`${server}.${tool}`);
      const servers = await this.#upstreams.servers();
      return serverLines(servers.filter(({ tools }) => tools?.some(isHidden) ?? true));
    } catch (error) {
      // A configuration that cannot be read is reported elsewhere.
      this.#options.logger.debug("no servers to name", { error: messageOf(error) });
      return "";
    }
  }

  /** Tells clients that their list of tools has changed, if it has. */
  #noteTools(): void {
    const auto = this.#auto;
    if (auto === undefined) {
      if (this.#direct !== undefined) this.#events.note("tools_list_changed");
      return;
    }
    this.#news = this.#news
      .then(async () => {
        if (await auto.hasNews()) this.#events.note("tools_list_changed");
      })
      .catch((error: unknown) => this.#options.logger.debug("cannot compare tool lists", { error: messageOf(error) }));
  }

  #onCatalogue(changed: readonly ("tools" | "prompts" | "resources")[]): void {
    if (changed.includes("tools")) {
      this.#noteTools();
      // Without the composite tools, nothing can be searched.
      if (this.#options.surface !== "direct") this.#registry.indexTools();
    }
    if (changed.includes("prompts")) this.#events.note("prompts_list_changed");
    if (changed.includes("resources")) {
      this.#resources.routes.changed();
      this.#events.note("resources_list_changed");
    }
  }

  /** One line in the journal for each definition that is new, changed or held. */
  #onDefinitions(server: string, news: readonly DefinitionNews[]): void {
    for (const { kind, name, change } of news) {
      const what = kind === "instructions" ? `${server} instructions` : `${server}.${name}`;
      if (change === "approved") continue;
      const client = { name: DEFINITION_NEWS[change], principal: LOCAL_PRINCIPAL };
      this.#log.note(what, client, change === "held" ? { code: "HELD" } : {});
    }
  }

  #onStatus(): void {
    for (const listener of this.#statusListeners) listener();
    const hub = this.#upstreams.opened;
    if (this.#direct === undefined || hub === undefined) return;
    // A server that requires a sign-in gets an extra tool, which is not a change to any of its own lists.
    const signIns = hub
      .status()
      .flatMap(({ name, state }) => (state === "needs-auth" ? [name] : []))
      .join();
    if (signIns === this.#signIns) return;
    this.#signIns = signIns;
    this.#noteTools();
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
      revision,
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    }));
    return { server: this.info, servers };
  }
}

/** The links of a large result, as blocks. */
function linksIn({ summary }: JsonBytes): readonly Raw[] {
  return (summary?.links ?? []).map((uri) => ({ type: "resource_link", uri }));
}

function countText(account: TokenAccount, content: unknown): void {
  if (content instanceof JsonBytes) account.addBytes?.("results", content.summary?.textBytes ?? 0);
  if (!Array.isArray(content)) return;
  for (const block of content) {
    if (block?.type === "text" && typeof block.text === "string") account.add("results", block.text);
  }
}
