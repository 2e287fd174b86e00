// PostgreSQL in this process, for tests.
import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { vector } from "@electric-sql/pglite-pgvector";
import { migrate } from "../../src/database/migrate.js";
import { Database, type Driver, type DriverConnection, SCHEMA } from "../../src/database/sql.js";

const INT8 = 20;
const NUMERIC = 1700;
const parsers = { [INT8]: Number, [NUMERIC]: Number };
const extensions = { pg_trgm, vector };

let shared: Promise<PGlite> | undefined;

/** A database with the store's schema and nothing else. All tests of a worker use the same process, one after another. */
export async function pgliteDatabase(): Promise<PGlite> {
  shared ??= emptyPglite();
  const db = await shared;
  await db.exec(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await migrate(new Database(pgliteDriver(db)));
  return db;
}

/** A database without anything in it. Starting one takes seconds. */
async function emptyPglite(): Promise<PGlite> {
  return await PGlite.create({ parsers, extensions });
}

/**
 * Presents a PGlite as a driver. It has one connection, so transactions wait for each other. Closing the driver leaves the
 * database open, as closing a pool leaves a server running.
 */
export function pgliteDriver(db: PGlite): Driver {
  let last: Promise<unknown> = Promise.resolve();
  const stops = new Set<() => Promise<void>>();
  const connection: DriverConnection = {
    async query(text, values) {
      const { rows, affectedRows = 0 } = await db.query(text, [...values], { parsers });
      return { rows, count: affectedRows };
    },
    exec: async (text) => (await db.exec(text)).at(-1)?.rows ?? [],
  };
  return {
    place: "pglite",
    connections: () => ({ used: 0, idle: 1, waiting: 0 }),
    async use(work) {
      const running = last.then(() => work(connection));
      last = running.catch(() => {});
      return await running;
    },
    async listen(channel, listener, prepare) {
      await prepare?.(connection);
      const unlisten = await db.listen(channel, listener);
      const stop = async () => {
        stops.delete(stop);
        await unlisten();
      };
      stops.add(stop);
      return stop;
    },
    async close() {
      await last;
      for (const stop of [...stops]) await stop();
    },
  };
}
