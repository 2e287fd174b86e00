// Connections that several hubs of one process share.
import { createHmac, randomBytes } from "node:crypto";
import type { ServerDefinition } from "@trunkline/config";
import { shareOf } from "@trunkline/config";
import { type Logger, silentLogger, TrunklineError } from "@trunkline/core";
import type { Leaseholder } from "../channel/leaseholder.js";
import type { LeaseOptions } from "../connection/connection-options.js";
import { Lease, type LeasePlace } from "./lease.js";
import { differenceOf, keyParts, partsKey, rootsKey } from "./pool-key.js";
import { type PoolClock, PooledServer, type PooledServerStatus } from "./pooled-server.js";

export interface ConnectionPoolOptions {
  /** For servers that no hub uses at the moment. Others log to the hubs that use them. */
  logger?: Logger;
  /** How long a local server may be unused before it is stopped, if its entry does not say. Default 30 minutes. */
  idleStopMs?: number;
  /** Default: the system's. */
  clock?: PoolClock;
}

const DEFAULT_IDLE_STOP_MS = 30 * 60_000;

const systemPoolClock: PoolClock = {
  now: () => Date.now(),
  after: (delayMs, work) => {
    // Nothing but a wait: it must not keep a finished program alive.
    const timer = setTimeout(work, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Connections for several hubs in one process. Hubs whose servers are configured in exactly the same way use one
 * connection, as far as `share` in the entries allows. Close the hubs first, then the pool: a server keeps running for a
 * while after its last hub has gone.
 *
 * ```ts
 * await using pool = new ConnectionPool();
 * await using one = await openHub(config, { connections: pool, workspace: "/src/app" });
 * await using two = await openHub(config, { connections: pool, workspace: "/src/app" });
 * ```
 *
 * A server that asks for roots works in the folders it is given, so hubs with different roots cannot share it. Whether it
 * asks is only known once it has. Until then it is shared. When it asks, it gets the roots of the hub whose call it works
 * on, and hubs with other roots move to connections of their own. If such hubs have calls in flight at that moment, the
 * server gets no answer, all of them move, and it stops after these calls. From then on the roots are part of what makes
 * two servers the same.
 */
export class ConnectionPool implements AsyncDisposable {
  readonly #servers = new Map<string, PooledServer>();
  /** Servers that no one can join: of one client, or stopping. */
  readonly #others = new Set<PooledServer>();
  readonly #ending = new Set<Promise<void>>();
  readonly #asksRoots = new Set<string>();
  readonly #logger: Logger;
  readonly #idleStopMs: number;
  readonly #clock: PoolClock;
  /** Keys contain secrets. With a salt of its own, a hash of the pool cannot be tried out. */
  readonly #salt = randomBytes(32);
  #closing: Promise<void> | undefined;

  constructor({ logger, idleStopMs, clock }: ConnectionPoolOptions = {}) {
    this.#logger = logger ?? silentLogger;
    this.#idleStopMs = idleStopMs ?? DEFAULT_IDLE_STOP_MS;
    this.#clock = clock ?? systemPoolClock;
  }

  /** Every server that runs, or that a hub uses. */
  servers(): readonly PooledServerStatus[] {
    const shown = [...this.#servers.values(), ...this.#others].filter(
      ({ leases, status, canStart }) => canStart && (leases.length > 0 || status.state === "connected"),
    );
    return shown
      .map((server) => ({ ...server.status, ...this.#whyApart(server, shown) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** Why a server is not the same as the most similar one with its name. */
  #whyApart(server: PooledServer, all: readonly PooledServer[]): { differs?: readonly string[] } {
    const others = all.filter((other) => other !== server && !other.isAlone && other.name === server.name);
    if (server.isAlone || others.length === 0) return {};
    const [differs = []] = others
      .map((other) => (other.base === server.base ? ["roots"] : differenceOf(server.parts, other.parts)))
      .sort((a, b) => a.length - b.length);
    return { differs };
  }

  /** Ends every connection and every server process. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      const servers = [...this.#servers.values(), ...this.#others];
      const outcomes = await Promise.allSettled([...servers.map((server) => server.close()), ...this.#ending]);
      this.#servers.clear();
      this.#others.clear();
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Leases a hub a connection. With `isolated`, it shares the connection with no one. */
  lease(
    definition: ServerDefinition,
    options: LeaseOptions,
    { isolated, ...place }: LeasePlace & { isolated: boolean },
  ): Lease {
    if (this.#closing !== undefined) throw new TrunklineError("CLOSED", "The connection pool is closed.");
    const share = shareOf(definition);
    const isPerClient = share === "client" || isolated;
    const notShared =
      share === "client"
        ? definition.share === undefined
          ? "it keeps state for each client"
          : 'share is "client"'
        : isolated
          ? "each client has its own"
          : definition.atLaunch !== undefined && !isKnownByText(definition)
            ? "its values are looked up when it starts"
            : undefined;
    const parts = notShared === undefined ? keyParts(definition, options, { share, ...place }) : {};
    const base = this.#hash(notShared === undefined ? partsKey(parts) : randomBytes(16));
    const server = this.#serverFor(base, options, () => {
      return new PooledServer(definition, options, {
        ...{
          base,
          parts,
          share,
          notShared,
          isPerClient,
          logger: this.#logger,
          clock: this.#clock,
          idleStopMs: this.#idleStopMs,
        },
        onRootsAsked: (asking, busy) => this.#onRootsAsked(asking, busy),
        onRootsChanged: (asking, lease) => this.#onRootsChanged(asking, lease),
        onUnused: (unused) => this.#end(unused),
      });
    });
    return new Lease(definition, options, { ...place, server });
  }

  /** Finds the server that a hub can use, or creates it. */
  #serverFor(base: string, options: LeaseOptions, create: () => PooledServer): PooledServer {
    const key = this.#keyOf(base, options);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const server = create();
    server.key = key;
    if (server.isAlone) this.#others.add(server);
    else this.#servers.set(key, server);
    return server;
  }

  #keyOf(base: string, { asking }: LeaseOptions): string {
    return this.#asksRoots.has(base) ? `${base}-${this.#hash(rootsKey(asking.roots()))}` : base;
  }

  /**
   * The server gets the roots of the hub whose call it works on, or of the first hub if there is no call, and hubs with
   * others move. If hubs with different roots have calls in flight, returns false: whatever the server got would be wrong
   * for one of them.
   */
  #onRootsAsked(server: PooledServer, busy: ReadonlySet<Leaseholder>): boolean {
    if (server.isAlone) return true;
    this.#asksRoots.add(server.base);
    // A hub that has not used the server yet has no say.
    const using = server.leases.filter(({ isWanted }) => isWanted);
    const keyOf = ({ options }: Lease) => this.#keyOf(server.base, options);
    const [key, ...others] = new Set(using.filter(({ holder }) => busy.has(holder)).map(keyOf));
    const kept = others.length > 0 ? undefined : (key ?? using.map(keyOf)[0]);
    if (kept !== undefined) this.#place(server, kept);
    for (const lease of server.leases) if (keyOf(lease) !== kept) this.#move(lease, server);
    if (kept === undefined) this.#retire(server);
    return kept !== undefined;
  }

  async #onRootsChanged(server: PooledServer, lease: Lease): Promise<void> {
    const key = this.#keyOf(server.base, lease.options);
    if (server.isAlone || key === server.key) return await server.connection.rootsChanged();
    if (server.leases.length > 1 || this.#servers.has(key)) return this.#move(lease, server);
    this.#place(server, key);
    await server.connection.rootsChanged();
  }

  /** Gives a server another place, because its roots count now or have changed. */
  #place(server: PooledServer, key: string): void {
    if (this.#servers.get(server.key) === server) this.#servers.delete(server.key);
    server.key = key;
    if (!this.#others.has(server)) this.#servers.set(key, server);
  }

  #move(lease: Lease, from: PooledServer): void {
    from.detach(lease);
    lease.moveTo(this.#serverFor(from.base, lease.options, () => from.createFor(lease)));
  }

  /** Lets no one join a server any more. It is closed with the pool: large results of its calls may still be read. */
  #retire(server: PooledServer): void {
    if (this.#servers.get(server.key) === server) this.#servers.delete(server.key);
    this.#others.add(server);
    server.retire();
  }

  async #end(server: PooledServer): Promise<void> {
    if (this.#servers.get(server.key) === server) this.#servers.delete(server.key);
    this.#others.delete(server);
    const ending = server.close();
    this.#ending.add(ending);
    try {
      await ending;
    } finally {
      this.#ending.delete(ending);
    }
  }

  #hash(value: string | Buffer): string {
    return createHmac("sha256", this.#salt).update(value).digest("hex").slice(0, 32);
  }
}

/** Whether equal texts mean equal servers: secrets are the same for a workspace, variables of a skill may not be. */
function isKnownByText({ secretReferences, dialect }: ServerDefinition): boolean {
  return secretReferences !== undefined && dialect !== "metadata.mcp";
}
