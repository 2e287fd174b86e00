// Opens a store on PostgreSQL: checks and migrates the schema, and finds out what the database offers.
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Embedder, type Logger, silentLogger, TrunklineError } from "@trunkline/core";
import type { GuardedPaths } from "@trunkline/store/parts";
import { withoutPassword } from "./database/address.js";
import { extensionSchemas, migrate, requireReadable, SCHEMA_VERSION, schemaVersion } from "./database/migrate.js";
import { openPgDriver } from "./database/pg-driver.js";
import { Database, type Driver, storeError } from "./database/sql.js";
import { PostgresStore } from "./postgres-store.js";
import type { OpenEmbedded } from "./transfer/export-files.js";

interface OpenPostgresStoreOptions extends GuardedPaths {
  /** `postgres://user@host:5432/database`, with `sslmode` and its files as in libpq. */
  readonly url?: string;
  /** Used if the address has none. The package reads neither the environment nor `~/.pgpass`: see {@link findPassword}. */
  readonly password?: string;
  /** Another way to reach a database, in place of `url`. */
  readonly driver?: Driver;
  /** The base for relative paths. Default: the process's working directory. */
  readonly cwd?: string;
  /** Where unfinished downloads are kept. Default: a folder for temporary files. */
  readonly folder?: string;
  readonly logger?: Logger;
  /** Migrates an older schema; without it, opening one is an error. Earlier versions cannot use it afterwards. */
  readonly migrate?: boolean;
  /** The id the store must have. */
  readonly id?: string;
  /** Enables search by meaning. Its owner closes it, after the store. */
  readonly embedder?: Embedder;
  /** Opens an embedded store in a folder: exports and imports are files of the embedded store. */
  readonly openEmbedded?: OpenEmbedded;
}

interface InitPostgresStoreOptions extends Pick<OpenPostgresStoreOptions, "url" | "driver" | "password"> {
  readonly logger?: Logger;
}

/** Creates the store's schema in a database, or migrates an older one. `from` is the version that was there. */
export async function initPostgresStore(
  options: string | InitPostgresStoreOptions,
): Promise<{ from: number | undefined; to: number }> {
  const given = typeof options === "string" ? { url: options } : options;
  const database = new Database(await driverOf(given, given.logger ?? silentLogger));
  try {
    return { from: await migrate(database), to: SCHEMA_VERSION };
  } finally {
    await database.driver.close();
  }
}

export async function openPostgresStore(options: OpenPostgresStoreOptions): Promise<PostgresStore> {
  const { cwd = process.cwd(), logger = silentLogger } = options;
  const database = new Database(await driverOf(options, logger));
  try {
    await prepareSchema(database, options);
    const { id, hasPgvector } = await describeDatabase(database);
    if (options.id !== undefined && options.id !== id) {
      throw new TrunklineError(
        "STORE_UNTRUSTED",
        `The store at ${database.driver.place} was replaced with another one.`,
      );
    }
    const absolute = (paths: readonly string[] | undefined) => paths?.map((each) => resolve(cwd, each));
    const guarded = { ownFolders: absolute(options.ownFolders), unwritable: absolute(options.unwritable) };
    const folder = resolve(cwd, options.folder ?? join(tmpdir(), `trunkline-${process.getuid?.() ?? "user"}`));
    const parts = { cwd, guarded, logger, id, folder, openEmbedded: options.openEmbedded };
    const store = new PostgresStore(database, parts);
    store.usePgvector(hasPgvector);
    await store.follow();
    if (options.embedder !== undefined) store.useEmbedder(options.embedder);
    return store;
  } catch (error) {
    await database.driver.close();
    throw storeError(error, database.driver.place);
  }
}

async function driverOf(
  { driver, url, password }: Pick<OpenPostgresStoreOptions, "driver" | "url" | "password">,
  logger: Logger,
): Promise<Driver> {
  if (driver !== undefined) return driver;
  if (url !== undefined) return await openPgDriver({ url, password, logger });
  throw new TrunklineError("INVALID_ARGUMENT", "A store on PostgreSQL needs an address.");
}

async function prepareSchema(database: Database, options: OpenPostgresStoreOptions): Promise<void> {
  const version = await schemaVersion(database);
  const { place } = database.driver;
  requireReadable(version, database.driver);
  if (version === SCHEMA_VERSION) return;
  if (version === undefined) {
    throw new TrunklineError("NOT_FOUND", `The database at ${place} has no store.`, {
      hint: "Create one with `trunkline store init postgres://…`.",
    });
  }
  if (!options.migrate) {
    const address = options.url === undefined ? "postgres://…" : withoutPassword(options.url);
    throw new TrunklineError(
      "IO",
      `The store at ${place} has schema version ${version}, and this version of Trunkline needs ${SCHEMA_VERSION}.`,
      {
        hint: `Migrate it: trunkline store init ${address} (gateways of earlier versions cannot use it afterwards).`,
        data: { version, needsMigration: true },
      },
    );
  }
  await migrate(database);
}

/** Reads the store's id, and whether pgvector is installed; its column is then added. */
async function describeDatabase(database: Database): Promise<{ id: string; hasPgvector: boolean }> {
  database.extensionSchemas = await database.driver.use(extensionSchemas);
  return await database.write({}, async (sql) => {
    const { id } = await sql.one<{ id: string }>("SELECT id FROM identity");
    const { found } = await sql.one<{ found: boolean }>(
      "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector') AS found",
    );
    const column =
      "SELECT 1 FROM pg_attribute WHERE attrelid = 'vectors'::regclass AND attname = 'half' AND NOT attisdropped";
    if (found && (await sql.get(column)) === undefined) {
      await sql.exec(`ALTER TABLE vectors ADD COLUMN IF NOT EXISTS half halfvec;
        DELETE FROM vectors; UPDATE embedders SET entry = 0, complete = false`);
    }
    return { id, hasPgvector: found };
  });
}
