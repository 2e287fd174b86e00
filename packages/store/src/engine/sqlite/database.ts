// Connections to SQLite, the same with either driver. Everything is synchronous, so it runs in workers.
import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf, systemCodeOf, TrunklineError } from "@trunkline/core";
import { type RowShape, type SqlConnection, type SqlStatement, type SqlValue, sqlite } from "./driver.js";

export type { SqlValue } from "./driver.js";

interface OpenDatabaseOptions {
  readonly readOnly?: boolean;
  /** `FULL` if a commit must survive a power loss. */
  readonly synchronous: "FULL" | "NORMAL";
  readonly applicationId: number;
  /** Pages that SQLite keeps in memory. Default 8 MiB; the system caches the file as well. */
  readonly cacheKib?: number;
  /** Throws if the database does not have the expected tables. Runs before any other statement. */
  readonly check: (db: Db, file: string) => void;
}

const PAGE_BYTES = 8192;
const CACHE_KIB = 8 * 1024;
/** Reads wait only while another process recovers after a crash. */
const BUSY_MS = 20_000;
/** Short, so a waiting writer notices an abort; {@link Db.immediate} retries. */
const WRITE_BUSY_MS = 40;
const WRITE_PATIENCE_MS = 60_000;

/** One connection with its prepared statements. */
export class Db {
  readonly #raw: SqlConnection;
  readonly #statements = new Map<string, SqlStatement>();
  readonly #columns = new Map<string, SqlStatement>();

  constructor(raw: SqlConnection) {
    this.#raw = raw;
  }

