// SQLite through better-sqlite3, a native module. It is loaded on first use: where it was neither built nor found
// prebuilt, everything but the store works.
import { createRequire } from "node:module";
import { TrunklineError } from "@trunkline/core";
import type BetterSqlite from "better-sqlite3";
import type { RowShape, SqlConnection, SqliteDriver, SqlStatement, SqlValue } from "./driver.js";

let loaded: typeof BetterSqlite | undefined;

function load(): typeof BetterSqlite {
  try {
    loaded ??= createRequire(import.meta.url)("better-sqlite3") as typeof BetterSqlite;
    return loaded;
  } catch (error) {
    throw notBuilt(error);
  }
}

function notBuilt(cause: unknown): TrunklineError {
  return new TrunklineError(
    "IO",
    `The store cannot be used with Node ${process.versions.node}: its database driver is not built.`,
    {
      cause,
      hint: "Use Node 22.16 or newer, which needs no driver, or install Trunkline again with --foreground-scripts: npm then says why the driver could be neither downloaded nor compiled.",
    },
  );
}

/** The native part is looked for only when the first database is opened. */
function isNotBuilt(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (
    code === "ERR_DLOPEN_FAILED" || code === "MODULE_NOT_FOUND" || /^Could not locate the bindings file/.test(message)
  );
}

export const betterSqlite: SqliteDriver = {
  open(source, { readOnly, busyMs }) {
    const Database = load();
    try {
      return connectionTo(new Database(source, { readonly: readOnly, fileMustExist: readOnly, timeout: busyMs }));
    } catch (error) {
      throw isNotBuilt(error) ? notBuilt(error) : error;
    }
  },
  codeOf: (error) => (loaded !== undefined && error instanceof loaded.SqliteError ? error.code : undefined),
};

function connectionTo(db: BetterSqlite.Database): SqlConnection {
  return {
    get inTransaction() {
      return db.inTransaction;
    },
    prepare: (sql, shape) => statementOf(db.prepare<SqlValue[]>(sql), shape),
    exec: (sql) => void db.exec(sql),
    pragma: (text) => db.pragma(text, { simple: true }),
    define: (name, fn) =>
      void db.function(name, { deterministic: true, varargs: false }, fn as (...values: unknown[]) => unknown),
    close: () => void db.close(),
  };
}

function statementOf(statement: BetterSqlite.Statement<SqlValue[]>, shape: RowShape): SqlStatement {
  if (shape === "lists") statement.raw();
  else if (shape === "values") statement.pluck();
  return {
    get: (values) => statement.get(...values),
    all: (values) => statement.all(...values),
    iterate: (values) => statement.iterate(...values),
    run: (values) => {
      const { changes, lastInsertRowid } = statement.run(...values);
      return { changes, lastInsertRowid: Number(lastInsertRowid) };
    },
  };
}
