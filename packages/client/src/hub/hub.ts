// The hub: every server of a configuration, connected, as one catalogue. Callers and sub-agents share it; nobody opens
// a second connection.
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import {
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
import { type Channel, partyOf, type Root, runWithChannel } from "../channel/channel.js";
import type { LoadedConfig, ServerDefinition } from "../config/loaded-config.js";
import { type ToolKey, toolNamePrefix } from "../names/name-styles.js";
import type { ToolNames } from "../names/names-table.js";
import { renderText } from "../results/render-result.js";
import type { SourcedPrompt, SourcedResource, SourcedTemplate } from "./catalogue-items.js";
import { type CatalogueListener, HubEvents, type Listener, type NotificationListener } from "./hub-events.js";
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
import { redactedError, type ServerStatus, statusOf, warningsOf } from "./hub-status.js";
import { type ResourceListener, Subscriptions } from "./resource-subscriptions.js";

const DEFAULT_MAX_QUESTIONS = 50;

/** All servers of a configuration as one catalogue of tools. Open it with {@link openHub}. */
export class Hub implements ToolSource, AsyncDisposable {
  readonly #members: HubMembers;
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

  /** Use {@link openHub}. */
  constructor(config: LoadedConfig, options: HubOptions = {}) {
    this.#config = config;
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#credentials = options.home === undefined ? new MemoryCredentials() : new CredentialStore(options.home);
    this.#redactor = (options.redactor ?? new Redactor()).add(...config.secrets);
    this.#members = new HubMembers({
      logger: this.#logger,
      create: (definition) => this.#createMember(definition),
    });
    this.#requests = new HubRequests(this.#members);
    this.#events = new HubEvents({ logger: this.#logger, fingerprints: () => this.#members.fingerprints() });
    if (options.onCatalogChanged) this.#events.catalogue.add(options.onCatalogChanged);
    if (options.onStatusChanged) this.#events.status.add(options.onStatusChanged);
    this.#roots = options.roots;
    this.#members.replace(config.servers);
    this.#events.begin();
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Every server, sorted by name. */
  status(): readonly ServerStatus[] {
    return this.#members.sorted().map((member) => statusOf(member, this.#redactor));
  }

  /** The tools of all connected servers, sorted by server, in each server's own order. */
  tools(): readonly SourcedTool[] {
    return this.#members.tools();
  }

  /** The table between tools and their names, as of now. */
  names(): ToolNames<SourcedTool> {
    return this.#members.names();
  }

  /** The prefixed names of all tools, sorted, with one `authenticate` for each server that needs sign-in. */
  toolNames(): readonly string[] {
    const signIns = this.#members
      .sorted()
      .filter(({ connection }) => connection.state === "needs-auth")
      .map(({ name }) => `${toolNamePrefix(name)}${SIGN_IN_TOOL}`);
    return [...this.names().names("prefixed"), ...signIns].sort();
  }

  /** What did not go as configured: remarks on the files, and servers that failed. */
  warnings(): readonly HubWarning[] {
    return warningsOf(this.#config, this.#members.sorted(), this.#redactor);
  }

  /** A copy of a text or of a JSON-like value without any secret of the configuration. */
  redact<T>(value: T): T {
    return this.#redactor.value(value);
  }

  /**
   * Connects servers now, the named ones or all that are enabled, and waits until their lists are known. It never
   * rejects for a server that fails: `status()` tells.
   */
  async connect(names?: readonly string[], signal?: AbortSignal): Promise<void> {
    const members = names === undefined ? [...this.#members] : names.map((name) => this.#members.get(name));
    await this.#members.connectAll(members, signal);
  }

  /**
   * Calls a tool by any of its names, or by its pair. A server that is not connected yet is connected first. What the
   * tool itself reports as a failure is a result with `isError`; everything else rejects with a `TrunklineError`.
   */
  async call(
    name: string | ToolKey,
    args: Record<string, unknown> = {},
    options: HubCallOptions = {},
  ): Promise<CallResult> {
    const { server, tool } = typeof name === "string" ? await this.findTool(name, options.signal) : name;
    const result = await this.callTool(server, tool, args, options);
    return { ...result, server, tool, text: renderText(result.raw) };
  }

  /** Finds the tool that a name stands for, connecting the servers it may belong to. */
  async findTool(name: string, signal?: AbortSignal): Promise<SourcedTool> {
    return await this.#redacting(this.#members.findTool(name, signal));
  }

  async callTool(
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options: HubCallOptions = {},
  ): Promise<ToolCallResult> {
    const call = () => this.#redacting(this.#members.get(server).call(tool, args, options));
    // Connections of a channel's own are given up when its last scope has ended: then there has to be one.
    const { channel } = options;
    if (channel === undefined || this.#options.askPolicy !== "isolate") return await call();
    return await this.withChannel(channel, call);
  }

  /**
   * Has a person sign in to a server that wants it, through the `signIn` callback, and connects it. A finished sign-in
   * lists the tools; a cancelled one leaves the server in `needs-auth`. Rejects with `AUTH_REQUIRED` where nobody can be asked.
   */
  async authenticate(server: string, signal?: AbortSignal): Promise<"completed" | "cancelled"> {
    return await this.#redacting(this.#members.get(server).connection.authenticate(signal));
  }

  /** The resources of all servers that can be connected, or of one. */
  async resources(options: ListOptions = {}): Promise<readonly SourcedResource[]> {
    return await this.#redacting(this.#requests.resources(options));
  }

  /** The kinds of resources that servers make on demand. */
  async resourceTemplates(options: ListOptions = {}): Promise<readonly SourcedTemplate[]> {
    return await this.#redacting(this.#requests.resourceTemplates(options));
  }

  /** Reads a resource. One that is not there is `NOT_FOUND`, with those that have a similar URI. */
  async readResource(server: string, uri: string, options: ToolCallOptions = {}): Promise<ReadResourceResult> {
    return await this.#redacting(this.#requests.readResource(server, uri, options));
  }

  /**
   * Tells whenever a resource has changed, until the function that it resolves with is called. The subscription outlives
   * the server's process and session: when it had to be made again, the listener is told so.
   */
  async subscribe(
    server: string,
    uri: string,
    listener: ResourceListener,
    options: { signal?: AbortSignal } = {},
  ): Promise<() => Promise<void>> {
    const { signal } = options;
    await this.#redacting(this.#members.get(server).connection.connect(signal));
    this.#subscriptions ??= new Subscriptions({
      logger: this.#logger,
      connection: (name) => this.#members.find(name)?.connection,
    });
    return await this.#redacting(this.#subscriptions.subscribe(server, uri, { listener, signal }));
  }

  /** The prompts of all servers that can be connected, or of one. */
  async prompts(options: ListOptions = {}): Promise<readonly SourcedPrompt[]> {
    return await this.#redacting(this.#requests.prompts(options));
  }

  /** Finds a prompt by `server.name`, or by its name alone where only one server has it. */
  async findPrompt(name: string, signal?: AbortSignal): Promise<SourcedPrompt> {
    return await this.#redacting(this.#requests.findPrompt(name, signal));
  }

  /** The messages of a prompt with these arguments. */
  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ToolCallOptions = {},
  ): Promise<PromptResult> {
    return await this.#redacting(this.#requests.getPrompt(server, name, { args, options }));
  }

  /** How a server would complete what has been typed so far of a prompt's or a template's argument. */
  async complete(
    server: string,
    ref: CompletionReference,
    argument: { readonly name: string; readonly value: string },
    options: CompleteOptions = {},
  ): Promise<Completion> {
    return await this.#redacting(this.#requests.complete(server, ref, { argument, options }));
  }

  /** Sets the level from which a server sends log messages, from now on and after each time it is connected again. */
  async setLogLevel(server: string, level: LogMessageLevel, options: ToolCallOptions = {}): Promise<void> {
    await this.#redacting(this.#requests.setLogLevel(server, level, options));
  }

  /**
   * Sets the level for every server, those that are connected or configured later included. Nothing is connected for it,
   * and a server that does not take it keeps its own.
   */
  async setLogLevels(level: LogMessageLevel): Promise<void> {
    this.#logLevel = level;
    await Promise.all([...this.#members].map((member) => member.preferLogLevel(level)));
  }

  /** How long a server takes to answer, in milliseconds. Modern servers have no ping: `PROTOCOL`. */
  async ping(server: string, options: ToolCallOptions = {}): Promise<number> {
    return await this.#redacting(this.#requests.ping(server, options));
  }

  /** Sends any request to a server and returns its result untouched. */
  async request(
    server: string,
    method: string,
    params: Record<string, unknown> = {},
    options: ToolCallOptions = {},
  ): Promise<Record<string, unknown>> {
    return await this.#redacting(this.#members.get(server).request({ method, params }, options));
  }

  /**
   * Runs `work` with a channel in scope: what servers ask during the calls made in it reaches this channel and no other.
   * With the policy `isolate`, the connections that were opened for its party are closed when its last scope has ended.
   */
  async withChannel<T>(channel: Channel, work: () => Promise<T>): Promise<T> {
    const party = partyOf(channel) ?? channel;
    this.#scopes.set(party, (this.#scopes.get(party) ?? 0) + 1);
    try {
      return await runWithChannel(channel, work);
    } finally {
      const left = (this.#scopes.get(party) ?? 1) - 1;
      if (left > 0) this.#scopes.set(party, left);
      else {
        this.#scopes.delete(party);
        if (this.#options.askPolicy === "isolate")
          await Promise.all([...this.#members].map((member) => member.release(party)));
      }
    }
  }

  /** Changes the folders servers may work in, and tells them. */
  async setRoots(roots: readonly Root[] | undefined): Promise<void> {
    this.#roots = roots;
    const live = [...this.#members].filter(
      ({ connection }) => connection.state === "connected" && connection.era === "legacy",
    );
    await Promise.all(live.map(({ connection }) => connection.notify("notifications/roots/list_changed")));
  }

  /** Applies a changed configuration: only the servers that changed are closed and started. */
  async reload(config: LoadedConfig, signal?: AbortSignal): Promise<void> {
    if (this.#closing !== undefined) throw new TrunklineError("CLOSED", "The hub is closed.");
    this.#config = config;
    this.#redactor.add(...config.secrets);
    const { gone, fresh } = this.#members.replace(config.servers);
    if (gone.length > 0) this.#events.catalogueChanged();
    if (gone.length + fresh.length > 0) this.#events.statusChanged();
    await Promise.all([...gone.map((member) => member.close()), this.#connectEager(fresh, signal)]);
  }

  /** Tells when tools, resources or prompts of some server have changed. Returns the way to stop it. */
  onCatalogChanged(listener: CatalogueListener): () => void {
    this.#events.catalogue.add(listener);
    return () => void this.#events.catalogue.delete(listener);
  }

  /** Tells when the state of some server has changed. Returns the way to stop it. */
  onStatusChanged(listener: Listener): () => void {
    this.#events.status.add(listener);
    return () => void this.#events.status.delete(listener);
  }

  /** Tells of notifications that the hub itself has no use for: log messages, updated resources, those of extensions. */
  onNotification(listener: NotificationListener): () => void {
    this.#events.notifications.add(listener);
    return () => void this.#events.notifications.delete(listener);
  }

  /** Ends every connection and every server process. Idempotent; every step runs even if one throws. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#options.signal?.removeEventListener("abort", this.#onAbort);
      const outcomes = await Promise.allSettled([
        this.#subscriptions?.close(),
        ...[...this.#members].map((member) => member.close()),
      ]);
      this.#events.clear();
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal What {@link openHub} waits for. */
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
      logger: this.#logger,
      env: env ?? getDefaultEnvironment(),
      workspaceFolder: this.#config.workspaceFolder,
      connectLimitMs: this.#options.connectLimitMs,
      asking: {
        channel,
        policy: this.#options.askPolicy ?? "serialize",
        abilities: { ...(this.#roots === undefined ? {} : { roots: { listChanged: true } }), ...answers },
        maxQuestions: this.#options.maxQuestions ?? DEFAULT_MAX_QUESTIONS,
        roots: () => this.#roots,
        logLevel: this.#logLevel ?? this.#options.logLevel,
      },
      signingIn: {
        credentials: this.#credentials,
        signIn: this.#options.signIn,
        signInTimeoutMs: this.#options.signInTimeoutMs ?? SIGN_IN_TIMEOUT_MS,
        clientName: clientInfo.name === "trunkline" ? "Trunkline" : clientInfo.name,
        clientMetadataUrl: this.#options.clientMetadataUrl,
      },
      onNotification: (method, params) => {
        this.#subscriptions?.onNotification(definition.name, method, params);
        this.#events.notified(definition.name, method, params);
      },
      onSecrets: (values) => void this.#redactor.add(...values),
      onState: () => {
        this.#events.statusChanged();
        this.#members.toolsChanged();
        this.#events.catalogueChanged();
        if (member.connection.state === "connected") this.#subscriptions?.onConnected(definition.name);
      },
      onCatalogue: (kind) => {
        if (kind === "tools") this.#members.toolsChanged();
        this.#events.catalogueChanged();
      },
    });
    return member;
  }

  /** Rethrows failures as redacted `TrunklineError`s. */
  async #redacting<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw redactedError(toTrunklineError(error), this.#redactor);
    }
  }
}

/**
 * Connects the servers of a configuration, all at the same time, and returns when each has connected, failed or timed
 * out. Lazy servers are left for their first use. One failure never stops the others: `hub.status()` tells.
 */
export async function openHub(config: LoadedConfig, options: HubOptions = {}): Promise<Hub> {
  const hub = new Hub(config, options);
  await hub.open();
  return hub;
}
