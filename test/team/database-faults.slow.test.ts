// A store while its database fails: everything acknowledged stays, everything else fails as STORE_UNAVAILABLE.
import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isTrunklineError, parseContentId, silentLogger } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openPgDriver } from "../../packages/store-postgres/src/database/pg-driver.js";
import { LOCKS } from "../../packages/store-postgres/src/database/sql.js";
import { initPostgresStore, openPostgresStore, type PostgresStore } from "../../packages/store-postgres/src/index.js";
import { type PostgresCluster, startPostgres } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { needs } from "../support/needs.js";
import { binaries, hasPostgres, needsPostgres } from "./team.js";

const WRITERS = 4;
const NOBODY = 65534;
const canMount =
  process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "x", "/mnt"]).status === 0;

/** Writers that add documents until they are stopped, and remember what was acknowledged. */
function startWriters(stores: readonly PostgresStore[]) {
  const acknowledged = new Map<string, string>();
  const failures: unknown[] = [];
  let isDone = false;
  const write = async (store: PostgresStore, writer: number) => {
    for (let at = 0; !isDone; at += 1) {
      const name = `w${writer}-${at}.md`;
      const content = `${name} `.repeat(200);
      try {
        await store.add({ content, name });
        acknowledged.set(name, content);
      } catch (error) {
        failures.push(error);
        await delay(20);
      }
    }
  };
  const working = Array.from({ length: WRITERS }, (_, at) => write(stores[at % stores.length] as PostgresStore, at));
  return {
    acknowledged,
    failures,
    /** Waits for this many more documents. */
    more: async (count: number) => {
      const before = acknowledged.size;
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + count);
    },
    stop: async () => {
      isDone = true;
      await Promise.all(working);
    },
  };
}

/** Everything acknowledged is there, and the store is in order. */
async function expectAll(store: PostgresStore, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, content] of acknowledged) {
    const { hash } = await store.get({ path: name });
    expect(new TextDecoder().decode(await store.bytes(parseContentId(hash)))).toBe(content);
  }
  await store.indexed();
  expect(await store.verify()).toMatchObject({ ok: true });
}

describe.skipIf(!hasPostgres)(`a store whose database fails${needsPostgres}`, () => {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await startPostgres(binaries ?? "");
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  async function openTwo(url: string): Promise<[PostgresStore, PostgresStore]> {
    await initPostgresStore(url);
    const stores = await Promise.all([openPostgresStore({ url }), openPostgresStore({ url })]);
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()));
    });
    return stores;
  }

  const unavailable = (error: unknown) => isTrunklineError(error, "STORE_UNAVAILABLE") && error.retryable;

  it("stores nothing of an add whose backend is killed in the middle, and takes it again", async () => {
    const url = cluster.createDatabase();
    const [store] = await openTwo(url);
    const driver = await openPgDriver({ url, logger: silentLogger });
    onTestFinished(() => driver.close());
    await driver.use(async (connection) => {
      // Changes take their numbers under this lock, so the add waits in the middle of its transaction.
      await connection.query("SELECT pg_advisory_lock($1)", [LOCKS.history]);
      const adding = store.add({ content: "in the middle", name: "a.md" }).catch((error: unknown) => error);
      const waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      await expect.poll(async () => (await connection.query(waiting, [])).rows.length).toBe(1);
      await connection.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) w`, []);
      expect(unavailable(await adding)).toBe(true);
      await connection.query("SELECT pg_advisory_unlock($1)", [LOCKS.history]);
    });
    expect((await store.list({ pathsOnly: true })).total).toBe(0);
    await store.add({ content: "in the middle", name: "a.md" });
    await expectAll(store, new Map([["a.md", "in the middle"]]));
  });

  it("keeps what it acknowledged while backends are killed", async () => {
    const [one, two] = await openTwo(cluster.createDatabase());
    const writers = startWriters([one, two]);
    for (let round = 0; round < 8; round += 1) {
      await writers.more(10);
      cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trunkline'");
    }
    await writers.more(10);
    await writers.stop();
    expect(writers.failures.filter((error) => !unavailable(error))).toEqual([]);
    await expectAll(two, writers.acknowledged);
  });

  it.each(["fast", "immediate"] as const)("keeps what it acknowledged when the server restarts (%s)", async (mode) => {
    const [one, two] = await openTwo(cluster.createDatabase());
    const writers = startWriters([one, two]);
    for (let round = 0; round < 3; round += 1) {
      await writers.more(10);
      cluster.stop(mode);
      const before = writers.failures.length;
      await expect.poll(() => writers.failures.length).toBeGreaterThan(before);
      cluster.start();
    }
    await writers.more(10);
    await writers.stop();
    expect(writers.failures.filter((error) => !unavailable(error))).toEqual([]);
    await expectAll(two, writers.acknowledged);
  });

  it.skipIf(!canMount)(
    `names a full disk, keeps what it acknowledged, and goes on when there is room${needs("root, to mount a small disk", canMount)}`,
    async () => {
      const folder = mkdtempSync("/tmp/trunkline-disk-");
      const mount = (options: string) => {
        const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "none", folder]);
        if (status !== 0) throw new Error(String(stderr));
      };
      mount("size=48m");
      onTestFinished(async () => {
        // Closed first: stores are closed after this.
        cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'on_a_small_disk'");
        cluster.run("DROP DATABASE IF EXISTS on_a_small_disk WITH (FORCE)");
        cluster.run("DROP TABLESPACE small");
        spawnSync("umount", ["-l", folder]);
        rmSync(folder, { recursive: true, force: true });
      });
      chownSync(folder, NOBODY, NOBODY);
      cluster.run(`CREATE TABLESPACE small LOCATION '${folder}'`);
      cluster.run("CREATE DATABASE on_a_small_disk TABLESPACE small");
      const url = cluster.createDatabase().replace(/[^/]+$/, "on_a_small_disk");
      await initPostgresStore(url);
      await using store = await openPostgresStore({ url });
      const acknowledged = new Map<string, string>();
      const add = async (at: number) => {
        const [name, content] = [`d${at}.txt`, randomText(at)];
        await store.add({ content, name });
        acknowledged.set(name, content);
      };
      let failure: unknown;
      for (let at = 0; failure === undefined; at += 1) failure = await add(at).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "IO", message: expect.stringContaining("disk") });
      expect(acknowledged.size).toBeGreaterThan(0);
      // Reading still works.
      expect((await store.list({ pathsOnly: true })).total).toBe(acknowledged.size);
      mount("remount,size=512m");
      await add(100_000);
      await expectAll(store, acknowledged);
    },
  );
});

/** Text that does not compress, the same for each number. */
function randomText(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: 40_000 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state.toString(36);
  }).join(" ");
}
