// SQLite through `node:sqlite`, which is part of Node: nothing to install or compile.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RowShape, SqlConnection, SqliteDriver, SqlStatement, SqlValue } from "./driver.js";

/** Older versions lack FTS5, rows as arrays, or whether a transaction is open. */
const FIRST_USABLE = [22, 16];

export function isNodeSqliteUsable(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [firstMajor = 0, firstMinor = 0] = FIRST_USABLE;
  return major > firstMajor || (major === firstMajor && minor >= firstMinor);
}

// The types of our minimum Node version do not have the module. These are the parts that we use.
interface DatabaseSync {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): StatementSync;
  exec(sql: string): void;
  function(name: string, options: { deterministic: boolean }, fn: (...values: SqlValue[]) => SqlValue): void;
  close(): void;
}

interface StatementSync {
  get(...values: readonly SqlValue[]): SqlValue[] | undefined;
  all(...values: readonly SqlValue[]): SqlValue[][];
  iterate(...values: readonly SqlValue[]): Iterator<SqlValue[]>;
  run(...values: readonly SqlValue[]): { changes: number; lastInsertRowid: number };
  columns(): { name: string }[];
  setReturnArrays(enabled: boolean): void;
}

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean; timeout: number }) => DatabaseSync;
}

let loaded: NodeSqlite | undefined;

/** Node 22 warns that the module is experimental. What we use of it is tested on every version that we support. */
function load(): NodeSqlite {
  if (loaded !== undefined) return loaded;
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    loaded = (process.getBuiltinModule as (id: string) => unknown)("node:sqlite") as NodeSqlite;
    return loaded;
  } finally {
    process.emitWarning = emitWarning;
  }
}

export const nodeSqlite: SqliteDriver = {
  open(source, { readOnly, busyMs }) {
    if (typeof source !== "string") return openCopy(source, busyMs);
    return connectionTo(new (load().DatabaseSync)(source, { readOnly, timeout: busyMs }));
  },
  codeOf(error) {
    const { code, errcode } = error as { code?: unknown; errcode?: unknown };
    if (code !== "ERR_SQLITE_ERROR" || typeof errcode !== "number") return undefined;
    return NAMES.get(errcode & 0xff) ?? `SQLITE_${errcode}`;
  },
};

/** Not every version can read a database from memory. */
function openCopy(bytes: Buffer, busyMs: number): SqlConnection {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const file = join(folder, "copy.sqlite");
    writeFileSync(file, bytes, { mode: 0o600 });
    return connectionTo(new (load().DatabaseSync)(file, { readOnly: true, timeout: busyMs }), remove);
  } catch (error) {
    remove();
    throw error;
  } finally {
    // Open files stay readable, so nothing is left even after a crash. Windows does not remove them.
    if (process.platform !== "win32") remove();
  }
}

/** The primary result codes of SQLite. */
const NAMES = new Map(
  Object.entries({
    1: "ERROR",
    3: "PERM",
    5: "BUSY",
    6: "LOCKED",
    7: "NOMEM",
    8: "READONLY",
    9: "INTERRUPT",
    10: "IOERR",
    11: "CORRUPT",
    13: "FULL",
    14: "CANTOPEN",
    17: "SCHEMA",
    18: "TOOBIG",
    19: "CONSTRAINT",
    20: "MISMATCH",
    21: "MISUSE",
    23: "AUTH",
    25: "RANGE",
    26: "NOTADB",
  }).map(([code, name]) => [Number(code), `SQLITE_${name}`]),
);

function connectionTo(db: DatabaseSync, onClosed: () => void = () => {}): SqlConnection {
  return {
    get inTransaction() {
      return db.isTransaction;
    },
    prepare: (sql, shape) => statementOf(db.prepare(sql), shape),
    exec: (sql) => db.exec(sql),
    pragma: (text) => statementOf(db.prepare(`PRAGMA ${text}`), "values").get([]),
    define: (name, fn) => {
      const withBuffers = (...values: SqlValue[]) => fn(...values.map(asBuffer));
      // SQLite checks the number of arguments.
      Object.defineProperty(withBuffers, "length", { value: fn.length });
      db.function(name, { deterministic: true }, withBuffers);
    },
    close: () => {
      if (!db.isOpen) return;
      db.close();
      onClosed();
    },
  };
}

function statementOf(statement: StatementSync, shape: RowShape): SqlStatement {
  // Objects come without a prototype, and are slower.
  statement.setReturnArrays(true);
  const toRow = rowsOf(statement, shape);
  return {
    get: (values) => {
      const row = statement.get(...values);
      return row === undefined ? undefined : toRow(row);
    },
    all: (values) => {
      const rows: unknown[] = statement.all(...values);
      for (let at = 0; at < rows.length; at++) rows[at] = toRow(rows[at] as SqlValue[]);
      return rows;
    },
    iterate: (values) => mapped(statement.iterate(...values), toRow),
    run: (values) => statement.run(...values),
  };
}

function rowsOf(statement: StatementSync, shape: RowShape): (columns: SqlValue[]) => unknown {
  switch (shape) {
    case "values":
      return ([value = null]) => asBuffer(value);
    case "lists":
      return (columns) => {
        for (let at = 0; at < columns.length; at++) columns[at] = asBuffer(columns[at] as SqlValue);
        return columns;
      };
    case "objects": {
      let names: readonly string[] | undefined;
      return (columns) => {
        names ??= statement.columns().map(({ name }) => name);
        const row: Record<string, SqlValue> = {};
        for (let at = 0; at < columns.length; at++) row[names[at] as string] = asBuffer(columns[at] as SqlValue);
        return row;
      };
    }
  }
}

/** Blobs come as plain bytes, without the methods of a Buffer. */
function asBuffer(value: SqlValue): SqlValue {
  if (!(value instanceof Uint8Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function mapped(rows: Iterator<SqlValue[]>, toRow: (columns: SqlValue[]) => unknown): Iterator<unknown> {
  return {
    next: () => {
      const { done, value } = rows.next();
      return done === true ? { done, value: undefined } : { done: false, value: toRow(value) };
    },
    return: () => {
      rows.return?.();
      return { done: true, value: undefined };
    },
  };
}
