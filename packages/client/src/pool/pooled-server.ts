// One server of a pool: its connection, the hubs that use it, and when it may stop.

import { isRemote, type ServerDefinition, type Share } from "@trunkline/config";
import { type LogFields, type Logger, Redactor } from "@trunkline/core";
import { isLogged } from "@trunkline/protocol";
import type { Leaseholder } from "../channel/leaseholder.js";
import { Connection } from "../connection/connection.js";
import type { LeaseOptions, ServerState } from "../connection/connection-options.js";
import type { RequestOptions } from "../connection/server-conversation.js";
import type { Lease } from "./lease.js";
import type { KeyParts } from "./pool-key.js";

/** The time as a pool sees it. Tests bring their own. */
export interface PoolClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `work` once, after this many milliseconds. Returns a function that prevents it. */
  after(delayMs: number, work: () => void): () => void;
}

interface PooledServerOptions {
  /** Identifies the server within the pool, without its roots. */
  readonly base: string;
  /** What `base` is made of. */
  readonly parts: KeyParts;
  readonly share: Share;
  /** Why no other hub may join; undefined if others may. */
  readonly notShared: string | undefined;
  /** Whether it belongs to one client, and ends with it. */
  readonly isPerClient: boolean;
  readonly logger: Logger;
  readonly clock: PoolClock;
  /** How long a server may be unused if its entry does not say. */
  readonly idleStopMs: number;
  /** Called when the server asks for roots. Returns whether all hubs with calls in flight have the same. */
  readonly onRootsAsked: (server: PooledServer, busy: ReadonlySet<Leaseholder>) => boolean;
  /** Called when the roots of a hub have changed. */
  readonly onRootsChanged: (server: PooledServer, lease: Lease) => Promise<void>;
  /** Called when no one uses the server any more, and it need not be kept. */
  readonly onUnused: (server: PooledServer) => Promise<void>;
}

/** A server of a pool, for its status. */
export interface PooledServerStatus {
  readonly name: string;
  /** Equal for members of hubs that use the same connection. A hash that says nothing about what is in it. */
  readonly key: string;
  /** `idle`: stopped until its next call. `starting`: being connected at this moment. */
  readonly state: ServerState | "idle" | "starting";
  /** The process id of a stdio server. */
  readonly pid?: number;
  readonly share: Share;
  /** Why other hubs cannot use it. */
  readonly notShared?: string;
  /**
   * What is different from the most similar server of the same name, so that they cannot be one: `workspace`,
   * `settings`, `command`, `folder`, `roots`, a variable such as `$PATH` …
   */
  readonly differs?: readonly string[];
  /** The labels of the hubs that use it; a hub without one is `""`. */
  readonly hubs: readonly string[];
  /** The channels' parties that have called it and are still held, with the names of their channels. */
  readonly clients: readonly { readonly hub: string; readonly name?: string }[];
  /** When it was connected. ISO 8601. */
  readonly connectedAt?: string;
  /** When its last call began or ended. ISO 8601. */
  readonly lastCallAt?: string;
}

/** A resource of a legacy server, and who has subscribed to it. */
interface Subscribed {
  readonly leases: Set<Lease>;
  readonly established: Promise<void>;
}

export class PooledServer {
  readonly connection: Connection;
  readonly base: string;
  readonly isAlone: boolean;
  /** Its place in the pool: `base`, and a hash of its roots if it asks for them. */
  key: string;
  readonly #options: PooledServerOptions;
  readonly #leases = new Set<Lease>();
  #holders: readonly Leaseholder[] = [];
  /** Secrets of this server, from those who use it and from connecting. Each of them knows the server's definition. */
  readonly #secrets = new Set<string>();
  readonly #redactor = new Redactor();
  #subscribed = new Map<string, Subscribed>();
  #subscribedAt: object | undefined;
  #usedAtMs: number;
  #calledAtMs: number | undefined;
  #idleStopMs: number;
  #cancelTimer: (() => void) | undefined;
  /** No one joins any more; it stops as soon as its calls have ended. */
  #isRetired = false;

