// The hub: every server of a configuration, connected, as one catalogue. Callers and sub-agents share its connections.

import type { LoadedConfig, ServerDefinition } from "@trunkline/config";
import { type ToolKey, toolNamePrefix } from "@trunkline/config";
import {
  type ErrorCode,
  type Logger,
  Redactor,
  type SourcedTool,
  silentLogger,
  type ToolCallOptions,
  type ToolCallResult,
  type ToolSource,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import type { LogMessageLevel } from "@trunkline/protocol";
import { CredentialStore, type Credentials, MemoryCredentials } from "../auth/credentials.js";
import { SIGN_IN_TIMEOUT_MS } from "../auth/sign-in.js";
import { SIGN_IN_TOOL } from "../auth/sign-in-tool.js";
import { Catalogue } from "../catalogue/catalogue.js";
import type { SourcedPrompt, SourcedResource, SourcedTemplate } from "../catalogue/catalogue-items.js";
import type { ServerStatus } from "../catalogue/known-server.js";
import type { ToolNames } from "../catalogue/names-table.js";
import { type Channel, partyOf, type Root, runWithChannel } from "../channel/channel.js";
import type { LeaseOptions } from "../connection/connection-options.js";
import { inheritedEnvironment } from "../connection/server-environment.js";
import { type HeldEntry, ServerPins } from "../pins/server-pins.js";
import { ConnectionPool } from "../pool/connection-pool.js";
import type { Lease } from "../pool/lease.js";
import { canStart } from "../pool/pooled-server.js";
import { renderText } from "../results/render-result.js";
import {
  type CatalogueListener,
  type DefinitionsListener,
  HubEvents,
  type Listener,
  type NotificationListener,
} from "./hub-events.js";
import { HubMember } from "./hub-member.js";
import { HubMembers } from "./hub-members.js";
import type { CallResult, HubCallOptions, HubOptions, HubWarning } from "./hub-options.js";
import {
  type CompleteOptions,
  type Completion,
  type CompletionReference,
  HubRequests,
  type ListOptions,
  type PromptResult,
  type ReadResourceResult,
} from "./hub-requests.js";
import { redactedError, statusOf, warningsOf } from "./hub-status.js";
import { type ResourceListener, Subscriptions } from "./resource-subscriptions.js";

const DEFAULT_ASK_WAIT_MS = 10_000;
const DEFAULT_MAX_QUESTIONS = 50;

/** How a request fails if the hub is closed while it looks for its server, tool or prompt. */
const GONE_CODES: ReadonlySet<ErrorCode> = new Set([
  "SERVER_NOT_FOUND",
  "SERVER_UNAVAILABLE",
  "TOOL_NOT_FOUND",
  "NOT_FOUND",
  "AMBIGUOUS",
]);

/** All servers of a configuration as one catalogue of tools. Open it with `openHub`. */
export class Hub implements ToolSource, AsyncDisposable {
  readonly #members: HubMembers;
  readonly #catalogue: Catalogue<HubMember>;
  readonly #pool: ConnectionPool;
  readonly #options: HubOptions;
  readonly #redactor: Redactor;
  readonly #logger: Logger;
  readonly #credentials: Credentials;
  readonly #events: HubEvents;
  readonly #scopes = new Map<object, number>();
  readonly #requests: HubRequests;
  #subscriptions: Subscriptions | undefined;
  #roots: readonly Root[] | undefined;
  readonly #onAbort = () => void this.close().catch((error: unknown) => this.#logger.warn("closing failed", { error }));
  #config: LoadedConfig;
  #logLevel: string | undefined;
  #closing: Promise<void> | undefined;

  /** Use `openHub`. */
  constructor(config: LoadedConfig, options: HubOptions = {}) {
    this.#config = config;
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#pool = options.connections ?? new ConnectionPool({ logger: this.#logger });
    this.#credentials = options.home === undefined ? new MemoryCredentials() : new CredentialStore(options.home);
    this.#redactor = (options.redactor ?? new Redactor()).add(...config.secrets);
    this.#members = new HubMembers({
      logger: this.#logger,
      prepare: () => this.#catalogue.loadPinned(),
      create: (definition) => this.#createMember(definition),
    });
    this.#catalogue = new Catalogue({
      logger: this.#logger,
      servers: () => this.#members.sorted(),
      statusOf: (member) => statusOf(member, this.#redactor, this.#config),
      connect: (member, within) => this.#members.tryConnect(member, within),
    });
    this.#requests = new HubRequests(this.#members);
    this.#events = new HubEvents({ logger: this.#logger, fingerprints: () => this.#catalogue.fingerprints() });
    this.#events.catalogue.add(() => this.#catalogue.keep());
    if (options.onCatalogChanged) this.#events.catalogue.add(options.onCatalogChanged);
    if (options.onStatusChanged) this.#events.status.add(options.onStatusChanged);
    this.#roots = options.roots;
    this.#members.replace(config.servers);
    this.#events.begin();
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** What the servers offer and what it is called, with the tools that they listed in earlier runs. */
  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  /** Every server, sorted by name. */
  status(): readonly ServerStatus[] {
    return this.#members.sorted().map((member) => statusOf(member, this.#redactor, this.#config));
  }

  /** The names of all servers that may run, connected or not. */
  serverNames(): readonly string[] {
    return [...this.#members].filter(({ connection }) => connection.state !== "untrusted").map(({ name }) => name);
  }

  /** The tools of all connected servers, sorted by server, in the order each server lists them. */
  tools(): readonly SourcedTool[] {
    return this.#catalogue.tools();
  }

  /**
   * Tools and prompts that are not offered, because their definition changed in a way that needs approval, with the
   * reasons.
   */
  held(): readonly HeldEntry[] {
    return this.#members.sorted().flatMap((member) => member.lists.held);
  }

  /** Looks whether held definitions were approved in another process. Does nothing if none is held. */
  async recheckHeld(): Promise<void> {
    const holding = this.#members.sorted().filter(({ lists }) => lists.isHolding);
    await Promise.all(holding.map((member) => member.lists.recheckHeld()));
  }

  /** Accepts the held definition of the tool or prompt with this name: ask a person first. */
  async approve(server: string, name: string): Promise<void> {
    this.#requireOpen();
    const member = this.#members.get(server);
    for (const { kind } of member.lists.held.filter((item) => item.name === name))
      await member.lists.approve(kind, [name]);
  }

  /** The current table of tools and their names. */
  names(): ToolNames<SourcedTool> {
    return this.#catalogue.names();
  }

  /** The prefixed names of all tools, sorted, with one `authenticate` for each server that needs sign-in. */
  toolNames(): readonly string[] {
    const signIns = this.#members
      .sorted()
      .filter(({ connection }) => connection.state === "needs-auth")
      .map(({ name }) => `${toolNamePrefix(name)}${SIGN_IN_TOOL}`);
    return [...this.names().names("prefixed"), ...signIns].sort();
  }

  /** What did not work as configured: notes on the files, and servers that failed. */
  warnings(): readonly HubWarning[] {
    return warningsOf(this.#config, this.#members.sorted(), this.#redactor);
  }

  /** Copies a text or JSON-like value with all secrets of the configuration redacted. */
  redact<T>(value: T): T {
    return this.#redactor.value(value);
  }

  /**
   * Connects the named servers, or all enabled ones, and waits until their lists are known. A failing server never
   * makes it reject: see `status()`.
   */
  async connect(names?: readonly string[], signal?: AbortSignal): Promise<void> {
    this.#requireOpen();
    const members = names === undefined ? [...this.#members] : names.map((name) => this.#members.get(name));
    await this.#members.connectAll(members, signal);
  }

  /**
   * Calls a tool by any of its names, or by its server and name. Connects the server first if necessary. A failure that
   * the tool itself reports is a result with `isError`; everything else rejects with a `TrunklineError`.
   */
  async call(
    name: string | ToolKey,
    args: Record<string, unknown> = {},
    options: HubCallOptions = {},
  ): Promise<CallResult> {
    const { server, tool } = isPair(name) ? name : await this.findTool(name, options.signal);
    const result = await this.callTool(server, tool, args, options);
    return { ...result, server, tool, text: renderText(result.raw) };
  }

  /** Finds the tool with this name, connecting the servers it may belong to. */
  async findTool(name: string, signal?: AbortSignal): Promise<SourcedTool> {
    // Programs without types pass all sorts of things here.
    if (typeof name !== "string") {
      throw new TrunklineError("INVALID_ARGUMENT", "A tool is named by a string or { server, tool }.");
    }
    return await this.#redacting(() => this.#catalogue.find(name, signal));
  }

  /** Finds the tool with this dotted name among connected servers, without waiting; undefined if that is not certain. */
  liveTool(name: string): SourcedTool | undefined {
    return this.#catalogue.live(name);
  }

  /** Finds the tool that a name refers to among the connected servers. Connects nothing. */
  async resolveTool(name: string): Promise<SourcedTool> {
    return await this.#redacting(() => this.#catalogue.resolve(name));
  }

  /** Calls a tool by its server and name. Like {@link call}, but without the text of the result. */
  async callTool(
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options: HubCallOptions = {},
  ): Promise<ToolCallResult> {
    const isDedicated = this.#isDedicated(server);
    // With dedicated connections, the large fields of a result would end with the connection.
    const accepted = isDedicated && options.acceptLarge ? { ...options, acceptLarge: false } : options;
    const call = () => this.#redacting(() => this.#members.get(server).call(tool, args, accepted));
    // A channel's dedicated connections are closed when its last scope ends, so the call needs a scope.
    return isDedicated ? await this.#held(options.channel, call) : await call();
  }

  /**
   * Lets the user sign in to a server that requires it, through the `signIn` callback, and connects it. A completed
   * sign-in lists the tools; a cancelled one leaves the server in `needs-auth`. Rejects with `AUTH_REQUIRED` if no user
   * can be asked.
   */
  async authenticate(server: string, signal?: AbortSignal): Promise<"completed" | "cancelled"> {
    return await this.#redacting(() => this.#members.get(server).connection.authenticate(signal));
  }

  /**
   * Starts a server again: a new process or a new session, for every hub that shares it. Requests in flight fail. A
   * server that is not connected is connected. Rejects if that fails.
   */
  async restart(server: string, signal?: AbortSignal): Promise<void> {
    await this.#redacting(() => this.#members.get(server).restart(signal));
  }

  /**
   * Stops a server until its next call, for every hub that shares it. Requests in flight fail. Its tools stay listed.
   * Does nothing if it is not connected.
   */
  async stop(server: string): Promise<void> {
    await this.#redacting(() => this.#members.get(server).stop());
  }

  /** The resources of one server, or of all that can be connected. */
  async resources(options: ListOptions = {}): Promise<readonly SourcedResource[]> {
    return await this.#redacting(() => this.#requests.resources(options));
  }

  /** The resource templates of servers. */
  async resourceTemplates(options: ListOptions = {}): Promise<readonly SourcedTemplate[]> {
    return await this.#redacting(() => this.#requests.resourceTemplates(options));
  }

  /** Reads a resource. An unknown one is `NOT_FOUND`, with similar URIs. */
  async readResource(server: string, uri: string, options: ToolCallOptions = {}): Promise<ReadResourceResult> {
    return await this.#redacting(() => this.#requests.readResource(server, uri, options));
  }

  /**
   * Reports every change of a resource. Resolves with a function that unsubscribes. The subscription outlives the
   * server's process and session; the listener is notified whenever it had to be restored.
   */
  async subscribe(
    server: string,
    uri: string,
    listener: ResourceListener,
    options: { signal?: AbortSignal } = {},
  ): Promise<() => Promise<void>> {
    const { signal } = options;
    await this.#redacting(() => this.#members.get(server).connection.connect(signal));
    this.#subscriptions ??= new Subscriptions({
      logger: this.#logger,
      connection: (name) => this.#members.find(name)?.connection,
    });
    const subscriptions = this.#subscriptions;
    return await this.#redacting(() => subscriptions.subscribe(server, uri, { listener, signal }));
  }

  /** The prompts of one server, or of all that can be connected. */
  async prompts(options: ListOptions = {}): Promise<readonly SourcedPrompt[]> {
    return await this.#redacting(() => this.#requests.prompts(options));
  }

  /** Finds a prompt by `server.name`, or by its name alone if only one server has it. */
  async findPrompt(name: string, signal?: AbortSignal): Promise<SourcedPrompt> {
    return await this.#redacting(() => this.#requests.findPrompt(name, signal));
  }

  /** Returns the messages of a prompt, filled in with these arguments. */
  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ToolCallOptions = {},
  ): Promise<PromptResult> {
    return await this.#redacting(() => this.#requests.getPrompt(server, name, { args, options }));
  }

  /** Asks a server to complete a partly typed argument of a prompt or template. */
  async complete(
    server: string,
    ref: CompletionReference,
    argument: { readonly name: string; readonly value: string },
    options: CompleteOptions = {},
  ): Promise<Completion> {
    return await this.#redacting(() => this.#requests.complete(server, ref, { argument, options }));
  }

  /** Sets the minimum level of a server's log messages, now and after every reconnect. */
  async setLogLevel(server: string, level: LogMessageLevel, options: ToolCallOptions = {}): Promise<void> {
    await this.#redacting(() => this.#requests.setLogLevel(server, level, options));
  }

  /**
   * Sets the level for every server, including those connected or configured later. Connects nothing; a server that
   * rejects the level keeps its own.
   */
  async setLogLevels(level: LogMessageLevel): Promise<void> {
    this.#logLevel = level;
    await Promise.all([...this.#members].map((member) => member.preferLogLevel(level)));
  }

  /** Measures the server's response time, in milliseconds. Modern servers have no ping: rejects with `PROTOCOL`. */
  async ping(server: string, options: ToolCallOptions = {}): Promise<number> {
    return await this.#redacting(() => this.#requests.ping(server, options));
  }

  /** Sends any request to a server and returns its unmodified result. */
  async request(
    server: string,
    method: string,
    params: Record<string, unknown> = {},
    options: ToolCallOptions & Pick<HubCallOptions, "channel"> = {},
  ): Promise<Record<string, unknown>> {
    const request = () => this.#redacting(() => this.#members.get(server).request({ method, params }, options));
    return this.#isDedicated(server) ? await this.#held(options.channel, request) : await request();
  }

  /**
   * Runs `work` with a channel in scope: questions from servers during its calls reach only this channel. Connections
   * opened for its party alone (the policy `isolate`, `"share": "client"`) are closed when its last scope ends.
   */
  async withChannel<T>(channel: Channel, work: () => Promise<T>): Promise<T> {
    const release = this.holdChannel(channel);
    try {
      return await runWithChannel(channel, work);
    } finally {
      await release();
    }
  }

  /**
   * Keeps the connections of the channel's party alone (the policy `isolate`, `"share": "client"`) until the returned
   * function is called. Unlike `withChannel`, it puts no channel in scope: calls name theirs.
   */
  holdChannel(channel: Channel): () => Promise<void> {
    const party = partyOf(channel) ?? channel;
    this.#scopes.set(party, (this.#scopes.get(party) ?? 0) + 1);
    let isHeld = true;
    return async () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#scopes.get(party) ?? 1) - 1;
      if (left > 0) this.#scopes.set(party, left);
      else {
        this.#scopes.delete(party);
        const members = [...this.#members].filter(({ name }) => this.#isDedicated(name));
        for (const { connection } of this.#members) connection.forget(party);
        await Promise.all(members.map((member) => member.release(party)));
      }
    };
  }

  /** Whether parties may have their own connections to a server. */
  #isDedicated(server: string): boolean {
    return this.#options.askPolicy === "isolate" || this.#members.find(server)?.isPerParty === true;
  }

  async #held<T>(channel: Channel | undefined, work: () => Promise<T>): Promise<T> {
    if (channel === undefined) return await work();
    const release = this.holdChannel(channel);
    try {
      return await work();
    } finally {
      await release();
    }
  }

  /** Changes the folders servers may work in, and notifies them. */
  async setRoots(roots: readonly Root[] | undefined): Promise<void> {
    this.#roots = roots;
    await Promise.all([...this.#members].map(({ connection }) => connection.rootsChanged()));
  }

  /** Applies a changed configuration. Only servers that changed are closed and started. */
  async reload(config: LoadedConfig, signal?: AbortSignal): Promise<void> {
    this.#requireOpen();
    this.#config = config;
    this.#redactor.add(...config.secrets);
    const { gone, fresh } = this.#members.replace(config.servers);
    this.#catalogue.changed();
    if (gone.length > 0) this.#events.catalogueChanged();
    if (gone.length + fresh.length > 0) this.#events.statusChanged();
    await Promise.all([...gone.map((member) => member.close()), this.#connectEager(fresh, signal)]);
  }

  /**
   * Calls the listener when the tools, resources or prompts of a server have changed. Returns a function that removes
   * it.
   */
  onCatalogChanged(listener: CatalogueListener): () => void {
    this.#events.catalogue.add(listener);
    return () => void this.#events.catalogue.delete(listener);
  }

  /**
   * Calls the listener with each definition that is new, changed or held, once. Returns a function that removes it.
   */
  onDefinitionsChanged(listener: DefinitionsListener): () => void {
    this.#events.definitions.add(listener);
    return () => void this.#events.definitions.delete(listener);
  }

  /** Calls the listener when the state of a server has changed. Returns a function that removes it. */
  onStatusChanged(listener: Listener): () => void {
    this.#events.status.add(listener);
    return () => void this.#events.status.delete(listener);
  }

  /** Reports notifications that the hub does not handle itself: log messages, updated resources, extensions. */
  onNotification(listener: NotificationListener): () => void {
    this.#events.notifications.add(listener);
    return () => void this.#events.notifications.delete(listener);
  }

  /** Closes every connection and ends every server process. Idempotent; every step runs even if one throws. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#options.signal?.removeEventListener("abort", this.#onAbort);
      const outcomes = await Promise.allSettled([
        this.#subscriptions?.close(),
        ...[...this.#members].map((member) => member.close()),
      ]);
      // A pool that hubs share is closed by whoever opened it.
      if (this.#options.connections === undefined) await this.#pool.close();
      await this.#catalogue.saved();
      this.#events.clear();
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Awaited by `openHub`. */
  async open(): Promise<void> {
    await this.#connectEager([...this.#members], this.#options.signal);
  }

  async #connectEager(members: readonly HubMember[], signal: AbortSignal | undefined): Promise<void> {
    const eager = members.filter(({ connection }) => !this.#options.lazy && !connection.definition.lazy);
    await this.#members.connectAll(eager, signal);
  }

  #createMember(definition: ServerDefinition): HubMember {
    const { clientInfo = { name: "trunkline", version: "0" }, env, channel } = this.#options;
    const answers = this.#options.answers ?? channel?.abilities ?? {};
    const member: HubMember = new HubMember(definition, {
      clientInfo,
      pins: new ServerPins(definition, {
        home: this.#options.home,
        logger: this.#logger,
        plainNames: this.#options.plainNames,
        others: () => this.#catalogue.knownTools(),
        onNews: (news) => this.#events.defined(definition.name, news),
      }),
      lease: (server, connecting, isIsolated) => this.#lease(server, connecting, isIsolated),
      logger: this.#logger,
      env: env ?? inheritedEnvironment(),
      places: {
        home: this.#options.home,
        foreignFolders: this.#config.foreignFolders ?? [this.#config.workspaceFolder],
      },
      connectLimitMs: this.#options.connectLimitMs,
      maxMessageBytes: this.#options.maxMessageBytes,
      asking: {
        channel,
        policy: this.#options.askPolicy ?? "serialize",
        waitMs: this.#options.askWaitMs ?? DEFAULT_ASK_WAIT_MS,
        abilities: { ...(this.#roots === undefined ? {} : { roots: { listChanged: true } }), ...answers },
        maxQuestions: this.#options.maxQuestions ?? DEFAULT_MAX_QUESTIONS,
        roots: () => this.#roots,
        logLevel: this.#logLevel ?? this.#options.logLevel,
      },
      signingIn: {
        credentials: this.#credentials,
        signIn: this.#options.signIn,
        signInTimeoutMs: this.#options.signInTimeoutMs || SIGN_IN_TIMEOUT_MS,
        clientName: clientInfo.name === "trunkline" ? "Trunkline" : clientInfo.name,
        clientMetadataUrl: this.#options.clientMetadataUrl,
      },
      onNotification: (method, params) => {
        this.#subscriptions?.onNotification(definition.name, method, params);
        this.#events.notified(definition.name, method, params);
      },
      onSecrets: (values) => void this.#redactor.add(...values),
      redact: (text) => this.#redactor.text(text),
      onState: () => {
        this.#events.statusChanged();
        this.#catalogue.changed();
        this.#events.catalogueChanged();
        if (member.connection.state === "connected") this.#subscriptions?.onConnected(definition.name);
      },
      onCatalogue: (kind) => {
        if (kind === "tools") this.#catalogue.changed();
        this.#events.catalogueChanged();
      },
    });
    return member;
  }

  /** Leases a connection to a server: from the pool that hubs share, or from the hub's own, which shares none. */
  #lease(definition: ServerDefinition, options: LeaseOptions, isIsolated: boolean): Lease {
    const { connections, workspace = this.#config.workspaceFolder, label } = this.#options;
    if (connections === undefined || isIsolated || !canStart(definition)) {
      return this.#pool.lease(definition, options, { isolated: true, workspace, label, secrets: [] });
    }
    const text = JSON.stringify(definition);
    // Another hub may have read the same value from where no one can see that it is a secret.
    const secrets = this.#config.secrets.filter((secret) => text.includes(JSON.stringify(secret).slice(1, -1)));
    return connections.lease(definition, options, { isolated: false, workspace, label, secrets });
  }

  /** Rethrows failures as redacted `TrunklineError`s. A closed hub does nothing, whatever it is asked for. */
  async #redacting<T>(work: () => Promise<T>): Promise<T> {
    this.#requireOpen();
    try {
      return await work();
    } catch (error) {
      const failure = toTrunklineError(error);
      // Closed meanwhile: nothing can be found any more.
      if (GONE_CODES.has(failure.code)) this.#requireOpen();
      throw redactedError(failure, this.#redactor);
    }
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new TrunklineError("CLOSED", "The hub is closed.");
  }
}

function isPair(name: string | ToolKey): name is ToolKey {
  return typeof name === "object" && typeof name?.server === "string" && typeof name.tool === "string";
}
