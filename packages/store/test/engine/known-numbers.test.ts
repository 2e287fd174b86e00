import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { knownNumbers } from "../../src/engine/indexing/known-numbers.js";
import { type Db, openDatabase } from "../../src/engine/sqlite/database.js";
import { temporaryFolder } from "../support/temporary.js";

const TEXTS = { table: "keys", column: "key" };
let index: Db;

beforeEach(async () => {
  const file = join(await temporaryFolder(), "index.sqlite");
  index = openDatabase(file, { synchronous: "NORMAL", applicationId: 1, check: () => {} });
  index.exec(`CREATE TABLE keys (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
    CREATE TABLE facts (key TEXT PRIMARY KEY, value); INSERT INTO facts VALUES ('vectors_made', 'first')`);
});
afterEach(() => index.close());

function give(key: string): void {
  const known = knownNumbers(index, TEXTS);
  known.set(key, index.run("INSERT INTO keys (key) VALUES (?)", key).id);
}

describe("numbers cached in memory", () => {
  it("are known in later transactions", () => {
    index.immediate(
      () => give("a"),
      () => {},
    );
    expect(knownNumbers(index, TEXTS).get("a")).toBe(1);
    expect(knownNumbers(index, TEXTS).get("b")).toBeUndefined();
  });

  it("are forgotten when their transaction is rolled back, even if others use them by then", () => {
    give("a");
    const undone = () =>
      index.immediate(
        () => {
          give("b");
          throw new Error("undone");
        },
        () => {},
      );
    expect(undone).toThrow("undone");
    expect(knownNumbers(index, TEXTS).has("b")).toBe(false);
    expect(undone).toThrow("undone");
    index.run("INSERT INTO keys (key) VALUES ('c')");
    expect(knownNumbers(index, TEXTS).has("b")).toBe(false);
  });

  it("are forgotten when the index is rebuilt", () => {
    give("a");
    index.exec("UPDATE facts SET value = 'second'");
    expect(knownNumbers(index, TEXTS).has("a")).toBe(false);
  });
});
