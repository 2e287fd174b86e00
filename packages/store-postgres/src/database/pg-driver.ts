// The driver for real servers: a pool of connections by `pg`, which reconnects by itself. A call that is aborted stops its
// statement on the server, and a server that no longer answers fails all calls.
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type Logger, systemCodeOf, TrunklineError } from "@trunkline/core";
import type pg from "pg";
import { type PostgresAddress, parseAddress, placeOf } from "./address.js";
import { ConnectionSlots } from "./connection-slots.js";
import { listenTo } from "./pg-listener.js";
import { type Driver, type DriverConnection, stateOf } from "./sql.js";

/** How long all statements may be silent before the database is asked whether it is there. */
const QUIET_MS = 4000;

const LOOK_MS = 500;

const INT8 = 20;
const NUMERIC = 1700;
const CONNECT_MS = 5000;
const IDLE_MS = 30_000;
/** How long to wait for a connection while the server has none left. */
const FULL_MS = 5000;
/** The same while other calls of ours have connections, which they give back. */
const SHARED_MS = 30_000;
const FULL_PAUSE_MS = 100;
/** How long a cancelled statement may take to end before its connection is closed. */
const CANCEL_MS = 2000;
const TOO_MANY_CONNECTIONS = "53300";

type PgLibrary = typeof pg;

/**
 * Loads `pg`. The `trunkline` command comes without it, because only stores in a database need it: it is installed next
 * to the command.
 */
async function loadPg(): Promise<PgLibrary> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
    throw new TrunklineError("NOT_FOUND", "A store in PostgreSQL needs the package pg, which is not installed.", {
      hint: "Install it in the same way as trunkline, for example: npm install --global pg@8",
    });
  }
}

