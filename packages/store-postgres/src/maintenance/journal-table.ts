// The journal of all gateways: one row per call. What a line says is up to the gateway.
import { type Database, LOCKS, type Sql } from "../database/sql.js";

const KEPT_ROWS = 200_000;
const KEPT_DAYS = 90;
/** Old rows are removed after this many new ones. */
const CLEANED_AFTER = 1000;

export class JournalTable {
  readonly place: string;
  readonly #database: Database;
  #sinceCleaned = CLEANED_AFTER;

  constructor(database: Database) {
    this.#database = database;
    this.place = database.driver.place;
  }

  async append(lines: readonly string[]): Promise<void> {
    this.#sinceCleaned += lines.length;
    const isDue = this.#sinceCleaned >= CLEANED_AFTER;
    await this.#database.write({}, async (sql) => {
      // A crash of the server may lose the last moment, but no call waits for its disk.
      await sql.exec("SET LOCAL synchronous_commit TO off");
      // Ids are in the order of commits, or a reader that follows would miss lines.
      await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.journal})`);
      await sql.run("INSERT INTO journal (line) SELECT * FROM unnest($1::text[])", lines);
      if (isDue) await removeOld(sql);
    });
    if (isDue) this.#sinceCleaned = 0;
  }

  /** The last lines before an id, newest first. */
  async before(id: number | undefined, limit: number): Promise<readonly { id: number; line: string }[]> {
    return await this.#database.read({}, (sql) =>
      sql.rows(
        "SELECT id, line FROM journal WHERE $1::bigint IS NULL OR id < $1::bigint ORDER BY id DESC LIMIT $2",
        id ?? null,
        limit,
      ),
    );
  }

  /** The first lines after an id, oldest first. */
  async after(id: number, limit: number): Promise<readonly { id: number; line: string }[]> {
    return await this.#database.read({}, (sql) =>
      sql.rows("SELECT id, line FROM journal WHERE id > $1 ORDER BY id LIMIT $2", id, limit),
    );
  }
}

async function removeOld(sql: Sql): Promise<void> {
  await sql.run(
    `DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - ${KEPT_ROWS}
       OR at < clock_timestamp() - interval '${KEPT_DAYS} days'`,
  );
}
