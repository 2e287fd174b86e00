// The databases of a store as another program sees them: to look into them, to damage them, to plant something.
import { createRequire } from "node:module";
import { type SqlConnection, sqlite } from "../../src/engine/sqlite/driver.js";
import { isNodeSqliteUsable } from "../../src/engine/sqlite/node-sqlite-driver.js";

export function rawDatabase(file: string): SqlConnection {
  return sqlite.open(file, { readOnly: false, busyMs: 5_000 });
}

/** Runs SQL without SQLite's own protection of the schema. */
export function runUnprotected(file: string, sql: string): void {
  const require = createRequire(import.meta.url);
  if (isNodeSqliteUsable(process.versions.node)) {
    const db = new (require("node:sqlite").DatabaseSync)(file);
    db.enableDefensive?.(false);
    db.exec(sql);
    db.close();
    return;
  }
  const db = new (require("better-sqlite3"))(file);
  db.unsafeMode(true);
  db.exec(sql);
  db.close();
}
