// A hub's part of a connection that it may share with others. It lists the server for its own hub and counts as
// connected once it has; calls, questions and secrets stay the hub's own.

import { connectTimeoutOf, type ServerDefinition } from "@trunkline/config";
import {
  abortable,
  abortError,
  isRecord,
  isTrunklineError,
  signalOf,
  TrunklineError,
  toTrunklineError,
  withDeadline,
} from "@trunkline/core";
import { META } from "@trunkline/protocol";
import type { SignInReport } from "../auth/sign-in-report.js";
import { withdrawnBy } from "../auth/sign-in-tool.js";
import { currentChannel, runOutsideChannels, type SignIn } from "../channel/channel.js";
import type { Leaseholder } from "../channel/leaseholder.js";
import type { Connection, RequestSource } from "../connection/connection.js";
import type { LeaseOptions, ServerState } from "../connection/connection-options.js";
import { RETRIES } from "../connection/retry-policy.js";
import type { RequestOptions } from "../connection/server-conversation.js";
import { isWithinResource, type Subscription, type SubscriptionFilter } from "../connection/subscriptions.js";
import type { PooledServer } from "./pooled-server.js";

/** What the pool knows about a hub. */
export interface LeasePlace {
  /** The hub's name in the status of the pool. */
  readonly label: string | undefined;
  readonly workspace: string;
  /** Secrets that the server's definition contains, known to the hub from where it read them. */
  readonly secrets: readonly string[];
}

export class Lease {
  readonly definition: ServerDefinition;
  readonly options: LeaseOptions;
  readonly place: LeasePlace;
  readonly holder: Leaseholder;
  #server: PooledServer;
  /** The generation that the hub has listed last. */
  #listed: object | undefined;
  #listing: { readonly generation: object; readonly done: Promise<void> } | undefined;
  /** Why the hub could not list a server that is connected for others. */
  #failure: TrunklineError | undefined;
  /** Whether the lists stay in use until the server is listed again: it rests, or the lease has moved. */
  #isStale = false;
  #isWanted = false;
  /** Where calls from before a move may still be in flight. */
  readonly #earlier = new Set<Connection>();
  #reported: { state: ServerState; error: TrunklineError | undefined; listed: object | undefined } | undefined;
  readonly #lifetime = new AbortController();
  /** Subscriptions at a legacy server, by URI, and the streams of a modern one. */
  readonly #uris = new Set<string>();
  readonly #streams = new Set<Subscription>();
  #opening = 0;
  /** Who has made calls, by party: the name of its channel. */
  readonly #clients = new Map<object, string | undefined>();
  #closing: Promise<void> | undefined;

