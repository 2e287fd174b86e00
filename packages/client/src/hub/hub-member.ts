// A server in the hub: its connection and its last known lists.
import {
  contentIdOf,
  isTrunklineError,
  matchesGlob,
  type SourcedTool,
  signalOf,
  type ToolCallOptions,
  type ToolCallResult,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { buildParamHeaders, RPC_CODES, readParamHeaders } from "@trunkline/protocol";
import { authenticateResult, SIGN_IN_TOOL, signInElsewhere, withdrawnBy } from "../auth/sign-in-tool.js";
import { type Channel, canAnswer, currentChannel, partyOf } from "../channel/channel.js";
import type { ServerDefinition, ToolFilter } from "../config/loaded-config.js";
import { Connection, type RequestSource } from "../connection/connection.js";
import { isSessionExpired } from "../connection/connection-errors.js";
import type { ConnectionOptions, ListKind } from "../connection/connection-options.js";
import type { RequestOptions } from "../connection/server-conversation.js";
import type { TaskWish } from "../connection/task-calls.js";
import type { Definition, PinKind } from "../pins/pinned-definition.js";
import { type HeldEntry, heldError, type ServerPins } from "../pins/server-pins.js";
import { largeOf, smallFieldsOf, wholeResult } from "../results/large-messages.js";
import { toSourcedTool } from "./catalogue-items.js";
import type { HubCallOptions } from "./hub-options.js";

/** What a member needs besides its definition, and its callbacks. */
interface MemberOptions extends Omit<ConnectionOptions, "onConnected" | "onListChanged"> {
  /** The definitions that were accepted so far. */
  pins: ServerPins;
  /** Called when a list has been read again. */
  onCatalogue: (kind: CatalogueKind) => void;
}

/** The kinds of lists a server has. */
export type CatalogueKind = ListKind | "templates";

const LISTS: Record<CatalogueKind, { method: string; key: string; capability: ListKind }> = {
  tools: { method: "tools/list", key: "tools", capability: "tools" },
  resources: { method: "resources/list", key: "resources", capability: "resources" },
  prompts: { method: "prompts/list", key: "prompts", capability: "prompts" },
  templates: { method: "resources/templates/list", key: "resourceTemplates", capability: "resources" },
};

/**
 * A server that keeps reporting changes is listed again only after a pause of this many times the last listing, so that
 * it cannot keep us busy. The first change after connecting is listed at once, however long connecting took.
 */
const PAUSE_TIMES = 4;
const MAX_PAUSE_MS = 10_000;

export class HubMember {
  readonly connection: Connection;
  readonly #options: MemberOptions;
  /** The lists as the server sent them, without held definitions. */
  readonly #lists = new Map<CatalogueKind, readonly Definition[]>();
  /** Tools and prompts as the server sent them, held ones included. */
  readonly #listed = new Map<PinKind, readonly Definition[]>();
  /** Why a list is unknown although its server is connected. */
  readonly #failures = new Map<CatalogueKind, TrunklineError>();
  readonly #fingerprints = new Map<CatalogueKind, string>();
  readonly #refreshing = new Map<CatalogueKind, Promise<void>>();
  readonly #again = new Set<CatalogueKind>();
  /** Lists that changed while they were being read. */
  readonly #announced = new Set<CatalogueKind>();
  /** When a changed list may be read again, and the timers that wait for it. */
  readonly #notBeforeMs = new Map<CatalogueKind, number>();
  readonly #pauses = new Map<CatalogueKind, NodeJS.Timeout>();
  #isClosed = false;
  readonly #background = new Set<Promise<void>>();
  /** With the policy `isolate`: the dedicated connections of channels. */
  readonly #isolated = new Map<object, Connection>();
  #tools: readonly SourcedTool[] = [];
  #toolsByName: ReadonlyMap<string, SourcedTool> = new Map();
  #remarks: readonly string[] = [];

  constructor(definition: ServerDefinition, options: MemberOptions) {
    this.#options = options;
    this.connection = new Connection(definition, {
      ...options,
      onConnected: (signal) => this.#onConnected(signal),
      onListChanged: (kind) => {
        // Template lists are not prefetched: drop the cached list, and the next request fetches it again.
        if (kind === "resources") this.#lists.delete("templates");
        this.#announce(kind);
      },
    });
  }

  get name(): string {
    return this.connection.definition.name;
  }

  /** The tools that the configuration allows; empty while the server is not connected. */
  get tools(): readonly SourcedTool[] {
    return this.connection.state === "connected" ? this.#tools : [];
  }

  /** The tools as last listed, even while the server is not connected. */
  get lastTools(): readonly SourcedTool[] {
    return this.#tools;
  }

  /** Changes when a list changes; empty while it is unknown or the server is not connected. */
  fingerprintOf(kind: ListKind): string {
    return this.connection.state === "connected" ? (this.#fingerprints.get(kind) ?? "") : "";
  }

  /** Returns a tool as last listed, even while the server is disconnected. */
  #knownTool(tool: string): SourcedTool | undefined {
    return this.#toolsByName.get(tool);
  }

  /** Why a connected server could not list its tools. */
  get toolsError(): TrunklineError | undefined {
    return this.#failures.get("tools");
  }

  /** Skipped tools, and why. */
  get remarks(): readonly string[] {
    return this.connection.state === "connected" ? this.#remarks : [];
  }

  /** Returns a list as the server last sent it, and requests it if unknown. Rejects if it is unavailable. */
  async list(
    kind: CatalogueKind,
    { refresh, signal }: { refresh: boolean; signal: AbortSignal | undefined },
  ): Promise<readonly Definition[]> {
    await this.connection.connect(signal);
    await this.#refreshing.get(kind);
    if (refresh || !this.#lists.has(kind) || this.#failures.has(kind)) await this.#refresh(kind);
    const failure = this.#failures.get(kind);
    if (failure !== undefined) throw failure;
    return this.#lists.get(kind) ?? [];
  }

  /** Calls a tool, connecting the server if necessary. */
  async call(tool: string, args: Record<string, unknown>, options: HubCallOptions): Promise<ToolCallResult> {
    const { name, connection } = this;
    const { logger } = this.#options;
    if (tool === SIGN_IN_TOOL && connection.state === "needs-auth") {
      return await this.#authenticate(options);
    }
    if (!isAllowed(tool, connection.definition.tools)) {
      throw new TrunklineError("TOOL_NOT_FOUND", `The configuration of "${name}" excludes the tool "${tool}".`, {
        hint: 'Check "tools" in its entry.',
      });
    }
    const { task, meta, acceptLarge = false, ...sending } = options;
    const params = { name: tool, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
    // Built only once the server is connected: both depend on its era and its list of tools.
    const request = () => ({
      method: "tools/call",
      params,
      task: this.#taskFor(tool, task),
      headers: this.#headersFor(tool, args),
    });
    logger.debug("calling a tool", { server: name, tool });
    let raw: Record<string, unknown>;
    try {
      raw = await this.#request(request, sending);
    } catch (error) {
      raw = await this.#repeat(error, tool, () => this.#request(request, sending));
    }
    const isError = raw.isError === true;
    const large = acceptLarge ? largeOf(raw) : undefined;
    if (large !== undefined) return { isError, raw: smallFieldsOf(raw), large };
    return { isError, raw: largeOf(raw) === undefined ? raw : await wholeResult(raw) };
  }

  /** Repeats a failed call if that is safe and can help. */
  async #repeat(
    error: unknown,
    tool: string,
    send: () => Promise<Record<string, unknown>>,
  ): Promise<Record<string, unknown>> {
    let failure = error;
    if (isTrunklineError(error, "UPSTREAM") && error.data?.code === RPC_CODES.headerMismatch) {
      // The tool has changed since it was listed, and so have the headers it requires.
      await this.#refresh("tools");
      try {
        return await send();
      } catch (again) {
        failure = again;
      }
    }
    // The call may have taken effect before the server exited, so only calls that are safe to repeat are retried.
    if (!isTrunklineError(failure, "SERVER_EXITED") || !this.#isRepeatable(tool)) throw failure;
    this.#options.logger.info("server exited during a call, repeating an idempotent call", { server: this.name, tool });
    return await send();
  }

  /** Lets the caller's user sign in. Rejects with `AUTH_REQUIRED` and what to do if they cannot be asked. */
  async #authenticate(options: HubCallOptions): Promise<ToolCallResult> {
    const { name, connection } = this;
    const { channel } = options;
    const signal = signalOf(options);
    const ask = (channel ?? currentChannel() ?? this.#options.asking.channel)?.signIn;
    const cannotAsk = ask === undefined && this.#options.signingIn.signIn === undefined;
    try {
      // The user may have signed in elsewhere, so connect even if they cannot be asked here.
      const outcome = await connection.authenticate(signal, ask === undefined ? undefined : withdrawnBy(signal, ask));
      return authenticateResult(name, outcome, () => this.tools.length);
    } catch (error) {
      throw cannotAsk && isTrunklineError(error, "AUTH_REQUIRED") ? signInElsewhere(name, error) : error;
    }
  }

  /** Whether the server declares the tool idempotent. */
  #isRepeatable(tool: string): boolean {
    const annotations = this.#knownTool(tool)?.annotations;
    return annotations?.idempotentHint === true || annotations?.readOnlyHint === true;
  }

  /** Builds the headers that a call of this tool requires, if the server uses HTTP and its revision has them. */
  #headersFor(tool: string, args: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
    const known = this.#hasParamHeaders ? this.#knownTool(tool) : undefined;
    const read = known === undefined ? undefined : readParamHeaders(known.inputSchema);
    return read === undefined || read.problem !== undefined ? undefined : buildParamHeaders(read.headers, args);
  }

  /**
   * Decides whether to request a task: if the tool requires one, or if the caller asks for one and the tool allows it.
   * A modern server decides for itself; a legacy one that does not offer tasks for this tool must not be asked for one.
   */
  #taskFor(tool: string, wish: TaskWish | boolean | undefined): TaskWish | false | undefined {
    if (wish === false) return false;
    const wanted = wish === true ? {} : wish;
    if (this.connection.era === "modern") return wanted;
    const { tasks } = this.connection.capabilities as { tasks?: { requests?: { tools?: { call?: unknown } } } };
    if (tasks?.requests?.tools?.call === undefined) return undefined;
    const execution = this.#knownTool(tool)?.raw?.execution as { taskSupport?: unknown } | undefined;
    if (execution?.taskSupport === "required") return wanted ?? {};
    return execution?.taskSupport === "optional" ? wanted : undefined;
  }

  /** Sets the minimum level of the server's log messages, now and after every reconnect. */
  async setLogLevel(level: string, options: ToolCallOptions): Promise<void> {
    await this.connection.connect(options.signal);
    if (this.connection.era === "legacy") {
      await this.connection.request({ method: "logging/setLevel", params: { level } }, options);
    }
    for (const connection of [this.connection, ...this.#isolated.values()]) connection.setLogLevel(level);
  }

  /** Sets the level without connecting: a disconnected server gets it when it reconnects. Never rejects. */
  async preferLogLevel(level: string): Promise<void> {
    const connections = [this.connection, ...this.#isolated.values()];
    for (const connection of connections) connection.setLogLevel(level);
    await Promise.all(
      connections
        .filter(({ state, era, capabilities }) => {
          return state === "connected" && era === "legacy" && capabilities.logging !== undefined;
        })
        .map((connection) =>
          connection
            .request({ method: "logging/setLevel", params: { level } })
            .catch((error: unknown) => this.#options.logger.warn("log level not set", { server: this.name, error })),
        ),
    );
  }

  /** The number of resources or prompts; 0 while the server is not connected. */
  count(kind: "resources" | "prompts"): number {
    return this.connection.state === "connected" ? (this.#lists.get(kind)?.length ?? 0) : 0;
  }

  /** Whether any definition waits for approval. */
  get isHolding(): boolean {
    const { pins } = this.#options;
    return pins.held("tools").length + pins.held("prompts").length > 0;
  }

  /** Definitions that wait for approval, as far as the configuration allows their use. */
  get held(): readonly HeldEntry[] {
    const { pins } = this.#options;
    const { tools } = this.connection.definition;
    return [...pins.held("tools").filter(({ name }) => isAllowed(name, tools)), ...pins.held("prompts")].map(
      (item) => ({ ...item, server: this.name }),
    );
  }

  /** Looks whether held definitions were approved meanwhile, in another process, and offers those. */
  async recheckHeld(): Promise<void> {
    for (const kind of ["tools", "prompts"] as const) {
      if (await this.#options.pins.isStillHeld(kind)) continue;
      await this.#offer(kind, this.#listed.get(kind) ?? []);
      this.#options.onCatalogue(kind);
    }
  }

  /** Accepts held definitions as they are now. */
  async approve(kind: PinKind, names: readonly string[]): Promise<void> {
    await this.#options.pins.approve(kind, names);
    await this.recheckHeld();
  }

  /** The tools that the server is known to have, even if it was not connected by this hub. */
  async knownTools() {
    return await this.#options.pins.knownTools();
  }

  /** Sends a request on the calling channel's connection, connecting it if necessary. */
  async request(source: RequestSource, options: RequestOptions = {}): Promise<Record<string, unknown>> {
    const result = await this.#request(source, options);
    return largeOf(result) === undefined ? result : await wholeResult(result);
  }

  /** The same, but large fields of the result may be elsewhere. */
  async #request(source: RequestSource, options: RequestOptions): Promise<Record<string, unknown>> {
    if (this.isHolding) await this.recheckHeld();
    // Checked when the request is built: connecting lists the tools again.
    const request = () => this.#requireNotHeld(typeof source === "function" ? source() : source);
    const channel = options.channel ?? currentChannel();
    const connection = this.#mayIsolate(channel)
      ? await this.#isolatedFor(channel, signalOf(options))
      : this.connection;
    return await connection.request(request, options);
  }

  #requireNotHeld<T extends { readonly method: string; readonly params: Readonly<Record<string, unknown>> }>(
    request: T,
  ): T {
    const kind = request.method === "tools/call" ? "tools" : request.method === "prompts/get" ? "prompts" : undefined;
    if (kind === undefined) return request;
    const held = this.#options.pins.held(kind).find(({ name }) => name === request.params.name);
    if (held !== undefined) throw heldError({ ...held, server: this.name });
    return request;
  }

  /** Closes the dedicated connection of a party. */
  async release(party: object): Promise<void> {
    const connection = this.#isolated.get(party);
    this.#isolated.delete(party);
    await connection?.close();
  }

  /** Waits for background work: counting resources and prompts, listing again after a change. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pause of this.#pauses.values()) clearTimeout(pause);
    await Promise.all([this.connection, ...this.#isolated.values()].map((connection) => connection.close()));
    await this.settled();
  }

  /**
   * A legacy stdio server cannot say which call a question belongs to; with the policy `isolate`, each channel that can
   * answer gets its own connection.
   */
  #mayIsolate(channel: Channel | undefined): channel is Channel {
    const { definition } = this.connection;
    if (this.#options.asking.policy !== "isolate" || channel === undefined || !canAnswer(channel)) return false;
    return definition.type === "stdio" && definition.asks !== false;
  }

  async #isolatedFor(channel: Channel, signal: AbortSignal | undefined): Promise<Connection> {
    await this.connection.connect(signal);
    const { definition, era } = this.connection;
    if (era !== "legacy") return this.connection;
    const party = partyOf(channel) ?? channel;
    let own = this.#isolated.get(party);
    if (own === undefined) {
      own = new Connection(definition, {
        ...this.#options,
        // Only the shared connection updates the catalogue.
        onState: () => {},
        onConnected: async () => this.#tellLogLevel(own),
        onListChanged: () => {},
      });
      this.#isolated.set(party, own);
    }
    return own;
  }

  async #onConnected(signal: AbortSignal): Promise<void> {
    await this.#refresh("tools", signal);
    this.#lists.delete("templates");
    // The other counts are only for the status, so no call has to wait for them.
    this.#inBackground(Promise.all([this.#refresh("resources"), this.#refresh("prompts")]).then(() => {}));
    const { instructions: text } = this.connection;
    if (text !== undefined) this.#inBackground(this.#options.pins.check("instructions", [{ text }]).then(() => {}));
    this.#tellLogLevel(this.connection);
  }

  /** Sends the log level again: a restarted legacy server has forgotten it. A modern one gets it with each call. */
  #tellLogLevel(connection: Connection | undefined): void {
    const level = this.connection.logLevel;
    if (connection?.era !== "legacy" || level === undefined || connection.capabilities.logging === undefined) return;
    this.#inBackground(connection.request({ method: "logging/setLevel", params: { level } }).then(() => {}));
  }

  /** Headers for arguments exist since 2026-07-28, and only HTTP has headers. */
  get #hasParamHeaders(): boolean {
    return this.connection.era === "modern" && this.connection.definition.type !== "stdio";
  }

  /** Lists again. Requests that arrive in the meantime cause one more round, however many there are. */
  async #refresh(kind: CatalogueKind, signal?: AbortSignal, isAnnounced = false): Promise<void> {
    const running = this.#refreshing.get(kind);
    if (running !== undefined) {
      this.#again.add(kind);
      return await running;
    }
    const round = (async () => {
      do {
        this.#again.delete(kind);
        const startedMs = performance.now();
        await this.#list(kind, signal);
        const endedMs = performance.now();
        const pauseMs = Math.min(MAX_PAUSE_MS, (endedMs - startedMs) * PAUSE_TIMES);
        if (isAnnounced) this.#notBeforeMs.set(kind, endedMs + pauseMs);
      } while (this.#again.has(kind));
    })().finally(() => {
      this.#refreshing.delete(kind);
      if (this.#announced.delete(kind) && !this.#isClosed) this.#announce(kind);
    });
    this.#refreshing.set(kind, round);
    await round;
  }

  /** Lists again because the server reported a change: now, or when its pause is over. */
  #announce(kind: CatalogueKind): void {
    if (this.#refreshing.has(kind)) {
      this.#announced.add(kind);
      return;
    }
    const waitMs = (this.#notBeforeMs.get(kind) ?? 0) - performance.now();
    const listAgain = () => this.#inBackground(this.#refresh(kind, undefined, true));
    if (waitMs <= 0) listAgain();
    else if (!this.#pauses.has(kind)) {
      const onEnd = () => {
        this.#pauses.delete(kind);
        listAgain();
      };
      this.#pauses.set(kind, setTimeout(onEnd, waitMs).unref());
    }
  }

  async #list(kind: CatalogueKind, signal: AbortSignal | undefined): Promise<void> {
    const { connection } = this;
    const { method, key, capability } = LISTS[kind];
    let items: readonly Definition[] = [];
    let failure: TrunklineError | undefined;
    try {
      if (connection.capabilities[capability] !== undefined) {
        items = await connection.listAll(method, key, signal ? { signal } : {}).catch(async (error: unknown) => {
          // Opening a new session lists the tools, so listing the tools must not wait for a new session.
          if (!isSessionExpired(error) || kind === "tools") throw error;
          await connection.request({ method, params: {} });
          return await connection.listAll(method, key);
        });
      }
    } catch (error) {
      // The capability `resources` does not promise templates: many servers do not know the method.
      const hasNone = kind === "templates" && isMethodNotFound(error);
      failure = hasNone ? undefined : toTrunklineError(error);
      // Some servers accept every connection and require a sign-in only for listing tools. They do not count as
      // connected.
      if (kind === "tools" && signal !== undefined && isTrunklineError(failure, "AUTH_REQUIRED")) throw failure;
      if (failure !== undefined && !isTrunklineError(failure, "ABORTED")) {
        this.#options.logger.warn("list failed", { server: this.name, method, error: failure });
      }
    }
    // A list that could not be read says nothing about the definitions.
    const isPinned = failure === undefined && connection.capabilities[capability] !== undefined;
    await this.#offer(kind, items, isPinned);
    if (failure === undefined) this.#failures.delete(kind);
    else this.#failures.set(kind, failure);
    if (connection.state === "connected") this.#options.onCatalogue(kind);
  }

  /** Compares a list with the pinned definitions, and makes the accepted part of it the current list. */
  async #offer(kind: CatalogueKind, items: readonly Definition[], isPinned = true): Promise<void> {
    let fingerprint = kind === "templates" ? "" : contentIdOf(JSON.stringify(items));
    let offered = items;
    if (isPinned && (kind === "tools" || kind === "prompts")) {
      offered = await this.#options.pins.check(kind, items, fingerprint);
      this.#listed.set(kind, items);
      if (offered.length !== items.length) fingerprint = contentIdOf(JSON.stringify(offered));
    }
    this.#lists.set(kind, offered);
    this.#fingerprints.set(kind, fingerprint);
    if (kind !== "tools") return;
    const { tools } = this.connection.definition;
    this.#tools = this.#usable(
      offered.flatMap((raw) => toSourcedTool(this.name, raw) ?? []).filter(({ tool }) => isAllowed(tool, tools)),
    );
    // Of several tools with one name, the first counts.
    this.#toolsByName = new Map(this.#tools.map((tool) => [tool.tool, tool] as const).reverse());
  }

  /** Filters out tools whose header declarations violate the specification. */
  #usable(tools: readonly SourcedTool[]): readonly SourcedTool[] {
    const remarks: string[] = [];
    const usable = tools.filter(({ tool, inputSchema }) => {
      const read = this.#hasParamHeaders ? readParamHeaders(inputSchema) : undefined;
      if (read?.problem === undefined) return true;
      remarks.push(`Server "${this.name}" has a tool "${tool}" that cannot be used: ${read.problem}.`);
      this.#options.logger.warn("tool skipped", { server: this.name, tool, reason: read.problem });
      return false;
    });
    this.#remarks = remarks;
    return usable;
  }

  #inBackground(work: Promise<void>): void {
    const kept = work.catch((error: unknown) =>
      this.#options.logger.debug("background work failed", { server: this.name, error }),
    );
    this.#background.add(kept);
    void kept.finally(() => this.#background.delete(kept));
  }
}

/** Whether the configuration allows a tool. Denied tools stay out even if they are also allowed. */
function isAllowed(tool: string, filter: ToolFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.deny?.some((glob) => matchesGlob(glob, tool))) return false;
  return filter.allow === undefined || filter.allow.some((glob) => matchesGlob(glob, tool));
}

function isMethodNotFound(error: unknown): boolean {
  return isTrunklineError(error, "UPSTREAM") && error.data?.code === RPC_CODES.methodNotFound;
}
