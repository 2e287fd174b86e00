// A server in the hub: its connections and the calls on them. Its lists are in member-lists.ts.

import type { ServerDefinition } from "@trunkline/config";
import { shareOf } from "@trunkline/config";
import { isTrunklineError, signalOf, type ToolCallOptions, type ToolCallResult, TrunklineError } from "@trunkline/core";
import { buildParamHeaders, RPC_CODES, readParamHeaders } from "@trunkline/protocol";
import { authenticateResult, SIGN_IN_TOOL, signInElsewhere, withdrawnBy } from "../auth/sign-in-tool.js";
import { type CatalogueKind, isAllowed, MemberLists } from "../catalogue/member-lists.js";
import { type Channel, canAnswer, currentChannel, partyOf } from "../channel/channel.js";
import type { RequestSource } from "../connection/connection.js";
import type { LeaseOptions, ListKind } from "../connection/connection-options.js";
import type { RequestOptions } from "../connection/server-conversation.js";
import type { TaskWish } from "../connection/task-calls.js";
import { heldError, type ServerPins } from "../pins/server-pins.js";
import type { Lease } from "../pool/lease.js";
import { largeOf, smallFieldsOf, wholeResult } from "../results/large-messages.js";
import type { HubCallOptions } from "./hub-options.js";

/** What a member needs besides its definition, and its callbacks. */
interface MemberOptions extends Omit<LeaseOptions, "onConnected" | "onListChanged"> {
  /** The definitions that were accepted so far. */
  pins: ServerPins;
  /** Leases a connection to a server. If `isIsolated`, it is shared with no one. */
  lease: (definition: ServerDefinition, options: LeaseOptions, isIsolated: boolean) => Lease;
  /** Called when a list has been read again. */
  onCatalogue: (kind: CatalogueKind) => void;
}

/** Stands for all calls without a channel. */
const NO_PARTY = {};

export class HubMember {
  readonly connection: Lease;
  readonly lists: MemberLists;
  /** Whether each party has its own connection, because the server keeps a state for it. */
  readonly isPerParty: boolean;
  readonly #options: MemberOptions;
  /** The dedicated connections of parties. */
  readonly #isolated = new Map<object, Lease>();
  /** The party that uses `connection`, if each has its own: the first one that made a call. */
  #firstParty: object | undefined;
  constructor(definition: ServerDefinition, options: MemberOptions) {
    this.#options = options;
    this.isPerParty = shareOf(definition) === "client";
    const connecting = {
      ...options,
      onConnected: (signal: AbortSignal) => this.#onConnected(signal),
      onListChanged: (kind: ListKind) => this.lists.onListChanged(kind),
    };
    this.connection = options.lease(definition, connecting, false);
    const { logger, pins, onCatalogue } = options;
    this.lists = new MemberLists({ connection: this.connection, logger, pins, onCatalogue });
  }

