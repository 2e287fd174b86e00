// The driver for real servers: a pool of connections by `pg`, which reconnects by itself.
import { type Logger, systemCodeOf, TrunklineError } from "@trunkline/core";
import type pg from "pg";
import type { Driver, DriverConnection } from "./sql.js";
import { storeError } from "./sql.js";

const INT8 = 20;
const NUMERIC = 1700;
const CONNECT_MS = 10_000;
const IDLE_MS = 30_000;
const RELISTEN_MS = 1000;

/**
 * Loads `pg`. The `trunkline` command comes without it, because only stores in a database need it: it is installed next
 * to the command.
 */
async function loadPg(): Promise<typeof pg> {
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
function typesOf({ types }: typeof pg): pg.CustomTypesConfig {
  return {
    getTypeParser: ((oid: number, format?: "text" | "binary") =>
      oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
  };
}

/** Whether text is the address of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** Returns host, port and database of an address, without user and password. */
export function placeOf(url: string): string {
  const parsed = parseUrl(url);
  const host = parsed.searchParams.get("host") ?? parsed.hostname;
  const name = decodeURIComponent(parsed.pathname.slice(1));
  return `${host === "" ? "localhost" : host}:${parsed.port === "" ? "5432" : parsed.port}${name === "" ? "" : `/${name}`}`;
}

/** Returns the address without its password, for settings and messages. */
export function withoutPassword(url: string): string {
  const parsed = parseUrl(url);
  parsed.password = "";
  parsed.searchParams.delete("password");
  return parsed.href;
}

function parseUrl(url: string): URL {
  try {
    if (isPostgresUrl(url)) return new URL(url);
  } catch {
    // Reported below: the message of URL would repeat a password.
  }
  throw new TrunklineError("INVALID_ARGUMENT", "The address of the store's database is not valid.", {
    hint: "Use postgres://user@host:5432/database; special characters in a password are percent-encoded.",
  });
}

export interface PgDriverOptions {
  readonly url: string;
  readonly logger: Logger;
  /** Most connections. Default 10. */
  readonly connections?: number | undefined;
}

function connectionOf(client: pg.ClientBase): DriverConnection {
  return {
    async query(text, values) {
      const result = await client.query({ text, values: values as unknown[] });
      return { rows: result.rows, count: result.rowCount ?? 0 };
    },
    exec: async (text) => void (await client.query(text)),
  };
}

/** Opens a pool. It connects with the first query. The password may also come from PGPASSWORD or ~/.pgpass. */
export async function openPgDriver({ url, logger, connections = 10 }: PgDriverOptions): Promise<Driver> {
  const place = placeOf(url);
  const library = await loadPg();
  const config: pg.PoolConfig = {
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    application_name: "trunkline",
    keepAlive: true,
    types: typesOf(library),
  };
  const pool = new library.Pool(config);
  // An idle connection that breaks is replaced; without a listener the process would end.
  pool.on("error", (error) => logger.debug("a connection to the store's database was lost", { error: error.message }));
  // A connection can break at any time, also while it is handed over or closed.
  const broken = new WeakSet<pg.PoolClient>();
  pool.on("connect", (client) => client.on("error", () => broken.add(client)));
  const listeners = new Set<() => Promise<void>>();
  return {
    place,
    async use(work) {
      const client = await pool.connect();
      try {
        return await work(connectionOf(client));
      } finally {
        client.release(broken.has(client));
      }
    },
    async listen(channel, listener, prepare) {
      let isStopped = false;
      let client: pg.Client | undefined;
      let timer: NodeJS.Timeout | undefined;
      const connect = async (): Promise<void> => {
        const { max: _, idleTimeoutMillis: __, ...own } = config;
        const next = new library.Client(own);
        let hasEnded = false;
        next.on("error", () => {});
        next.on("end", () => {
          hasEnded = true;
          if (isStopped || client !== next) return;
          client = undefined;
          timer = setTimeout(() => void again(), RELISTEN_MS).unref();
        });
        try {
          await next.connect();
          await prepare?.(connectionOf(next));
          await next.query(`LISTEN ${channel}`);
          if (hasEnded) throw new Error("Connection terminated");
        } catch (error) {
          void next.end().catch(() => {});
          throw error;
        }
        next.on("notification", ({ payload = "" }) => listener(payload));
        if (isStopped) await next.end();
        else client = next;
      };
      const again = async (): Promise<void> => {
        try {
          await connect();
          // Notifications were lost meanwhile.
          listener("");
        } catch (error) {
          logger.debug("listening to the store's database failed", { error: storeError(error, place).message });
          if (!isStopped) timer = setTimeout(() => void again(), RELISTEN_MS).unref();
        }
      };
      await connect();
      const stop = async (): Promise<void> => {
        isStopped = true;
        listeners.delete(stop);
        clearTimeout(timer);
        await client?.end().catch(() => {});
      };
      listeners.add(stop);
      return stop;
    },
    async close() {
      for (const stop of [...listeners]) await stop();
      await pool.end();
    },
  };
}
