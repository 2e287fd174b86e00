// Creates the schema and brings it up to date. Several gateways may do so at once: one works, the others wait and find it
// done.
import { TrunklineError } from "@trunkline/core";
import { MIGRATIONS } from "./migrations.js";
import { type Database, type Driver, type DriverConnection, LOCKS, SCHEMA, stateOf, storeError } from "./sql.js";

export const SCHEMA_VERSION = MIGRATIONS.length;

/** The state of a database: `undefined` without a store. */
export async function schemaVersion({ driver }: Database): Promise<number | undefined> {
  try {
    return await driver.use(versionIn);
  } catch (error) {
    throw storeError(error, driver.place);
  }
}

async function versionIn(connection: DriverConnection): Promise<number | undefined> {
  const [found] = (await connection.query("SELECT to_regclass($1)::text AS name", [`${SCHEMA}.schema_version`]))
    .rows as {
    name: string | null;
  }[];
  if ((found?.name ?? null) === null) return undefined;
  const { rows } = await connection.query(`SELECT version FROM ${SCHEMA}.schema_version`, []);
  return (rows as { version: number }[])[0]?.version;
}

/**
 * Creates the schema, or migrates an older one, in one transaction. Returns the version that was there. Tests pass other
 * migrations.
 */
export async function migrate(
  { driver }: Database,
  migrations: readonly string[] = MIGRATIONS,
): Promise<number | undefined> {
  try {
    return await driver.use(async (connection) => {
      await connection.exec("BEGIN");
      try {
        await connection.exec(`SELECT pg_advisory_xact_lock(${LOCKS.migrate})`);
        const before = await versionIn(connection);
        requireReadable(before, driver, migrations.length);
        await applyMigrations(connection, before ?? 0, migrations);
        await connection.exec("COMMIT");
        return before;
      } catch (error) {
        await connection.exec("ROLLBACK").catch(() => {});
        throw error;
      }
    });
  } catch (error) {
    throw stateOf(error) === "42501" ? mayNotCreate(error, driver.place) : storeError(error, driver.place);
  }
}

async function applyMigrations(
  connection: DriverConnection,
  from: number,
  migrations: readonly string[],
): Promise<void> {
  if (from === 0) {
    await connection.exec(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    await connection.exec("CREATE EXTENSION IF NOT EXISTS pg_trgm");
    await installPgvector(connection);
    await connection.exec(`CREATE TABLE IF NOT EXISTS ${SCHEMA}.schema_version (version integer NOT NULL)`);
    await connection.exec(
      `INSERT INTO ${SCHEMA}.schema_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM ${SCHEMA}.schema_version)`,
    );
  }
  const path = [SCHEMA, ...(await extensionSchemas(connection))].map((name) => `"${name}"`).join(", ");
  await connection.exec(`SET LOCAL search_path TO ${path}`);
  for (const [at, migration] of migrations.slice(from).entries()) {
    await connection.exec(migration);
    await connection.exec(`UPDATE ${SCHEMA}.schema_version SET version = ${from + at + 1}`);
  }
}

/** Installs pgvector if the server has it and the user may. Without it, gateways compare vectors themselves. */
async function installPgvector(connection: DriverConnection): Promise<void> {
  const { rows } = await connection.query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'", []);
  if (rows.length === 0) return;
  await connection.exec("SAVEPOINT pgvector");
  try {
    await connection.exec("CREATE EXTENSION IF NOT EXISTS vector");
  } catch (error) {
    if (stateOf(error) !== "42501") throw error;
    await connection.exec("ROLLBACK TO SAVEPOINT pgvector");
  }
}

/** Returns the schemas that the extensions we use are in. */
export async function extensionSchemas(connection: DriverConnection): Promise<string[]> {
  const { rows } = await connection.query(
    `SELECT DISTINCT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname IN ('pg_trgm', 'vector') AND n.nspname <> $1`,
    [SCHEMA],
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

/** Throws for a schema of a newer version. */
export function requireReadable(
  version: number | undefined,
  { place }: Pick<Driver, "place">,
  known = SCHEMA_VERSION,
): void {
  if (version === undefined || version <= known) return;
  throw new TrunklineError(
    "IO",
    `The store at ${place} has schema version ${version}; this version of Trunkline knows versions up to ${known}.`,
    { hint: "Update Trunkline, or choose another store with --store.", data: { version } },
  );
}

function mayNotCreate(error: unknown, place: string): TrunklineError {
  return new TrunklineError("DENIED", `The user may not create the store's schema in the database at ${place}.`, {
    cause: error,
    hint: "Run `trunkline store init postgres://…` as the owner of the database.",
  });
}