  get inTransaction(): boolean {
    return this.#raw.inTransaction;
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return translate(() => this.#prepare(sql).get(values) as Row | undefined);
  }

  /** Like {@link get}, for a row that always exists in an intact store. */
  one<Row>(sql: string, ...values: SqlValue[]): Row {
    const row = this.get<Row>(sql, ...values);
    if (row === undefined) throw new TrunklineError("INTERNAL", `No row for: ${sql}`);
    return row;
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return translate(() => this.#prepare(sql).all(values) as Row[]);
  }

  /** Returns the first column of every row. */
  column<Value>(sql: string, ...values: SqlValue[]): Value[] {
    return translate(() => {
      let statement = this.#columns.get(sql);
      if (statement === undefined) {
        statement = this.#raw.prepare(sql, "values");
        this.#columns.set(sql, statement);
      }
      return statement.all(values) as Value[];
    });
  }

  /** Returns every row as an array of columns, which is faster than objects for very many rows. */
  lists<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): Row[] {
    return translate(() => this.#raw.prepare(sql, "lists").all(values) as Row[]);
  }

  /**
   * Yields row by row, so long work can be stopped between rows. The connection must not run statements that write until
   * this ends.
   */
  *iterate<Row>(sql: string, ...values: SqlValue[]): Generator<Row> {
    yield* this.#step<Row>(sql, "objects", values);
  }

  /** Like {@link iterate}, but yields each row as an array of columns, for very many rows. */
  *tuples<Row extends readonly SqlValue[]>(sql: string, ...values: SqlValue[]): Generator<Row> {
    yield* this.#step<Row>(sql, "lists", values);
  }

  *#step<Row>(sql: string, shape: RowShape, values: readonly SqlValue[]): Generator<Row> {
    // Bypass the cache: a statement that is being stepped cannot be used again.
    const statement = translate(() => this.#raw.prepare(sql, shape));
    const rows = statement.iterate(values);
    try {
      while (true) {
        const next = translate(() => rows.next());
        if (next.done) return;
        yield next.value as Row;
      }
    } finally {
      rows.return?.();
    }
  }

  /** Runs a statement that writes. Returns the number of changed rows and the last row id. */
  run(sql: string, ...values: SqlValue[]): { changes: number; id: number } {
    return translate(() => {
      const { changes, lastInsertRowid } = this.#prepare(sql).run(values);
      return { changes, id: lastInsertRowid };
    });
  }

  exec(sql: string): void {
    translate(() => this.#raw.exec(sql));
  }

  pragma<T>(text: string): T {
    return translate(() => this.#raw.pragma(text) as T);
  }

  /** Adds a pure function to SQL. */
  define(name: string, fn: (...values: SqlValue[]) => SqlValue): void {
    this.#raw.define(name, fn);
  }

  /**
   * Runs `work` in a transaction that takes the write lock first, waiting for other processes as long as `check`
   * allows. Rolls back if `work` throws.
   */
  immediate<T>(work: () => T, check: () => void = () => {}): T {
    this.#beginImmediate(check);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // On errors such as a full disk, SQLite rolls back by itself.
      if (this.#raw.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  /** Runs several reads on one consistent state. */
  reading<T>(work: () => T): T {
    if (this.#raw.inTransaction) return work();
    this.exec("BEGIN");
    try {
      return work();
    } finally {
      if (this.#raw.inTransaction) this.exec("COMMIT");
    }
  }

  close(): void {
    this.#statements.clear();
    this.#columns.clear();
    this.#raw.close();
  }

  #beginImmediate(check: () => void): void {
    const patientUntil = Date.now() + WRITE_PATIENCE_MS;
    this.#raw.exec(`PRAGMA busy_timeout = ${WRITE_BUSY_MS}`);
    try {
      while (true) {
        try {
          this.#raw.exec("BEGIN IMMEDIATE");
          return;
        } catch (error) {
          if (!isBusy(error) || Date.now() > patientUntil) throw asTrunklineError(error);
          check();
        }
      }
    } finally {
      this.#raw.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    }
  }

  #prepare(sql: string): SqlStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#raw.prepare(sql, "objects");
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Opens a database file, creating it unless `readOnly`. Rejects links, and a file that belongs to another program or was
 * changed by one.
 */
export function openDatabase(file: string, options: OpenDatabaseOptions): Db {
  rejectLinks(file);
  if (statSync(dirname(file), { throwIfNoEntry: false }) === undefined) {
    throw new TrunklineError("IO", "The store's folder does not exist.");
  }
  try {
    return open(file, file, options);
  } catch (error) {
    const whole = options.readOnly && isCannotOpen(error) ? wholeDatabase(file) : undefined;
    if (whole === undefined) throw error;
    return open(whole, file, options);
  }
}

/** Opens a file, or its bytes in memory. */
function open(source: string | Buffer, file: string, options: OpenDatabaseOptions): Db {
  const { readOnly = false, synchronous, applicationId, check, cacheKib = CACHE_KIB } = options;
  return translate(() => {
    const raw = sqlite.open(source, { readOnly, busyMs: BUSY_MS });
    try {
      const db = new Db(raw);
      const owner = retryWhileBusy(() => db.pragma<number>("application_id"));
      if (owner !== 0 && owner !== applicationId) {
        throw new TrunklineError("INVALID_ARGUMENT", `${file} is a database of another program.`);
      }
      // The schema may not call functions with side effects, and is checked before it is used.
      raw.pragma("trusted_schema = OFF");
      raw.pragma("cell_size_check = ON");
      retryWhileBusy(() => check(db, file));
      raw.pragma(`cache_size = -${cacheKib}`);
      if (!readOnly) {
        // These two pragmas only take effect before the first table is created.
        retryWhileBusy(() => raw.pragma(`page_size = ${PAGE_BYTES}`));
        retryWhileBusy(() => raw.pragma("auto_vacuum = INCREMENTAL"));
        // Switching to WAL ignores the busy timeout, so retry here.
        retryWhileBusy(() => raw.pragma("journal_mode = WAL"));
        raw.pragma(`synchronous = ${synchronous}`);
      }
      return db;
    } catch (error) {
      raw.close();
      throw error;
    }
  });
}

/** More would take too much memory: every thread that reads has its own copy. */
const MOST_COPIED_BYTES = 256 * 1024 * 1024;
/** Two bytes of the header say whether a database has a write-ahead log. */
const LOG_BYTES = { start: 18, end: 20, without: 1 };

/**
 * Reads a database that SQLite cannot open in place: it needs the -wal and -shm files, even to read, and cannot create
 * them in a folder that is not writable. Returns undefined if some data may only be in the log.
 */
function wholeDatabase(file: string): Buffer | undefined {
  try {
    const before = stateOf(file);
    if (before.logBytes > 0 || before.size > MOST_COPIED_BYTES) return undefined;
    const bytes = readFileSync(file);
    // Someone else may be able to write.
    if (!isDeepStrictEqual(stateOf(file), before)) return undefined;
    return bytes.fill(LOG_BYTES.without, LOG_BYTES.start, LOG_BYTES.end);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

function stateOf(file: string): { size: number; mtimeMs: number; logBytes: number } {
  const { size, mtimeMs } = statSync(file);
  return { size, mtimeMs, logBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0 };
}

function isCannotOpen(error: unknown): boolean {
  return error instanceof TrunklineError && String(error.data?.sqlite).startsWith("SQLITE_CANTOPEN");
}

/** Opens an empty database without a file. */
export function openMemoryDatabase(): Db {
  return new Db(sqlite.open(":memory:", { readOnly: false, busyMs: BUSY_MS }));
}

/** SQLite follows links, and would write through one to any file of the user. */
function rejectLinks(file: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) {
    if (lstatSync(file + end, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new TrunklineError("STORE_UNTRUSTED", `${file}${end} is a symbolic link. A store's files are never links.`, {
      hint: "Do not use this store unless you know who made the link. Choose another one with --store.",
    });
  }
}

function retryWhileBusy<T>(work: () => T): T {
  const patientUntil = Date.now() + WRITE_PATIENCE_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (true) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() > patientUntil) throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof TrunklineError ? error.data?.sqlite : sqlite.codeOf(error);
  return typeof code === "string" && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

function translate<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asTrunklineError(error);
  }
}

const MEANINGS: readonly (readonly [RegExp, string, string])[] = [
  [/^SQLITE_FULL/, "The disk that holds the store is full.", "Free some space, then try again: nothing was lost."],
  [/^SQLITE_(READONLY|PERM)/, "The store is not writable.", "Check the write permissions of its folder."],
  [/^SQLITE_CANTOPEN/, "The store's files cannot be opened.", "Check that the folder exists and is writable."],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "The store's database is damaged.",
    "Run trunkline store verify; trunkline store repair rebuilds the indexes.",
  ],
  [/^SQLITE_(BUSY|LOCKED)/, "Another process kept the store busy for too long.", "Try again when it has finished."],
  [/^SQLITE_IOERR/, "The store's files cannot be read or written.", "Check the disk that holds the store."],
];

function asTrunklineError(error: unknown): unknown {
  const code = sqlite.codeOf(error);
  if (code === undefined) return error;
  const meaning = MEANINGS.find(([pattern]) => pattern.test(code));
  const data = { sqlite: code, ...(/CORRUPT|NOTADB/.test(code) ? { damaged: true } : {}) };
  if (meaning === undefined) {
    return new TrunklineError("INTERNAL", `The store's database failed: ${messageOf(error)}`, { cause: error, data });
  }
  return new TrunklineError("IO", `${meaning[1]} (${messageOf(error)})`, {
    cause: error,
    hint: meaning[2],
    retryable: isBusy(error),
    data,
  });
}
