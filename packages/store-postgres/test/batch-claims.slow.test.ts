// Claims of batches while answers of the database get lost.
import type { PGlite } from "@electric-sql/pglite";
import { type BatchKey, type Gateway, silentLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Database, type Driver } from "../src/database/sql.js";
import { PostgresTeam } from "../src/team/pg-team.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

const DAY_MS = 24 * 60 * 60 * 1000;

describe("a claim of a batch", () => {
  let db: PGlite;
  let gateway: Gateway;
  /** The answers to statements with this text get lost: the statement ran, and the connection broke. */
  let lost: RegExp | undefined;
  const key: BatchKey = { principal: "ada", id: "key", batch: "operations" };

  beforeEach(async () => {
    db = await pgliteDatabase();
    lost = undefined;
    const plain = pgliteDriver(db);
    const driver: Driver = {
      ...plain,
      use: (work, signal) =>
        plain.use(
          (connection) =>
            work({
              ...connection,
              async query(text, values, name) {
                const result = await connection.query(text, values, name);
                if (!lost?.test(text)) return result;
                lost = undefined;
                throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
              },
            }),
          signal,
        ),
    };
    gateway = await new PostgresTeam(new Database(driver), silentLogger).join("a");
  });

  afterEach(async () => {
    vi.useRealTimers();
    await gateway.leave();
  });

  const rows = async () => (await db.query("SELECT 1 FROM trunkline.batches")).rows.length;

  it("can be repeated if the answer to it got lost", async () => {
    lost = /INSERT INTO trunkline.batches/;
    await expect(gateway.claimBatch(key, DAY_MS)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await rows()).toBe(1);
    expect(await gateway.claimBatch(key, DAY_MS)).toEqual({ kind: "claimed" });
    expect(await gateway.claimBatch(key, DAY_MS)).toEqual({ kind: "running", batch: key.batch });
  });

  it("is taken back if the answer to it got lost, so that another gateway can run the batch", async () => {
    lost = /INSERT INTO trunkline.batches/;
    await expect(gateway.claimBatch(key, DAY_MS)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect.poll(rows, { timeout: 10_000 }).toBe(0);
  });

  it("is not taken back while the batch runs, though the answer to another claim got lost", async () => {
    expect(await gateway.claimBatch(key, DAY_MS)).toEqual({ kind: "claimed" });
    lost = /INSERT INTO trunkline.batches/;
    await expect(gateway.claimBatch(key, DAY_MS)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await gateway.claimBatch(key, DAY_MS)).toEqual({ kind: "running", batch: key.batch });
    await gateway.endBatch(key, Buffer.from("result"));
    expect(await gateway.claimBatch(key, DAY_MS)).toMatchObject({ kind: "ended" });
  });

  it("is released once: a release whose answer got lost does not end the next claim", async () => {
    await gateway.claimBatch(key, DAY_MS);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    lost = /DELETE FROM trunkline.batches/;
    await gateway.endBatch(key, "released");
    expect(await gateway.claimBatch(key, DAY_MS)).toEqual({ kind: "claimed" });
    // Longer than until the release is tried again.
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(await gateway.claimBatch(key, DAY_MS)).toEqual({ kind: "running", batch: key.batch });
  });
});
