// The queue of background work: failures, pauses, what is set aside, and gateways that die.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { PGlite } from "@electric-sql/pglite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { initPostgresStore, openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";
import { databaseOf, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();
const GATEWAY = fileURLToPath(new URL("support/gateway-process.mjs", import.meta.url));

describe("background work", () => {
  let folder: string;
  let db: PGlite;
  let store: PostgresStore;
  const open = () => openPostgresStore({ driver: pgliteDriver(db), cwd: folder, folder: join(folder, ".own") });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trunkline-work-"));
    db = await pgliteDatabase();
    store = await open();
  });

  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const jobs = async () =>
    (
      await db.query<{ attempts: number; problem: string; isSetAside: boolean; waits: boolean }>(
        `SELECT attempts, problem, due = 'infinity' AS "isSetAside", due > clock_timestamp() AND due < 'infinity' AS waits
         FROM trunkline.jobs ORDER BY id`,
      )
    ).rows;
  const makeDue = () => db.exec("UPDATE trunkline.jobs SET due = clock_timestamp() WHERE due < 'infinity'");
  const poison = () =>
    db.exec(`CREATE FUNCTION trunkline.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.body LIKE '%poison%' THEN RAISE EXCEPTION 'no poison'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON trunkline.texts FOR EACH ROW EXECUTE FUNCTION trunkline.refuse()`);
  const cure = () => db.exec("DROP TRIGGER refuse ON trunkline.texts");

  it("indexes everything else at once, and tries a document that fails again later", async () => {
    await poison();
    await store.add({ name: "good.ts", content: "export function good() {}\n" });
    await store.add({ name: "bad.ts", content: "export function poison() {}\n" });
    await store.add({ name: "better.ts", content: "export function better() {}\n" });
    await store.indexed();
    expect(await jobs()).toEqual([
      { attempts: 1, problem: expect.stringContaining("no poison"), isSetAside: false, waits: true },
    ]);
    expect((await store.graph({ listTypes: true })) as unknown).toMatchObject({
      types: expect.arrayContaining([{ type: "function", count: 2 }]),
    });
    expect(await store.status({ detailed: true })).not.toHaveProperty("notIndexed");
    await cure();
    await makeDue();
    await store.indexed();
    expect(await jobs()).toEqual([]);
  });

  it("sets a document aside that keeps failing, reports it, and tries it again after repair", async () => {
    await poison();
    await store.add({ name: "bad.ts", content: "export function poison() {}\n" });
    for (let attempt = 1; attempt <= 5; attempt++) {
      await store.indexed();
      expect(await jobs()).toMatchObject([{ attempts: attempt, isSetAside: attempt === 5 }]);
      await makeDue();
    }
    expect(await store.status({ detailed: true })).toMatchObject({
      notIndexed: { documents: 1, problems: [{ path: "bad.ts", problem: expect.stringContaining("no poison") }] },
      index: { text: { pending: 0 } },
    });
    // Still found by its words and by pattern.
    expect(await store.search({ query: "poison", type: "keyword" })).toMatchObject({ total: 1 });
    expect(await store.grep({ pattern: "poison", count: true })).toMatchObject({ total: 1 });
    await cure();
    await store.repair();
    await store.indexed();
    expect([await jobs(), await store.status()]).toEqual([
      [],
      expect.not.objectContaining({ notIndexed: expect.anything() }),
    ]);
  });

  it("sets a damaged document aside at once, and repair builds the index of the others", async () => {
    await store.add({ name: "a.ts", content: "export function damaged() {}\n" });
    await store.add({ name: "b.ts", content: "export function healthy() {}\n" });
    await store.indexed();
    await db.exec(`UPDATE trunkline.chunks SET data = 'other bytes', codec = 0 WHERE id = (
      SELECT min(chunk) FROM trunkline.content_chunks)`);
    await store.repair();
    await store.indexed();
    expect(await store.status()).toMatchObject({ notIndexed: { documents: 1, problems: [{ path: "a.ts" }] } });
    expect((await store.search({ query: "healthy", type: "keyword" })).results[0]?.path).toBe("b.ts");
    expect(await store.verify()).toMatchObject({ ok: false, problems: [{ kind: "chunk" }, { kind: "content" }] });
  });

  it("goes on with postings while the graph fails", async () => {
    await db.exec("ALTER TABLE trunkline.graph_edges RENAME TO graph_edges_away");
    await store.add({ name: "a.md", content: "[b](b.md)\n" });
    await db.exec(
      "INSERT INTO trunkline.keyword_recent (entry, data) SELECT 100000 + n, '' FROM generate_series(1, 600) n",
    );
    await store.add({ name: "b.md", content: "heron\n" });
    await expect
      .poll(async () => (await db.query("SELECT 1 FROM trunkline.keyword_blocks LIMIT 1")).rows.length, {
        timeout: 10_000,
      })
      .toBe(1);
    await db.exec("ALTER TABLE trunkline.graph_edges_away RENAME TO graph_edges");
  });
});

