// Resource subscriptions. They belong to the hub, not to a connection: when a server returns after a crash, an expired
// session or a changed entry, its subscriptions are restored, and the listeners are notified that they may have missed
// changes.
import { type Logger, messageOf, sleep, TrunklineError } from "@trunkline/core";
import { isWithinResource, type Subscription } from "../connection/subscriptions.js";
import type { Lease } from "../pool/lease.js";

/** A subscribed resource has changed. */
export interface ResourceUpdate {
  readonly server: string;
  /** The changed resource: the subscribed one, or one below it. */
  readonly uri: string;
  /** The subscription was lost for a while and has been restored: the resource may or may not have changed. */
  readonly restored: boolean;
}

/** Called for each change. */
export type ResourceListener = (update: ResourceUpdate) => void;

/** What the subscriptions need from the hub. */
interface SubscriptionsOptions {
  logger: Logger;
  /** A server's current connection; undefined if the server is no longer configured. */
  connection: (server: string) => Lease | undefined;
}

/** Delays before an ended stream is reopened; the last one repeats. */
const RELISTEN_DELAYS_MS = [100, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

export class Subscriptions {
  readonly #servers = new Map<string, ServerSubscriptions>();
  readonly #options: SubscriptionsOptions;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Subscribes, and returns a function that unsubscribes. The server must be connected. */
  async subscribe(
    server: string,
    uri: string,
    options: { listener: ResourceListener; signal: AbortSignal | undefined },
  ): Promise<() => Promise<void>> {
    let own = this.#servers.get(server);
    if (own === undefined) {
      own = new ServerSubscriptions(server, this.#options);
      this.#servers.set(server, own);
    }
    return await own.subscribe(uri, options);
  }

  /** Restores a server's subscriptions on its new connection. */
  onConnected(server: string): void {
    this.#servers.get(server)?.restore();
  }

  onNotification(server: string, method: string, params: Readonly<Record<string, unknown>>): void {
    if (method !== "notifications/resources/updated" || typeof params.uri !== "string") return;
    this.#servers.get(server)?.tell(params.uri);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((own) => own.close()));
    this.#servers.clear();
  }
}

class ServerSubscriptions {
  readonly #server: string;
  readonly #options: SubscriptionsOptions;
  readonly #listeners = new Map<string, Set<ResourceListener>>();
  readonly #lifetime = new AbortController();
  /** The subscriptions of the current connection. */
  readonly #established = new Set<string>();
  /** Modern servers: the stream that carries the changes. */
  #stream: Subscription | undefined;
  #connection: Lease | undefined;
  /** Serializes changes: two at a time could undo each other. */
  #work: Promise<void> = Promise.resolve();

  constructor(server: string, options: SubscriptionsOptions) {
    this.#server = server;
    this.#options = options;
  }

  async subscribe(
    uri: string,
    { listener, signal }: { listener: ResourceListener; signal: AbortSignal | undefined },
  ): Promise<() => Promise<void>> {
    // One entry per subscription, even if the same function is passed twice.
    const own: ResourceListener = (update) => listener(update);
    const listeners = this.#listeners.get(uri) ?? new Set();
    this.#listeners.set(uri, listeners.add(own));
    const remove = () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(uri) === listeners) this.#listeners.delete(uri);
    };
    try {
      await this.#enqueue(() => this.#establish(signal));
    } catch (error) {
      remove();
      throw error;
    }
    return async () => {
      remove();
      await this.#enqueue(() => this.#establish()).catch((error: unknown) => this.#failed("unsubscribing", error));
    };
  }

  restore(): void {
    if (this.#listeners.size === 0) return;
    this.#forget();
    this.#again();
  }

  tell(uri: string, { restored = false } = {}): void {
    for (const [subscribed, listeners] of this.#listeners) {
      if (!isWithinResource(uri, subscribed)) continue;
      for (const listener of listeners) {
        try {
          listener({ server: this.#server, uri, restored });
        } catch (error) {
          this.#options.logger.error("a subscription listener failed", { error: messageOf(error) });
        }
      }
    }
  }

  async close(): Promise<void> {
    this.#lifetime.abort(new TrunklineError("CLOSED", "The hub was closed."));
    this.#listeners.clear();
    await this.#work.catch(() => {});
  }

  /** Subscribes again in the background, and notifies all listeners. */
  #again(): void {
    const restoring = this.#enqueue(async () => {
      await this.#establish(this.#lifetime.signal);
      for (const uri of this.#listeners.keys()) this.tell(uri, { restored: true });
    });
    restoring.catch((error: unknown) => this.#failed("subscribing again", error));
  }

  /** Makes the server's subscriptions match the listeners. */
  async #establish(signal?: AbortSignal): Promise<void> {
    const connection = this.#options.connection(this.#server);
    if (connection === undefined || this.#lifetime.signal.aborted) return;
    if (connection !== this.#connection) this.#forget();
    this.#connection = connection;
    const wanted = new Set(this.#listeners.keys());
    const isSame = wanted.size === this.#established.size && [...wanted].every((uri) => this.#established.has(uri));
    if (isSame) return;
    // Without a connection there is nothing to end: a new one starts without subscriptions.
    if (wanted.size === 0 && connection.state !== "connected") return this.#forget();
    await connection.connect(signal);
    requireSubscriptions(this.#server, connection);
    if (connection.era === "modern") await this.#relisten(connection, wanted, signal);
    else await this.#resubscribe(connection, wanted, signal);
  }

  async #resubscribe(connection: Lease, wanted: ReadonlySet<string>, signal?: AbortSignal): Promise<void> {
    const options = signal === undefined ? {} : { signal };
    for (const uri of wanted) {
      if (this.#established.has(uri)) continue;
      await connection.subscribe(uri, options);
      this.#established.add(uri);
    }
    for (const uri of [...this.#established]) {
      if (wanted.has(uri)) continue;
      this.#established.delete(uri);
      await connection.unsubscribe(uri, options);
    }
  }

  /**
   * A modern subscription is one stream for a fixed set of resources. Opens the new stream before closing the old one.
   */
  async #relisten(connection: Lease, wanted: ReadonlySet<string>, signal?: AbortSignal): Promise<void> {
    const old = this.#stream;
    this.#stream = undefined;
    if (wanted.size > 0) {
      const stream = await connection.listen({ resourceSubscriptions: [...wanted] }, signal);
      this.#stream = stream;
      void stream.ended.then((how) => {
        if (how !== "local" && this.#stream === stream) this.#onStreamEnd(connection);
      });
    }
    this.#established.clear();
    for (const uri of wanted) this.#established.add(uri);
    old?.close();
  }

  /** If the server is gone, the next connection restores the subscriptions; if only the stream is gone, we do. */
  #onStreamEnd(connection: Lease): void {
    this.#forget();
    const { signal } = this.#lifetime;
    const attempt = async (number: number): Promise<void> => {
      const delayMs = RELISTEN_DELAYS_MS[Math.min(number, RELISTEN_DELAYS_MS.length - 1)] ?? 0;
      await sleep(delayMs, signal);
      if (this.#stream !== undefined || this.#listeners.size === 0 || connection !== this.#connection) return;
      // A restarting connection restores the subscriptions by itself.
      if (connection.state !== "connected") return;
      try {
        await this.#enqueue(() => this.#establish(signal));
      } catch (error) {
        this.#failed("subscribing again", error);
        return await attempt(number + 1);
      }
      for (const uri of this.#listeners.keys()) this.tell(uri, { restored: true });
    };
    attempt(0).catch((error: unknown) => this.#failed("subscribing again", error));
  }

  #forget(): void {
    this.#established.clear();
    this.#stream = undefined;
  }

  async #enqueue(work: () => Promise<void>): Promise<void> {
    const next = this.#work.then(work);
    this.#work = next.catch(() => {});
    await next;
  }

  #failed(what: string, error: unknown): void {
    if (this.#lifetime.signal.aborted) return;
    this.#options.logger.warn("a subscription failed", { server: this.#server, what, error: messageOf(error) });
  }
}

function requireSubscriptions(server: string, connection: Lease): void {
  const resources = connection.capabilities.resources as { subscribe?: unknown } | undefined;
  if (resources?.subscribe === true) return;
  throw new TrunklineError("PROTOCOL", `Server "${server}" does not support resource subscriptions.`, {
    hint: "Read the resource when you need it.",
  });
}