  constructor(definition: ServerDefinition, connecting: LeaseOptions, options: PooledServerOptions) {
    this.#options = options;
    this.base = options.base;
    this.key = options.base;
    this.isAlone = options.notShared !== undefined;
    this.#idleStopMs = options.idleStopMs;
    this.#usedAtMs = options.clock.now();
    const { clientInfo, env, places, connectLimitMs, maxMessageBytes, asking, signingIn } = connecting;
    this.connection = new Connection(definition, {
      ...{ clientInfo, env, places, connectLimitMs, maxMessageBytes, asking, signingIn },
      logger: logToAll(() => this.#loggers()),
      onSecrets: (values) => this.#learn(values),
      // A hub that shares the connection with no one may see whatever it knows.
      redact: this.isAlone ? connecting.redact : (text) => this.#redactor.text(text),
      onState: () => this.#onState(),
      onConnected: (signal) => this.#onConnected(signal),
      onListChanged: (kind) => {
        for (const lease of this.#leases) if (lease.isWanted) lease.options.onListChanged(kind);
      },
      holders: () => this.#holders,
      onRootsAsked: (busy) => options.onRootsAsked(this, busy),
      onUsed: () => {
        this.#usedAtMs = options.clock.now();
        this.#calledAtMs = this.#usedAtMs;
      },
    });
  }

  get name(): string {
    return this.connection.definition.name;
  }

  /** Whether the server can be started at all. */
  get canStart(): boolean {
    return canStart(this.connection.definition);
  }

  get parts(): KeyParts {
    return this.#options.parts;
  }

  get leases(): readonly Lease[] {
    return [...this.#leases];
  }

  get status(): PooledServerStatus {
    const { definition, state, isStarting, isResting, pid, connectedAtMs } = this.connection;
    const { share, notShared } = this.#options;
    const live = state === "connected" && !isResting;
    return {
      name: definition.name,
      key: this.key,
      state: isStarting ? "starting" : isResting ? "idle" : state,
      ...(live && pid !== undefined ? { pid } : {}),
      share,
      notShared,
      hubs: this.leases.map(({ place }) => place.label ?? ""),
      clients: this.leases.flatMap(({ place, clients }) => clients.map((name) => ({ hub: place.label ?? "", name }))),
      ...(live && connectedAtMs !== undefined ? { connectedAt: new Date(connectedAtMs).toISOString() } : {}),
      ...(this.#calledAtMs === undefined ? {} : { lastCallAt: new Date(this.#calledAtMs).toISOString() }),
    };
  }

  /** Creates a server of the same kind, for a hub with other roots. */
  createFor({ definition, options }: Lease): PooledServer {
    return new PooledServer(definition, options, this.#options);
  }

  join(lease: Lease): void {
    this.#leases.add(lease);
    this.#onLeases();
    const known = [...this.#secrets];
    this.#learn(lease.place.secrets);
    lease.options.onSecrets(known);
  }

  wanted(): void {
    this.#holders = this.leases.filter(({ isWanted }) => isWanted).map(({ holder }) => holder);
  }

  async leave(lease: Lease): Promise<void> {
    this.detach(lease);
    if (this.#leases.size > 0) return;
    const { state, isBusy } = this.connection;
    if (this.isAlone || (state !== "connected" && !isBusy)) await this.#options.onUnused(this);
  }

  /** Removes a hub without stopping anything. */
  detach(lease: Lease): void {
    if (!this.#leases.delete(lease)) return;
    for (const uri of [...this.#subscribed.keys()]) {
      // The holder is gone, so the next one in line takes the subscription's end over.
      this.unsubscribe(lease, uri, {}).catch((error: unknown) =>
        this.#options.logger.debug("unsubscribing failed", { server: this.connection.definition.name, error }),
      );
    }
    this.#usedAtMs = this.#options.clock.now();
    this.#onLeases();
  }

  /** Lets no one join any more, and stops the server when its calls have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#cancelTimer?.();
    void this.connection.rest();
  }

  async close(): Promise<void> {
    this.#isRetired = true;
    this.#cancelTimer?.();
    await this.connection.close();
    for (const lease of this.#leases) lease.onConnectionState();
  }

  /** Two hubs can subscribe to one resource; the server is asked once, and told when the last one unsubscribes. */
  async subscribe(lease: Lease, uri: string, options: RequestOptions): Promise<void> {
    this.#forgetOldSubscriptions();
    const known = this.#subscribed.get(uri);
    if (known !== undefined) {
      known.leases.add(lease);
      const isEstablished = await known.established.then(
        () => true,
        () => false,
      );
      // What ended the other hub's attempt need not end this one.
      if (!isEstablished) await this.subscribe(lease, uri, options);
      return;
    }
    const request = { method: "resources/subscribe", params: { uri } };
    const established = this.connection.request(request, options, lease.holder).then(() => {});
    const own = { leases: new Set([lease]), established };
    this.#subscribed.set(uri, own);
    try {
      await established;
    } catch (error) {
      if (this.#subscribed.get(uri) === own) this.#subscribed.delete(uri);
      throw error;
    }
  }

  async unsubscribe(lease: Lease, uri: string, options: RequestOptions): Promise<void> {
    this.#forgetOldSubscriptions();
    const known = this.#subscribed.get(uri);
    if (!known?.leases.delete(lease) || known.leases.size > 0) return;
    this.#subscribed.delete(uri);
    if (this.connection.generation === undefined) return;
    await this.connection.request({ method: "resources/unsubscribe", params: { uri } }, options);
  }

  /** Sets the lowest level that any hub wants: one with a higher level gets more than it needs, never less. */
  async sendLogLevel(lease: Lease, level: string, options: RequestOptions): Promise<void> {
    const lowest = this.leases
      .flatMap((other) => (other === lease ? [] : (other.logLevel ?? [])))
      .reduce((low, other) => (isLogged(low, other) ? other : low), level);
    await this.connection.request({ method: "logging/setLevel", params: { level: lowest } }, options, lease.holder);
  }

  async halt(): Promise<void> {
    for (const lease of this.leases) lease.keepLists();
    await this.connection.halt();
  }

  async rootsChanged(lease: Lease): Promise<void> {
    await this.#options.onRootsChanged(this, lease);
  }

  /** Hubs list at the same time. The first to finish makes the server connected, so none waits for another's files. */
  async #onConnected(signal: AbortSignal): Promise<void> {
    const waiting = this.leases.filter(({ isWanted }) => isWanted);
    if (waiting.length === 0) return;
    try {
      await Promise.any(waiting.map((lease) => lease.list(signal)));
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
  }

  #onState(): void {
    const { state, isBusy } = this.connection;
    for (const lease of this.leases) lease.onConnectionState();
    if (state === "connected") {
      this.#usedAtMs = this.#options.clock.now();
      if (this.#isRetired) void this.connection.rest();
      else this.#arm();
    } else if (this.#leases.size === 0 && !this.isAlone && !this.#isRetired && !isBusy) {
      this.#endUnused();
    }
  }

  #onLeases(): void {
    this.wanted();
    const limits = this.leases.map(({ definition }) =>
      definition.idleStopMs === 0 ? Number.POSITIVE_INFINITY : (definition.idleStopMs ?? this.#options.idleStopMs),
    );
    // Without hubs, no entry asks for the server to be kept.
    if (limits.length > 0) this.#idleStopMs = Math.max(...limits);
    else if (!Number.isFinite(this.#idleStopMs)) this.#idleStopMs = this.#options.idleStopMs;
    if (this.connection.state === "connected" && !this.connection.isResting) this.#arm();
    else if (this.#leases.size === 0) this.#arm();
  }

  /** Whether the server would stop if it were unused for long enough. */
  get #mayStop(): boolean {
    if (this.#isRetired || this.#options.isPerClient) return false;
    return this.#leases.size === 0 || !isRemote(this.connection.definition);
  }

  #arm(delayMs = this.#idleStopMs): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (!this.#mayStop || !Number.isFinite(delayMs)) return;
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#onTime());
  }

  #onTime(): void {
    const isUsed = this.connection.isBusy || this.leases.some(({ hasSubscriptions }) => hasSubscriptions);
    const leftMs = this.#idleStopMs - (this.#options.clock.now() - this.#usedAtMs);
    if (!this.#mayStop) return;
    if (isUsed) this.#arm();
    else if (leftMs > 0) this.#arm(leftMs);
    else if (this.#leases.size === 0) this.#endUnused();
    else {
      for (const lease of this.leases) lease.keepLists();
      void this.connection.rest();
    }
  }

  #endUnused(): void {
    const server = this.connection.definition.name;
    this.#options
      .onUnused(this)
      .catch((error: unknown) => this.#options.logger.warn("closing an unused server failed", { server, error }));
  }

  /** Adds secrets, and passes them on to everyone who uses the server. */
  #learn(values: readonly string[]): void {
    const news = values.filter((value) => value !== "" && !this.#secrets.has(value));
    if (news.length === 0) return;
    for (const value of news) this.#secrets.add(value);
    this.#redactor.add(...news);
    for (const lease of this.#leases) lease.options.onSecrets(news);
  }

  #loggers(): readonly Logger[] {
    return this.#leases.size === 0 ? [this.#options.logger] : this.leases.map(({ holder }) => holder.logger);
  }

  /** A new generation starts without subscriptions. */
  #forgetOldSubscriptions(): void {
    const { generation } = this.connection;
    if (this.#subscribedAt === generation) return;
    this.#subscribedAt = generation;
    this.#subscribed = new Map();
  }
}

/** Whether an entry may be started, and can be. */
export function canStart({ trusted, disabled, unusable }: ServerDefinition): boolean {
  return trusted && !disabled && unusable === undefined;
}

/** Writes to the logs of all hubs that use a server. */
function logToAll(loggers: () => readonly Logger[]): Logger {
  const at = (level: "debug" | "info" | "warn" | "error") => (message: string, fields?: LogFields) => {
    for (const logger of loggers()) logger[level](message, fields);
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => logToAll(() => loggers().map((logger) => logger.child(fields))),
  };
}