describe.skipIf(binaries === undefined)("background work of a gateway that is killed (needs postgresql)", () => {
  it("is taken by another gateway", async () => {
    await using cluster = await startPostgres(binaries as string);
    const folder = await mkdtemp(join(tmpdir(), "trunkline-killed-"));
    const url = cluster.createDatabase();
    await initPostgresStore(url);
    const run = (sql: string) => cluster.run(sql, databaseOf(url));
    // Work waits for a lock that the test holds, so the gateway is killed in the middle of it.
    run(`CREATE FUNCTION trunkline.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END $$;
      CREATE TRIGGER wait BEFORE INSERT ON trunkline.texts FOR EACH ROW EXECUTE FUNCTION trunkline.wait();`);
    const { Client } = (await import("pg")).default;
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock(4711)");
    const gateway = spawn(process.execPath, [GATEWAY, url, folder, "dying", "3"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: gateway.stdout })) {
      lines.push(line);
      if (line === "dying2.ts") break;
    }
    const isWorking = async () =>
      (await holder.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"))
        .rowCount;
    await expect.poll(isWorking, { timeout: 20_000 }).toBe(1);
    await using store = await openPostgresStore({ url, cwd: folder });
    const ended = new Promise((resolve) => gateway.once("exit", resolve));
    gateway.kill("SIGKILL");
    await ended;
    await holder.query("SELECT pg_advisory_unlock(4711)");
    await holder.end();
    await expect.poll(() => Number(run("SELECT count(*) FROM trunkline.texts")), { timeout: 20_000 }).toBe(3);
    expect(await store.list({ pathsOnly: true })).toMatchObject({ total: 3 });
    expect(await store.verify()).toMatchObject({ ok: true });
    await rm(folder, { recursive: true, force: true });
  });
});

describe.skipIf(binaries === undefined)("background work of several gateways (needs postgresql)", () => {
  it("leaves the graph of a newer version alone when an older one is analysed late", async () => {
    await using cluster = await startPostgres(binaries as string);
    const folder = await mkdtemp(join(tmpdir(), "trunkline-late-"));
    const url = cluster.createDatabase();
    await initPostgresStore(url);
    const run = (sql: string) => cluster.run(sql, databaseOf(url)).trim();
    run(`CREATE FUNCTION trunkline.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.body LIKE '%older%' THEN PERFORM pg_advisory_xact_lock_shared(4711); END IF; RETURN NEW; END $$;
      CREATE TRIGGER wait BEFORE INSERT ON trunkline.texts FOR EACH ROW EXECUTE FUNCTION trunkline.wait();`);
    const { Client } = (await import("pg")).default;
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("SELECT pg_advisory_lock(4711)");
    await using store = await openPostgresStore({ url, cwd: folder });
    await store.add({ name: "a.ts", content: "export function older() {}\n" });
    const isWaiting = async () =>
      (await holder.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"))
        .rowCount;
    await expect.poll(isWaiting, { timeout: 20_000 }).toBe(1);
    await using other = await openPostgresStore({ url, cwd: folder });
    await other.add({ name: "a.ts", content: "export function newer() {}\n" });
    const symbols = () => run("SELECT name FROM trunkline.graph_symbols");
    await expect.poll(symbols, { timeout: 20_000 }).toBe("newer");
    await holder.query("SELECT pg_advisory_unlock(4711)");
    await holder.end();
    await store.indexed();
    expect(symbols()).toBe("newer");
    await rm(folder, { recursive: true, force: true });
  });
});
