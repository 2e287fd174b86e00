// The two ways to SQLite: the one that is part of Node, and better-sqlite3 for Node versions that have none, or an
// unfinished one. Only the files of this folder import them. Both are synchronous, so they run in threads.
import { betterSqlite } from "./better-sqlite-driver.js";
import { isNodeSqliteUsable, nodeSqlite } from "./node-sqlite-driver.js";

/** Values that can be bound to a statement. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** How a statement returns its rows: as objects by column name, as arrays of columns, or only the first column. */
export type RowShape = "objects" | "lists" | "values";

export interface SqlStatement {
  get(values: readonly SqlValue[]): unknown;
  all(values: readonly SqlValue[]): unknown[];
  iterate(values: readonly SqlValue[]): Iterator<unknown>;
  run(values: readonly SqlValue[]): { changes: number; lastInsertRowid: number };
}

export interface SqlConnection {
  readonly inTransaction: boolean;
  prepare(sql: string, shape: RowShape): SqlStatement;
  exec(sql: string): void;
  /** Returns the first value that a pragma answers with; undefined if it has no answer. */
  pragma(text: string): unknown;
  /** Adds a deterministic function to SQL. */
  define(name: string, fn: (...values: SqlValue[]) => SqlValue): void;
  /** Does nothing if it is closed. */
  close(): void;
}

export interface SqliteDriver {
  /** Opens a file, or the bytes of one to read. A missing file is created unless `readOnly`. */
  open(source: string | Buffer, options: { readonly readOnly: boolean; readonly busyMs: number }): SqlConnection;
  /** SQLite's name of an error, such as `SQLITE_BUSY`; undefined if it does not come from SQLite. */
  codeOf(error: unknown): string | undefined;
}

export const sqlite: SqliteDriver = isNodeSqliteUsable(process.versions.node) ? nodeSqlite : betterSqlite;

/** Throws what every store would throw if SQLite cannot be loaded. Opens no file. */
export function requireDriver(): void {
  sqlite.open(":memory:", { readOnly: false, busyMs: 0 }).close();
}
