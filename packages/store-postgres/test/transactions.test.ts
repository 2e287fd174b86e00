import { describe, expect, it } from "vitest";
import { Database, type Driver, type DriverConnection } from "../src/database/sql.js";

/** A database that notes what is sent to it. `fails` says which statements fail. */
function databaseWith(fails: (text: string) => boolean): { database: Database; sent: string[] } {
  const sent: string[] = [];
  const answer = async (text: string) => {
    sent.push(text.split(/[ ;]/)[0] ?? "");
    // Answers come later, in order.
    await new Promise((resolve) => setImmediate(resolve));
    if (fails(text)) throw Object.assign(new Error("canceling statement due to user request"), { code: "57014" });
  };
  const connection: DriverConnection = {
    async query(text) {
      await answer(text);
      return { rows: [], count: 1 };
    },
    async exec(text) {
      await answer(text);
      return [];
    },
  };
  const driver: Driver = {
    place: "test",
    connections: () => ({ used: 0, idle: 1, waiting: 0 }),
    use: (work) => work(connection),
    listen: async () => async () => {},
    close: async () => {},
  };
  return { database: new Database(driver), sent };
}

describe("a transaction", () => {
  it("fails if it could not begin, after the statement that was sent along", async () => {
    const { database, sent } = databaseWith((text) => text.startsWith("BEGIN"));
    const writing = database.write({}, async (sql) => {
      await sql.run("INSERT 1");
      await sql.run("UPDATE 2");
    });
    await expect(writing).rejects.toThrow("57014");
    expect(sent).toEqual(["BEGIN", "INSERT", "ROLLBACK"]);
  });

  it("fails if it could not begin, also without any statement", async () => {
    const { database } = databaseWith((text) => text.startsWith("BEGIN"));
    await expect(database.write({}, async () => "done")).rejects.toThrow("57014");
  });

  it("sends nothing after its end, even if a part of the work goes on", async () => {
    const { database, sent } = databaseWith(() => false);
    let rest: Promise<unknown> = Promise.resolve();
    const writing = database.write({}, async (sql) => {
      rest = sql.run("INSERT 1").then(() => sql.run("UPDATE 2"));
      rest.catch(() => {});
      throw new Error("another part failed");
    });
    await expect(writing).rejects.toThrow("another part failed");
    await expect(rest).rejects.toThrow("The transaction has ended.");
    expect(sent).toEqual(["BEGIN", "INSERT", "ROLLBACK"]);
  });
});
