// Aborts, and databases that are gone, hang, or have no connection left.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, startDeadline } from "@trunkline/core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ConnectionSlots } from "../src/database/connection-slots.js";
import { Database } from "../src/database/sql.js";
import { initPostgresStore, openPgDriver, openPostgresStore } from "../src/index.js";
import { databaseOf, type PostgresCluster, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();

describe.skipIf(binaries === undefined)("calls that cannot go on (needs postgresql)", () => {
  let cluster: PostgresCluster;
  let folder: string;
  let url: string;

  beforeAll(async () => {
    cluster = await startPostgres(binaries as string);
    folder = await mkdtemp(join(tmpdir(), "trunkline-outage-"));
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    url = cluster.createDatabase();
    await initPostgresStore(url);
  });

  const sleeping = () =>
    Number(
      cluster.run("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'"),
    );

  it("stop their statement on the server, and give their connection back", async () => {
    const driver = await openPgDriver({ url, logger: silentLogger, connections: 2 });
    const database = new Database(driver);
    for (let round = 0; round < 3; round++) {
      const stop = new AbortController();
      const calls = [1, 2].map(() =>
        database.read({ signal: stop.signal }, (sql) => sql.rows("SELECT pg_sleep(1000)")),
      );
      await expect.poll(sleeping).toBe(2);
      // A third one waits for a connection, and can be aborted, too.
      const third = database.read({ signal: stop.signal }, (sql) => sql.rows("SELECT 1"));
      stop.abort();
      for (const call of [...calls, third]) await expect(call).rejects.toMatchObject({ code: "ABORTED" });
      await expect.poll(sleeping).toBe(0);
    }
    expect(await database.read({}, (sql) => sql.rows("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
    await driver.close();
  });

  it("end at their deadline while they wait for a lock, and change nothing", async () => {
    await using store = await openPostgresStore({ url, cwd: folder });
    const { Client } = (await import("pg")).default;
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock(1414679298)");
    using deadline = startDeadline({ what: "Adding", timeoutMs: 300 });
    await expect(store.add({ name: "a.txt", content: "late" }, { signal: deadline.signal })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    const waiting = async () =>
      (await holder.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount;
    await expect.poll(waiting).toBe(0);
    await holder.end();
    expect(await store.list({ pathsOnly: true })).toMatchObject({ total: 0 });
    await store.add({ name: "a.txt", content: "in time" });
  });

  it("fail with STORE_UNAVAILABLE when the server hangs, and work again when it goes on", async () => {
    await using store = await openPostgresStore({ url, cwd: folder });
    await store.add({ name: "a.txt", content: "one" });
    await store.indexed();
    cluster.freeze();
    try {
      // More than there are connections.
      const calls = Array.from({ length: 15 }, () => store.list());
      for (const call of await Promise.allSettled([...calls, store.add({ name: "b.txt", content: "two" })])) {
        expect(call).toMatchObject({ status: "rejected", reason: { code: "STORE_UNAVAILABLE", retryable: true } });
      }
      const failure = await store.status().catch((error: unknown) => error);
      expect(failure).toMatchObject({ message: expect.stringContaining("it did not answer") });
    } finally {
      cluster.thaw();
    }
    await expect.poll(() => store.list({ pathsOnly: true }).catch(() => undefined)).toMatchObject({ paths: ["a.txt"] });
    await store.add({ name: "c.txt", content: "three" });
    await store.indexed();
  }, 60_000);

  it("never get a connection whose transaction has not ended", async () => {
    const driver = await openPgDriver({ url, logger: silentLogger, connections: 1 });
    await driver.use((connection) => connection.exec("BEGIN; SELECT 1"));
    const { rows } = await driver.use((connection) =>
      connection.query("SELECT now() = statement_timestamp() AS fresh", []),
    );
    expect(rows).toEqual([{ fresh: true }]);
    await driver.close();
  });

  it("do not fail because a statement takes long", async () => {
    const driver = await openPgDriver({ url, logger: silentLogger });
    const database = new Database(driver);
    expect(await database.read({}, (sql) => sql.rows("SELECT pg_sleep(6), 1 AS one"))).toMatchObject([{ one: 1 }]);
    await driver.close();
  }, 30_000);

  it("close although the server hangs", async () => {
    const store = await openPostgresStore({ url, cwd: folder });
    await store.indexed();
    cluster.freeze();
    try {
      await store.close();
    } finally {
      cluster.thaw();
    }
  }, 60_000);

  it("wait for a connection when the server has few, and say so when it has none", async () => {
    cluster.run("CREATE ROLE few LOGIN CONNECTION LIMIT 3");
    cluster.run(`GRANT ALL ON DATABASE ${databaseOf(url)} TO few`);
    cluster.run(
      "GRANT ALL ON SCHEMA trunkline TO few; GRANT ALL ON ALL TABLES IN SCHEMA trunkline TO few; GRANT ALL ON ALL SEQUENCES IN SCHEMA trunkline TO few",
      databaseOf(url),
    );
    const limited = url.replace("postgres@", "few@");
    await using store = await openPostgresStore({ url: limited, cwd: folder });
    await Promise.all(Array.from({ length: 20 }, (_, n) => store.add({ name: `${n}.txt`, content: `text ${n}` })));
    expect(await store.list({ pathsOnly: true })).toMatchObject({ total: 20 });
    await store.indexed();
    cluster.run("ALTER ROLE few CONNECTION LIMIT 0");
    cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'");
    await expect
      .poll(() => store.list().catch((error: unknown) => error), { timeout: 30_000 })
      .toMatchObject({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("no connection left") });
    cluster.run("ALTER ROLE few CONNECTION LIMIT 10");
    await expect.poll(() => store.list({ pathsOnly: true }).catch(() => undefined)).toMatchObject({ total: 20 });
  }, 60_000);
});

describe("slots for connections", () => {
  it("go to those who wait, in order, and fail for all at once", async () => {
    const slots = new ConnectionSlots(1);
    const back = await slots.take(undefined);
    const order: string[] = [];
    const takeAs = async (name: string) => {
      const give = await slots.take(undefined);
      order.push(name);
      return give;
    };
    const [first, second] = [takeAs("first"), takeAs("second")];
    back();
    back();
    (await first)();
    (await second)();
    expect(order).toEqual(["first", "second"]);
    const held = await slots.take(undefined);
    const waiting = [slots.take(undefined), slots.take(AbortSignal.abort())];
    slots.failAll(new Error("gone"));
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    held();
    (await slots.take(undefined))();
  });
});
