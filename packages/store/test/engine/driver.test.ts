// The parts of SQLite that the store relies on, with the driver of the running Node version. `npm run test:node -- 24`
// runs them with the other one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type SqlConnection, sqlite } from "../../src/engine/sqlite/driver.js";
import { isNodeSqliteUsable } from "../../src/engine/sqlite/node-sqlite-driver.js";

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-driver-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function opened(source: string | Buffer = ":memory:", readOnly = false): SqlConnection {
  const db = sqlite.open(source, { readOnly, busyMs: 0 });
  onTestFinished(() => db.close());
  return db;
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return sqlite.codeOf(error);
  }
  throw new Error("It did not fail.");
}

describe("the SQLite driver", () => {
  it.each([
    ["20.19.0", false],
    ["22.15.1", false],
    ["22.16.0", true],
    ["23.0.0", true],
    ["24.21.0", true],
  ])("is Node's own on Node %s: %s", (version, isOwn) => {
    expect(isNodeSqliteUsable(version)).toBe(isOwn);
  });

  it("returns rows as objects, arrays and single values, and blobs as Buffers", () => {
    const db = opened();
    db.exec("CREATE TABLE t (n INTEGER, s TEXT, b BLOB)");
    const insert = db.prepare("INSERT INTO t VALUES (?, ?, ?)", "objects");
    expect(insert.run([7, "seven", Buffer.from("b7")])).toEqual({ changes: 1, lastInsertRowid: 1 });
    insert.run([8, null, new Uint8Array([1, 2])]);
    const sql = "SELECT n, s, b FROM t ORDER BY n";
    const objects = db.prepare(sql, "objects").all([]) as { b: Buffer }[];
    expect(objects).toStrictEqual([
      { n: 7, s: "seven", b: Buffer.from("b7") },
      { n: 8, s: null, b: Buffer.from([1, 2]) },
    ]);
    expect(objects[0]?.b.toString("utf8")).toBe("b7");
    expect(db.prepare(sql, "lists").all([])).toStrictEqual([
      [7, "seven", Buffer.from("b7")],
      [8, null, Buffer.from([1, 2])],
    ]);
    expect(db.prepare("SELECT b FROM t WHERE n = ?", "values").all([8])).toStrictEqual([Buffer.from([1, 2])]);
    expect(db.prepare("SELECT n FROM t WHERE n > ?", "objects").get([99])).toBe(undefined);
  });

  it("steps through rows, and lets go of the statement when the loop ends early", () => {
    const db = opened();
    db.exec("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3)");
    const rows = db.prepare("SELECT n FROM t", "lists").iterate([]);
    expect(rows.next().value).toEqual([1]);
    rows.return?.();
    db.exec("DROP TABLE t");
  });

  it("says whether a transaction is open", () => {
    const db = opened();
    expect(db.inTransaction).toBe(false);
    db.exec("BEGIN");
    expect(db.inTransaction).toBe(true);
    db.exec("ROLLBACK");
    expect(db.inTransaction).toBe(false);
  });

  it("answers pragmas that have an answer", () => {
    const db = opened();
    expect(db.pragma("user_version = 5")).toBe(undefined);
    expect(db.pragma("user_version")).toBe(5);
  });

  it("calls our functions, with blobs as Buffers", () => {
    const db = opened();
    db.define("as_hex", (value) => (Buffer.isBuffer(value) ? value.toString("hex") : null));
    expect(db.prepare("SELECT as_hex(?)", "values").get([new Uint8Array([255])])).toBe("ff");
  });

  it("has full-text search", () => {
    const db = opened();
    db.exec("CREATE VIRTUAL TABLE f USING fts5(t, content='', contentless_delete=1)");
    db.exec("INSERT INTO f (rowid, t) VALUES (1, 'a walrus')");
    expect(db.prepare("SELECT rowid FROM f WHERE f MATCH ?", "values").all(["walrus"])).toEqual([1]);
  });

  it("names errors as SQLite does", () => {
    const folder = folderForTest();
    const file = join(folder, "a.sqlite");
    const [first, second] = [opened(file), opened(file)];
    first.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
    first.exec("BEGIN IMMEDIATE");
    expect(codeOf(() => second.exec("BEGIN IMMEDIATE"))).toBe("SQLITE_BUSY");
    first.exec("INSERT INTO t VALUES (1)");
    expect(codeOf(() => first.exec("INSERT INTO t VALUES (1)"))).toMatch(/^SQLITE_CONSTRAINT/);
    expect(codeOf(() => opened(join(folder, "missing.sqlite"), true))).toMatch(/^SQLITE_CANTOPEN/);
    writeFileSync(join(folder, "text"), "not a database, but long enough to have a header".repeat(99));
    expect(codeOf(() => opened(join(folder, "text")).pragma("user_version"))).toBe("SQLITE_NOTADB");
    expect(sqlite.codeOf(new TypeError("not SQLite's"))).toBe(undefined);
  });

  it("reads a database from memory, and cannot write to it", () => {
    const file = join(folderForTest(), "a.sqlite");
    const db = opened(file);
    db.exec("CREATE TABLE t (n); INSERT INTO t VALUES (1)");
    const copy = opened(readFileSync(file), true);
    expect(copy.prepare("SELECT n FROM t", "values").all([])).toEqual([1]);
    expect(codeOf(() => copy.exec("INSERT INTO t VALUES (2)"))).toMatch(/^SQLITE_READONLY/);
  });

  it("can be closed twice", () => {
    const db = opened();
    db.close();
    db.close();
  });
});