  get name(): string {
    return this.connection.definition.name;
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
    const params = { name: tool, arguments: args, _meta: meta };
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
      await this.lists.refresh("tools");
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
      return authenticateResult(name, outcome, () => this.lists.tools.length);
    } catch (error) {
      throw cannotAsk && isTrunklineError(error, "AUTH_REQUIRED") ? signInElsewhere(name, error) : error;
    }
  }

  /** Whether the server declares the tool idempotent. */
  #isRepeatable(tool: string): boolean {
    const annotations = this.lists.known(tool)?.annotations;
    return annotations?.idempotentHint === true || annotations?.readOnlyHint === true;
  }

  /** Builds the headers that a call of this tool requires, if the server uses HTTP and its revision has them. */
  #headersFor(tool: string, args: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
    const known = this.lists.hasParamHeaders ? this.lists.known(tool) : undefined;
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
    const execution = this.lists.known(tool)?.raw?.execution as { taskSupport?: unknown } | undefined;
    if (execution?.taskSupport === "required") return wanted ?? {};
    return execution?.taskSupport === "optional" ? wanted : undefined;
  }

  /** Sets the minimum level of the server's log messages, now and after every reconnect. */
  async setLogLevel(level: string, options: ToolCallOptions): Promise<void> {
    await this.connection.connect(options.signal);
    if (this.connection.era === "legacy") {
      await this.connection.sendLogLevel(level, options);
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
            .sendLogLevel(level)
            .catch((error: unknown) => this.#options.logger.warn("log level not set", { server: this.name, error })),
        ),
    );
  }

  /** Sends a request on the calling channel's connection, connecting it if necessary. */
  async request(source: RequestSource, options: RequestOptions = {}): Promise<Record<string, unknown>> {
    const result = await this.#request(source, options);
    return largeOf(result) === undefined ? result : await wholeResult(result);
  }

  /** The same, but large fields of the result may be elsewhere. */
  async #request(source: RequestSource, options: RequestOptions): Promise<Record<string, unknown>> {
    if (this.lists.isHolding) await this.lists.recheckHeld();
    // Checked when the request is built: connecting lists the tools again.
    const request = () => this.#requireNotHeld(typeof source === "function" ? source() : source);
    const channel = options.channel ?? currentChannel();
    if (this.isPerParty) {
      // Only the first connection lists, and a call depends on what is listed.
      if (this.connection.state !== "connected") await this.connection.connect(signalOf(options));
      return await this.#leaseOf(partyOf(channel) ?? NO_PARTY).request(request, options);
    }
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
    if (party === this.#firstParty) {
      // The next party must not find what this one has left.
      this.#firstParty = undefined;
      await this.connection.rest();
      return;
    }
    const connection = this.#isolated.get(party);
    this.#isolated.delete(party);
    await connection?.close();
  }

  /** Stops the server until its next use. Requests in flight fail. */
  async stop(): Promise<void> {
    await Promise.all([this.connection, ...this.#isolated.values()].map((connection) => connection.halt()));
  }

  /** Stops the server and connects it again. */
  async restart(signal: AbortSignal | undefined): Promise<void> {
    await this.stop();
    await this.connection.connect(signal);
  }

  async close(): Promise<void> {
    this.lists.close();
    await Promise.all([this.connection, ...this.#isolated.values()].map((connection) => connection.close()));
    await this.lists.settled();
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

  async #isolatedFor(channel: Channel, signal: AbortSignal | undefined): Promise<Lease> {
    await this.connection.connect(signal);
    const { definition, era } = this.connection;
    if (era !== "legacy") return this.connection;
    return this.#dedicated(partyOf(channel) ?? channel, definition);
  }

  /** Returns the connection of a party, for a server that keeps a state for each. */
  #leaseOf(party: object): Lease {
    this.#firstParty ??= this.#isolated.has(party) ? undefined : party;
    return party === this.#firstParty ? this.connection : this.#dedicated(party, this.connection.definition);
  }

  #dedicated(party: object, definition: ServerDefinition): Lease {
    let own = this.#isolated.get(party);
    if (own === undefined) {
      const connecting = {
        ...this.#options,
        // Only the first connection updates the catalogue.
        onState: () => {},
        onConnected: async () => this.#tellLogLevel(own),
        onListChanged: () => {},
      };
      own = this.#options.lease(definition, connecting, true);
      this.#isolated.set(party, own);
    }
    return own;
  }

  async #onConnected(signal: AbortSignal): Promise<void> {
    await this.lists.onConnected(signal);
    this.#tellLogLevel(this.connection);
  }

  /** Sends the log level again: a restarted legacy server has forgotten it. A modern one gets it with each call. */
  #tellLogLevel(connection: Lease | undefined): void {
    const level = this.connection.logLevel;
    if (connection?.era !== "legacy" || level === undefined || connection.capabilities.logging === undefined) return;
    this.lists.inBackground(connection.sendLogLevel(level));
  }
}