  constructor(definition: ServerDefinition, options: LeaseOptions, joining: LeasePlace & { server: PooledServer }) {
    this.definition = definition;
    this.options = options;
    const { server, ...place } = joining;
    this.place = place;
    const { logger, redact, onNotification, signingIn } = options;
    const { channel, waitMs, maxQuestions, roots, logLevel } = options.asking;
    this.holder = {
      ...{ channel, waitMs, maxQuestions, roots, logLevel, logger, redact },
      noChannel: {},
      ownLogLevel: undefined,
      signIn: signingIn.signIn && withdrawnBy(this.#lifetime.signal, signingIn.signIn),
      onNotification: (method, params) => {
        if (this.#server.isAlone || this.#concerns(method, params)) onNotification(method, params);
      },
      listed: (signal) => this.connect(signal),
    };
    this.#server = server;
    server.join(this);
  }

  get #connection(): Connection {
    return this.#server.connection;
  }

  /** Whether the hub has listed what it would call now. */
  get isListed(): boolean {
    return this.#listed !== undefined && this.#listed === this.#connection.generation;
  }

  /** Whether the hub has ever asked for the server. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** The names of those who have made calls and were not forgotten. */
  get clients(): readonly (string | undefined)[] {
    return [...this.#clients.values()];
  }

  get hasSubscriptions(): boolean {
    return this.#uris.size + this.#streams.size + this.#opening > 0;
  }

  get state(): ServerState {
    const { state } = this.#connection;
    if (this.#closing !== undefined) return state === "connected" ? "pending" : state;
    if (this.isListed && state === "connected") return "connected";
    if (this.#isStale && (state === "connected" || state === "pending")) return "connected";
    if (state !== "connected") return state;
    if (this.#failure === undefined) return "pending";
    return isTrunklineError(this.#failure, "AUTH_REQUIRED") ? "needs-auth" : "failed";
  }

  get error(): TrunklineError | undefined {
    return this.state === "connected" ? undefined : (this.#connection.error ?? this.#failure);
  }

  get connectedAtMs(): number | undefined {
    return this.#connection.connectedAtMs;
  }

  get roundTripMs(): number | undefined {
    return this.#connection.roundTripMs;
  }

  get tookMs(): number | undefined {
    return this.#connection.tookMs;
  }

  get era(): "legacy" | "modern" | undefined {
    return this.#connection.era;
  }

  get revision(): string | undefined {
    return this.#connection.revision;
  }

  get serverInfo(): { name: string; version: string } | undefined {
    return this.#connection.serverInfo;
  }

  get instructions(): string | undefined {
    return this.#connection.instructions;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#connection.capabilities;
  }

  get stderrTail(): readonly string[] {
    return this.#connection.stderrTail;
  }

  get pid(): number | undefined {
    return this.#connection.pid;
  }

  get signIn(): SignInReport | undefined {
    return this.#connection.signIn;
  }

  get logLevel(): string | undefined {
    return this.holder.ownLogLevel ?? this.holder.logLevel;
  }

  /** Connects, and lists the server for this hub. */
  async connect(signal?: AbortSignal): Promise<void> {
    this.#want();
    if (this.isListed && this.#connection.state === "connected") return;
    await this.#whileOpen(() => this.#connect(), signal);
  }

  #want(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#server.wanted();
  }

  /** Waits until the work is done, the signal aborts or the hub closes. Others may need the work, so it goes on. */
  async #whileOpen<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const lifetime = this.#lifetime.signal;
    lifetime.throwIfAborted();
    try {
      return await abortable(signal === undefined ? lifetime : AbortSignal.any([lifetime, signal]), work());
    } catch (error) {
      lifetime.throwIfAborted();
      if (signal?.aborted) throw abortError(signal, `Connecting to "${this.definition.name}"`);
      throw error;
    }
  }

  async #connect(): Promise<void> {
    for (let retries = 0; retries <= RETRIES.listing; retries++) {
      const server = this.#server;
      await server.connection.connect(undefined, this.holder);
      // The lease may have moved meanwhile, or the server may have exited.
      if (server === this.#server) await this.list();
      if (this.isListed) return;
    }
    throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${this.definition.name}" is not connected.`, {
      cause: this.#connection.error,
    });
  }

  /** Lists the server for this hub, once per generation. With a signal, as part of an attempt to connect. */
  list(signal?: AbortSignal): Promise<void> {
    const { generation } = this.#connection;
    if (generation === undefined) return Promise.resolve();
    if (this.#listing?.generation === generation) return this.#listing.done;
    const done = runOutsideChannels(() => this.#list(generation, signal));
    // Those who wait for it also see the failure.
    done.catch(() => {});
    this.#listing = { generation, done };
    return done;
  }

  async #list(generation: object, signal: AbortSignal | undefined): Promise<void> {
    const { onConnected, connectLimitMs } = this.options;
    try {
      if (signal !== undefined) await onConnected(signal);
      else {
        const timeoutMs = Math.min(connectTimeoutOf(this.definition), connectLimitMs || Number.POSITIVE_INFINITY);
        const what = `Connecting to "${this.definition.name}"`;
        await withDeadline({ what, timeoutMs, signal: this.#lifetime.signal }, onConnected);
      }
    } catch (error) {
      if (this.#listing?.generation === generation) this.#listing = undefined;
      if (this.#connection.generation === generation) this.#failure = toTrunklineError(error);
      this.tell();
      throw error;
    }
    if (this.#connection.generation !== generation) return;
    this.#listed = generation;
    this.#failure = undefined;
    this.#isStale = false;
    this.tell();
  }

  async authenticate(signal?: AbortSignal, signIn?: SignIn): Promise<"completed" | "cancelled"> {
    this.#want();
    const ask = signIn === undefined ? undefined : withdrawnBy(this.#lifetime.signal, signIn);
    const outcome = await this.#whileOpen(() => this.#connection.authenticate(signal, ask, this.holder), signal);
    if (outcome === "completed") await this.connect(signal);
    return outcome;
  }

  /** Not async, to cost a call less. */
  request(source: RequestSource, options: RequestOptions = {}): Promise<Record<string, unknown>> {
    const { connection } = this.#server;
    const channel = options.channel ?? currentChannel();
    // A channel without a party may be that of a single call, which no one would take out again.
    if (channel?.party !== undefined) this.#clients.set(channel.party, channel.name);
    return this.#listed !== undefined && this.#listed === connection.generation
      ? connection.request(source, options, this.holder)
      : this.#requestLater(source, options);
  }

  async #requestLater(source: RequestSource, options: RequestOptions): Promise<Record<string, unknown>> {
    await this.connect(signalOf(options));
    return await this.#connection.request(source, options, this.holder);
  }

  async listAll(
    method: string,
    key: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<Record<string, unknown>[]> {
    this.#lifetime.signal.throwIfAborted();
    return await this.#connection.listAll(method, key, { ...options, holder: this.holder });
  }

  async listen(filter: SubscriptionFilter, signal?: AbortSignal): Promise<Subscription> {
    this.#opening++;
    try {
      await this.connect(signal);
      const stream = await this.#connection.listen(filter, signal);
      this.#streams.add(stream);
      void stream.ended.then(() => this.#streams.delete(stream));
      if (this.#closing !== undefined) stream.close();
      return stream;
    } finally {
      this.#opening--;
    }
  }

  async subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    await this.connect(signalOf(options));
    this.#uris.add(uri);
    try {
      await this.#server.subscribe(this, uri, options);
    } catch (error) {
      this.#uris.delete(uri);
      throw error;
    }
  }

  async unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    this.#uris.delete(uri);
    await this.#server.unsubscribe(this, uri, options);
  }

  setLogLevel(level: string): void {
    this.holder.ownLogLevel = level;
  }

  async sendLogLevel(level: string, options: RequestOptions = {}): Promise<void> {
    await this.connect(signalOf(options));
    await this.#server.sendLogLevel(this, level, options);
  }

  async rootsChanged(): Promise<void> {
    await this.#server.rootsChanged(this);
  }

  forget(party: object): void {
    this.#clients.delete(party);
  }

  async rest(): Promise<void> {
    if (!this.#server.isAlone) return;
    this.keepLists();
    await this.#connection.rest();
  }

  async halt(): Promise<void> {
    await this.#server.halt();
  }

  /** Leaves the server. It keeps running for others, and for a while if there are none. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      const reason = new TrunklineError("CLOSED", "The hub was closed.");
      this.#lifetime.abort(reason);
      for (const connection of [this.#connection, ...this.#earlier]) connection.drop(this.holder, reason);
      this.#endStreams();
      await this.#server.leave(this);
    })();
    return this.#closing;
  }

  /** Keeps the lists in use until the server is listed again. */
  keepLists(): void {
    this.#isStale ||= this.isListed;
  }

  /** Uses another server from now on. Calls in flight end where they are. */
  moveTo(server: PooledServer): void {
    this.keepLists();
    this.#endStreams();
    this.#uris.clear();
    this.#earlier.add(this.#connection);
    this.#server = server;
    this.#listing = undefined;
    this.#failure = undefined;
    server.join(this);
    this.tell();
    // No one awaits this; its outcome shows in the state.
    if (this.#isWanted) runOutsideChannels(() => this.connect()).catch(() => {});
  }

  /** The state of the connection has changed. */
  onConnectionState(): void {
    const { state, error, generation } = this.#connection;
    // A server that was lost has no lists until it is back.
    if (state !== "connected" && (state !== "pending" || error !== undefined)) this.#isStale = false;
    if (generation === undefined) this.#uris.clear();
    this.tell();
  }

  /** Tells the hub, if something has changed for it. */
  tell(): void {
    if (this.#closing !== undefined) return;
    const { state, error } = this;
    const listed = state === "connected" ? this.#listed : undefined;
    const reported = this.#reported;
    if (reported?.state === state && reported.error === error && reported.listed === listed) return;
    this.#reported = { state, error, listed };
    this.options.onState();
  }

  #endStreams(): void {
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  /** A changed resource only concerns those who have subscribed to it. */
  #concerns(method: string, { uri, _meta }: Readonly<Record<string, unknown>>): boolean {
    if (method !== "notifications/resources/updated") return true;
    const id = isRecord(_meta) ? _meta[META.subscriptionId] : undefined;
    // The stream of a subscription that is just being acknowledged is not known yet.
    if (id !== undefined) return this.#opening > 0 || [...this.#streams].some((stream) => stream.id === id);
    return typeof uri === "string" && [...this.#uris].some((subscribed) => isWithinResource(uri, subscribed));
  }
}
