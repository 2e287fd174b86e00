// Tells which documents have changed, through whatever gateway. Changes have numbers in the order of commits, so each is
// reported once, and none is missed while the connection is down.
import { type Logger, messageOf } from "@trunkline/core";
import type { Database } from "../database/sql.js";

const READ_AT_ONCE = 1_000;

export class DocumentFeed {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #listeners = new Set<(path: string) => void>();
  /** The number of the last change that was reported; undefined while nothing listens. */
  #seq: number | undefined;
  #reading: Promise<void> | undefined;
  #again = false;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Reports the path of every document that changes after this resolves, until the returned function is called. */
  async follow(listener: (path: string) => void): Promise<() => void> {
    const { seq } = await this.#database.read({}, (sql) =>
      sql.one<{ seq: number }>("SELECT value AS seq FROM facts WHERE key = 'seq'"),
    );
    this.#seq ??= seq;
    const own = (path: string) => listener(path);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#seq = undefined;
    };
  }

  /** Something may have changed. */
  wake(): void {
    if (this.#listeners.size === 0) return;
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#reading;
  }

  /** Never rejects: after a failure the next notice reads everything. */
  async #readAll(): Promise<void> {
    try {
      while (this.#again && this.#listeners.size > 0) {
        this.#again = false;
        while ((await this.#readSome()) === READ_AT_ONCE);
      }
    } catch (error) {
      this.#logger.debug("cannot read which documents have changed", { error: messageOf(error) });
    }
  }

  async #readSome(): Promise<number> {
    const from = this.#seq;
    if (from === undefined) return 0;
    // Results belong to principals, and are not announced to others.
    const rows = await this.#database.read({}, (sql) =>
      sql.rows<{ seq: number; path: string | null }>(
        `SELECT e.seq, d.path FROM entries e LEFT JOIN documents d ON d.id = e.document AND NOT e.results
         WHERE e.seq > $1 ORDER BY e.seq LIMIT ${READ_AT_ONCE}`,
        from,
      ),
    );
    if (this.#seq !== undefined) this.#seq = Math.max(this.#seq, ...rows.map(({ seq }) => seq));
    const paths = new Set(rows.flatMap(({ path }) => (path === null ? [] : [path])));
    for (const path of paths) for (const listener of [...this.#listeners]) this.#tell(listener, path);
    return rows.length;
  }

  #tell(listener: (path: string) => void, path: string): void {
    try {
      listener(path);
    } catch (error) {
      this.#logger.error("a listener for changed documents failed", { error: messageOf(error) });
    }
  }
}
