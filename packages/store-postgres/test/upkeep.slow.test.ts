// Maintenance, vectors and background work on PGlite.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { contentIdOf } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeEmbedder } from "../../store/test/support/fake-embedder.js";
import { migrate, SCHEMA_VERSION } from "../src/database/migrate.js";
import { Database, LOCKS } from "../src/database/sql.js";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

describe("upkeep of a store on PostgreSQL", () => {
  let folder: string;
  let db: PGlite;
  let store: PostgresStore;
  const open = () => openPostgresStore({ driver: pgliteDriver(db), cwd: folder, folder: join(folder, ".own") });
  const count = async (table: string) =>
    Number((await db.query<{ n: number }>(`SELECT count(*) AS n FROM trunkline.${table}`)).rows[0]?.n);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trunkline-upkeep-"));
    db = await pgliteDatabase();
    store = await open();
  });

  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("removes in gc what nothing refers to, and keeps what a snapshot shows", async () => {
    await store.add({ content: "in a snapshot", name: "a.txt" });
    await store.snapshot({ label: "kept" });
    await store.add({ content: "only in the trash", name: "b.txt" });
    await store.delete({ names: ["a.txt", "b.txt"] });
    expect(await store.gc()).toMatchObject({ documents: 2, contents: 1, chunks: 1 });
    expect(await store.has(contentIdOf("only in the trash"))).toBe(false);
    expect(await store.list({ snapshot: "kept", pathsOnly: true })).toEqual({ paths: ["a.txt"], total: 1 });
    expect((await store.search({ query: "snapshot", snapshot: "kept", type: "keyword" })).total).toBe(1);
    await expect(store.undelete({ name: "a.txt" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("finds a damaged chunk, and never returns its bytes", async () => {
    await store.add({ content: "whole and healthy", name: "a.txt" });
    await db.exec("UPDATE trunkline.chunks SET data = 'other bytes', codec = 0");
    await expect(store.get({ path: "a.txt", includeContent: true })).rejects.toMatchObject({
      code: "IO",
      data: { damaged: true },
    });
    const { ok, problems } = await store.verify();
    expect([ok, problems.map(({ kind }) => kind)]).toEqual([false, ["chunk", "content"]]);
  });

  it("answers the same after its postings were merged and its index was built again", async () => {
    for (let n = 0; n < 520; n++) await store.put(new TextEncoder().encode(`filler ${n}`));
    for (let n = 0; n < 12; n++)
      await store.add({ content: `pelican ${"heron ".repeat(n)}\n`, name: `bird-${n}.md`, tags: ["bird"] });
    const ask = async () =>
      (await store.search({ query: "heron pelican", type: "keyword", limit: 20 })).results.map(({ path, score }) => [
        path,
        score,
      ]);
    const before = await ask();
    // As if more had been waiting.
    await db.exec(
      "INSERT INTO trunkline.keyword_recent SELECT 100000 + n, 0, 1, '{filler}', '{5}' FROM generate_series(1, 600) n",
    );
    await store.indexed();
    await store.update({ name: "bird-0.md", tags: ["small"] });
    await store.indexed();
    expect(await count("keyword_blocks")).toBeGreaterThan(0);
    expect((await ask()).map(([path]) => path)).toEqual(before.map(([path]) => path));
    await store.repair();
    await store.indexed();
    expect(await ask()).toEqual(before);
    expect(await store.grep({ pattern: "heron heron heron$", count: true })).toMatchObject({ total: 0 });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it.each([true, false])("finds documents by meaning (with pgvector: %s)", async (hasPgvector) => {
    store.usePgvector(hasPgvector);
    await store.add({ content: "a sentence about the ocean and its waves", name: "sea.md" });
    await store.add({ content: "notes on baking bread at home", name: "bread.md" });
    const embedder = new FakeEmbedder();
    store.useEmbedder(embedder);
    await store.indexed();
    const found = await store.search({ query: "a sentence about the ocean and its waves", type: "semantic" });
    expect([found.type, found.results[0]?.path, found.notice]).toEqual(["semantic", "sea.md", undefined]);
    expect(await store.search({ query: "bread", type: "hybrid" })).toMatchObject({ type: "hybrid" });
    expect(await store.status()).toMatchObject({ embeddings: { embedded: 2, total: 2 } });
  });

  it("leaves the work of a gateway that died to another one", async () => {
    await store.close();
    const dying = await open();
    await dying.add({ content: "export function orphan() {}\n", name: "a.ts" });
    await dying.close();
    await db.exec(
      "TRUNCATE trunkline.texts; DELETE FROM trunkline.graph_files; INSERT INTO trunkline.jobs (entry) SELECT id FROM trunkline.entries",
    );
    store = await open();
    await store.indexed();
    expect([await count("jobs"), await count("texts"), await count("graph_symbols")]).toEqual([0, 1, 1]);
  });

  it("migrates once, in a transaction, and refuses a newer schema", async () => {
    const database = new Database(pgliteDriver(db));
    expect(await migrate(database)).toBe(SCHEMA_VERSION);
    await db.exec(`UPDATE trunkline.schema_version SET version = ${SCHEMA_VERSION + 1}`);
    await expect(migrate(database)).rejects.toThrow(/knows versions up to/);
    await expect(open()).rejects.toMatchObject({ code: "IO" });
    expect(new Set(Object.values(LOCKS)).size).toBe(Object.keys(LOCKS).length);
    await db.exec(`UPDATE trunkline.schema_version SET version = ${SCHEMA_VERSION}`);
  });
});