/** Counts fit into doubles. */
function typesOf({ types }: PgLibrary): pg.CustomTypesConfig {
  return {
    getTypeParser: ((oid: number, format?: "text" | "binary") =>
      oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
  };
}

interface PgDriverOptions {
  readonly url: string;
  /** Used if the address has none. */
  readonly password?: string;
  readonly logger: Logger;
  /** Most connections. Default 10. */
  readonly connections?: number;
}

/** Opens a pool. It connects with the first query. */
export async function openPgDriver({ url, password, logger, connections = 10 }: PgDriverOptions): Promise<Driver> {
  const address = parseAddress(url);
  const library = await loadPg();
  return new PgDriver(library, { address, password, logger, connections, place: placeOf(url) });
}

class PgDriver implements Driver {
  readonly place: string;
  readonly #library: PgLibrary;
  readonly #logger: Logger;
  readonly #config: pg.ClientConfig;
  readonly #pool: pg.Pool;
  readonly #slots: ConnectionSlots;
  readonly #liveness: Liveness;
  readonly #sockets = new Set<Socket>();
  /** A connection can break at any time, also while it is handed over or closed. */
  readonly #broken = new WeakSet<pg.PoolClient>();
  readonly #listeners = new Set<() => Promise<void>>();
  #inUse = 0;

  constructor(
    library: PgLibrary,
    options: {
      readonly address: PostgresAddress;
      readonly password: string | undefined;
      readonly logger: Logger;
      readonly connections: number;
      readonly place: string;
    },
  ) {
    const { address, logger, connections, place } = options;
    const { host, port, user, database, tls, applicationName } = address;
    this.place = place;
    this.#library = library;
    this.#logger = logger;
    const password = address.password ?? options.password ?? "";
    this.#config = {
      ...{ host, port, user, database, ssl: tls, application_name: applicationName, keepAlive: true },
      // A function: pg looks for an empty password in the environment and in files.
      password: () => password,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: CONNECT_MS,
      types: typesOf(library),
      stream: () => this.#socket(),
      // Statements that do not wait for each other are sent together. Versions of pg without this send them one by one.
      pipeline: true,
    };
    this.#pool = new library.Pool({ ...this.#config, max: connections, idleTimeoutMillis: IDLE_MS });
    // An idle connection that breaks is replaced; without a listener the process would end.
    this.#pool.on("error", (error) =>
      logger.debug("a connection to the store's database was lost", { error: error.message }),
    );
    this.#pool.on("connect", (client) => {
      client.on("error", () => this.#broken.add(client));
      // If we are gone, the server stops our statement. Not all of them can do that.
      client.query("SET client_connection_check_interval = 2000").catch(() => {});
    });
    this.#slots = new ConnectionSlots(connections);
    this.#liveness = new Liveness({ isAlive: () => this.#isAlive(), onDead: () => this.#abandon() });
  }

  connections(): { used: number; idle: number; waiting: number } {
    const { totalCount, idleCount } = this.#pool;
    return { used: totalCount - idleCount, idle: idleCount, waiting: this.#slots.waiting };
  }

  async use<T>(work: (connection: DriverConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const giveBack = await this.#slots.take(signal);
    try {
      return await this.#useClient(await this.#connect(signal), work, signal);
    } finally {
      giveBack();
    }
  }

  async listen(
    channel: string,
    listener: (payload: string) => void,
    prepare?: (connection: DriverConnection) => Promise<void>,
  ): Promise<() => Promise<void>> {
    const open = () => new this.#library.Client(this.#config);
    const { place } = this;
    const stopListening = await listenTo({ open, channel, listener, prepare, logger: this.#logger, place });
    const stop = async (): Promise<void> => {
      this.#listeners.delete(stop);
      await stopListening();
    };
    this.#listeners.add(stop);
    return stop;
  }

  async close(): Promise<void> {
    for (const stop of [...this.#listeners]) await stop();
    // A server that does not answer does not close its connections either.
    const timer = setTimeout(() => this.#abandon(), CANCEL_MS);
    await this.#pool.end();
    clearTimeout(timer);
    this.#liveness.close();
  }

  async #useClient<T>(
    client: pg.PoolClient,
    work: (connection: DriverConnection) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    let running = 0;
    let isReleased = false;
    let cancelling: Promise<void> | undefined;
    let timer: NodeJS.Timeout | undefined;
    const release = (isBroken: boolean) => {
      // A cancellation can stop the end of a transaction, too: what was done in it must not become part of the next one.
      if (!isReleased) client.release(isBroken || this.#broken.has(client) || isInTransaction(client));
      isReleased = true;
    };
    const onAbort = () => {
      if (running === 0) return;
      timer = setTimeout(() => release(true), CANCEL_MS);
      cancelling = this.#cancel(client);
    };
    const send = async <R>(statement: () => Promise<R>): Promise<R> => {
      const answered = this.#liveness.sent();
      running++;
      try {
        return await statement();
      } finally {
        running--;
        answered();
      }
    };
    signal?.addEventListener("abort", onAbort);
    this.#inUse++;
    try {
      return await work({
        query: async (text, values, name) => {
          const query = { text, values: values as unknown[], ...(name === undefined ? {} : { name }) };
          const result = await send(() => client.query(query));
          return { rows: result.rows, count: result.rowCount ?? 0 };
        },
        exec: async (text) => rowsOfLast(await send(() => client.query(text))),
      });
    } catch (error) {
      // A migration changed what a prepared statement returns: a new connection prepares it again.
      if (stateOf(error) === "0A000") this.#broken.add(client);
      throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      // The connection is not used again before the cancellation has arrived: it would stop another statement.
      await cancelling;
      clearTimeout(timer);
      this.#inUse--;
      release(false);
    }
  }

  /** Connects, and waits for a moment if the server has no connection left. */
  async #connect(signal: AbortSignal | undefined): Promise<pg.PoolClient> {
    for (const since = performance.now(); ; ) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const isFull = stateOf(error) === TOO_MANY_CONNECTIONS;
        const waitMs = this.#inUse > 0 ? SHARED_MS : FULL_MS;
        if (!isFull || signal?.aborted || performance.now() - since > waitMs) {
          if (!isFull) this.#slots.failAll(error);
          throw error;
        }
      }
      await pause(FULL_PAUSE_MS);
    }
  }

  /** Stops the statement that runs on a connection. */
  async #cancel(client: pg.PoolClient): Promise<void> {
    // Missing in the types of pg.
    const { processID } = client as { processID?: number | null };
    const other = new this.#library.Client({
      ...this.#config,
      connectionTimeoutMillis: CANCEL_MS,
      query_timeout: CANCEL_MS,
    });
    other.on("error", () => {});
    try {
      await other.connect();
      await other.query("SELECT pg_cancel_backend($1)", [processID]);
    } catch {
      // The connection is closed instead, when the time is over.
    } finally {
      void other.end().catch(() => {});
    }
  }

  async #isAlive(): Promise<boolean> {
    const other = new this.#library.Client({ ...this.#config, query_timeout: CONNECT_MS });
    other.on("error", () => {});
    try {
      await other.connect();
      await other.query("SELECT 1");
      return true;
    } catch (error) {
      // A server that refuses is there; a code of the system is not an answer.
      return /^[0-9A-Z]{5}$/.test(stateOf(error)) && !stateOf(error).startsWith("E");
    } finally {
      void other.end().catch(() => {});
    }
  }

  /** Ends all connections at once. Their calls fail, and the next one connects again. */
  #abandon(): void {
    const error = Object.assign(new Error("The database does not answer."), { code: "ETIMEDOUT" });
    for (const socket of [...this.#sockets]) socket.destroy(error);
    this.#slots.failAll(error);
  }

  #socket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

function isInTransaction(client: pg.PoolClient): boolean {
  // Missing in the types of pg, and in its older versions.
  const status = (client as { getTransactionStatus?(): string | null }).getTransactionStatus?.() ?? "I";
  return status !== "I";
}

/** pg returns an array for several statements, which its types do not say. */
function rowsOfLast(results: unknown): unknown[] {
  const last = (Array.isArray(results) ? results.at(-1) : results) as pg.QueryResult | undefined;
  return last?.rows ?? [];
}

// Notices a database that no longer answers although its connections are open: a stopped server, a lost network. A statement
// may take long, so only a second connection can tell.

class Liveness {
  readonly #isAlive: () => Promise<boolean>;
  readonly #onDead: () => void;
  /** When each statement began that has not been answered. */
  readonly #waiting = new Set<{ readonly since: number }>();
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor({ isAlive, onDead }: { isAlive: () => Promise<boolean>; onDead: () => void }) {
    this.#isAlive = isAlive;
    this.#onDead = onDead;
  }

  /** Call it when a statement is sent, and the returned function when it was answered. */
  sent(): () => void {
    const statement = { since: performance.now() };
    this.#waiting.add(statement);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      this.#heardAt = performance.now();
      this.#waiting.delete(statement);
      if (this.#waiting.size === 0) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = performance.now();
    const oldest = [...this.#waiting].reduce((first, { since }) => Math.min(first, since), now);
    if (this.#asking || now - Math.max(this.#heardAt, oldest) < QUIET_MS) return;
    this.#asking = true;
    void this.#isAlive().then((isAlive) => {
      this.#asking = false;
      if (isAlive) this.#heardAt = performance.now();
      else if (this.#waiting.size > 0) this.#onDead();
    });
  }
}
