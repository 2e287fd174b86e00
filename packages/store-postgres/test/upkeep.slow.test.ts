// Maintenance, vectors and background work on PGlite.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { contentIdOf } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { randomNumbers } from "../../../bench/store/corpus.js";
import { FakeEmbedder } from "../../store/test/support/fake-embedder.js";
import { migrate, SCHEMA_VERSION } from "../src/database/migrate.js";
import { Database, type Driver, LOCKS } from "../src/database/sql.js";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { mergeWords, removeDeadPostings } from "../src/indexing/merge-words.js";
import { EntryTable } from "../src/search/entry-cache.js";
import { PassageVectors } from "../src/search/passage-vectors.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

describe("upkeep of a store on PostgreSQL", () => {
  let folder: string;
  let db: PGlite;
  let store: PostgresStore;
  let driver: Driver;
  const open = () => openPostgresStore({ driver, cwd: folder, folder: join(folder, ".own") });
  const count = async (table: string) =>
    Number((await db.query<{ n: number }>(`SELECT count(*) AS n FROM trunkline.${table}`)).rows[0]?.n);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trunkline-upkeep-"));
    db = await pgliteDatabase();
    driver = pgliteDriver(db);
    store = await open();
  });

  afterEach(async () => {
    await store.close();
    await db.exec("RESET ALL");
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
    // PGlite has one connection: background work that fails would take the damage back.
    await store.indexed();
    await db.exec("UPDATE trunkline.chunks SET data = 'other bytes', codec = 0");
    await expect(store.get({ path: "a.txt", includeContent: true })).rejects.toMatchObject({
      code: "IO",
      data: { damaged: true },
    });
    const { ok, problems } = await store.verify();
    expect([ok, problems.map(({ kind }) => kind)]).toEqual([false, ["chunk", "content"]]);
  });

  it("answers the same after its postings were merged and its index was built again", async () => {
    for (let n = 0; n < 12; n++)
      await store.add({ content: `pelican ${"heron ".repeat(n)}\n`, name: `bird-${n}.md`, tags: ["bird"] });
    const ask = async () =>
      (await store.search({ query: "heron pelican", type: "keyword", limit: 20 })).results.map(({ path, score }) => [
        path,
        score,
      ]);
    const before = await ask();
    const database = new Database(driver);
    expect(await database.write({}, (sql) => mergeWords(sql, 1))).toBe(12);
    // A gateway that knows the words, and one that reads them from blocks.
    expect(await ask()).toEqual(before);
    await store.close();
    store = await open();
    expect(await ask()).toEqual(before);
    await store.update({ name: "bird-0.md", tags: ["small"] });
    await store.indexed();
    expect(await count("keyword_blocks")).toBeGreaterThan(0);
    expect((await ask()).map(([path]) => path)).toEqual(before.map(([path]) => path));
    const updated = await ask();
    await store.repair();
    await store.indexed();
    expect(await ask()).toEqual(updated);
    expect(await store.grep({ pattern: "heron heron heron$", count: true })).toMatchObject({ total: 0 });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("removes the postings of documents that are gone in gc, and finds the others as before", async () => {
    for (let n = 0; n < 8; n++) await store.add({ content: `pelican number${n} heron\n`, name: `bird-${n}.md` });
    await store.indexed();
    const database = new Database(driver);
    await database.write({}, (sql) => mergeWords(sql, 1));
    const postings = async () =>
      Number(
        (await db.query<{ n: number }>("SELECT sum(length(data)) / 8 AS n FROM trunkline.keyword_blocks")).rows[0]?.n,
      );
    const before = await postings();
    await store.delete({ names: ["bird-1.md", "bird-2.md"] });
    await store.indexed();
    await store.gc();
    const after = await postings();
    expect([after < before, (before * 6) / 8]).toEqual([true, after]);
    expect(await count("keyword_blocks WHERE term = 'number1'")).toBe(0);
    expect(await database.write({}, removeDeadPostings)).toBe(0);
    for (const gateway of [store, await open()]) {
      expect(await gateway.search({ query: "heron", type: "keyword" })).toMatchObject({ total: 6 });
      expect(await gateway.search({ query: "number1", type: "keyword", fuzzy: false })).toMatchObject({ total: 0 });
      if (gateway !== store) await gateway.close();
    }
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

  it("finds at least .98 of the nearest ten with the HNSW index of pgvector", async () => {
    store.usePgvector(true);
    const embedder = new FakeEmbedder();
    const random = randomNumbers(5);
    const word = () =>
      `w${[...String(Math.floor(random() * 400))].map((digit) => "abcdefghij"[Number(digit)]).join("")}`;
    const texts = Array.from({ length: 1100 }, () => Array.from({ length: 12 }, word).join(" "));
    await mkdir(join(folder, "texts"));
    for (const [n, text] of texts.entries()) await writeFile(join(folder, "texts", `${n}`), text);
    await store.add({ path: "texts" });
    store.useEmbedder(embedder);
    await store.indexed();
    // A small table would be read and sorted as a whole.
    await db.exec("SET enable_seqscan = off; SET enable_sort = off");
    const plan = await db.query(
      `EXPLAIN SELECT id FROM trunkline.vectors v WHERE embedder = 1 ORDER BY v.half::halfvec(64) <=> '[${Array(64).fill(1)}]'::halfvec(64) LIMIT 10`,
    );
    expect(JSON.stringify(plan.rows)).toContain("vectors_near_");
    // What is embedded has the title, too: the exact answer is computed from the same texts.
    const passages = new Map<string, Float32Array>();
    for (const text of [...embedder.seen]) passages.set(text, (await embedder.embed([text]))[0] as Float32Array);
    const pathOf = (text: string) => String(texts.findIndex((each) => text.includes(each)));
    let found = 0;
    for (let n = 0; n < 40; n++) {
      const query = Array.from({ length: 6 }, word).join(" ");
      const [vector] = (await embedder.embed([query])) as [Float32Array];
      const exact = [...passages]
        .map(([text, other]) => ({
          path: pathOf(text),
          cosine: other.reduce((sum, x, at) => sum + x * (vector[at] ?? 0), 0),
        }))
        .sort((a, b) => b.cosine - a.cosine);
      const least = exact[9]?.cosine ?? 1;
      const right = new Set(exact.filter(({ cosine }) => cosine >= least - 1e-4).map(({ path }) => path));
      const { results } = await store.search({ query, type: "semantic", limit: 10 });
      found += results.filter(({ path }) => right.has(path.split("/").pop() ?? "")).length;
    }
    expect(found / 400).toBeGreaterThanOrEqual(0.98);
  });

  it("says so if a gateway cannot keep all vectors, and searches the newest", async () => {
    for (const n of [1, 2, 3]) await store.add({ content: `about the number ${n} in words`, name: `${n}.md` });
    const embedder = new FakeEmbedder();
    store.useEmbedder(embedder);
    await store.indexed();
    const [vector] = (await embedder.embed(["number"])) as [Float32Array];
    const scope = new Uint8Array(10).fill(1);
    const entries = { ...new EntryTable().copy(), states: new Uint8Array(10).fill(2) };
    const nearest = (most: number) =>
      new Database(driver).read({}, (sql) =>
        new PassageVectors(most).nearest(sql, { model: embedder.model, vector }, { scope, also: [], entries }),
      );
    expect(await nearest(3)).toMatchObject({ hits: { length: 3 }, notice: undefined });
    expect(await nearest(2)).toMatchObject({
      hits: { length: 2 },
      notice: expect.stringContaining("newest 2 passages"),
    });
  });

  it("keeps the vectors of documents that were added after a search had started", async () => {
    await store.add({ content: "about the ocean", name: "a.md" });
    await store.add({ content: "about bread", name: "b.md" });
    const embedder = new FakeEmbedder();
    store.useEmbedder(embedder);
    await store.indexed();
    const [vector] = (await embedder.embed(["bread"])) as [Float32Array];
    const vectors = new PassageVectors();
    const nearest = (known: number) =>
      new Database(driver).read({}, (sql) =>
        vectors.nearest(
          sql,
          { model: embedder.model, vector },
          {
            scope: new Uint8Array(known + 1).fill(1),
            also: [],
            entries: { ...new EntryTable().copy(), states: new Uint8Array(known + 1).fill(2) },
          },
        ),
      );
    // The second document is the work of another gateway: this search does not know its entry yet.
    expect((await nearest(1))?.hits).toHaveLength(1);
    expect((await nearest(2))?.hits).toHaveLength(2);
  });

  it("embeds a document that is added just when nothing is left to embed", async () => {
    await store.close();
    const plain = driver;
    let isAdded = false;
    driver = {
      ...plain,
      use: (work, signal) =>
        plain.use(
          (connection) =>
            work({
              ...connection,
              async query(text, values, name) {
                const result = await connection.query(text, values, name);
                if (isAdded || !/FROM entries e JOIN .* e\.id > \$1/s.test(text) || result.rows.length > 0)
                  return result;
                isAdded = true;
                await connection.exec(`INSERT INTO entries (document, version, content, state, results, kind, texts, length, seq)
                  SELECT document, version, content, 2, results, kind, texts, length, seq FROM entries LIMIT 1`);
                return result;
              },
            }),
          signal,
        ),
    };
    store = await open();
    await store.add({ content: "about the ocean", name: "a.md" });
    store.useEmbedder(new FakeEmbedder());
    await store.indexed();
    expect(isAdded).toBe(true);
    await store.add({ content: "about bread", name: "b.md" });
    await store.indexed();
    expect(await count("passages")).toBe(3);
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
    const database = new Database(driver);
    expect(await migrate(database)).toBe(SCHEMA_VERSION);
    await db.exec(`UPDATE trunkline.schema_version SET version = ${SCHEMA_VERSION + 1}`);
    await expect(migrate(database)).rejects.toThrow(/knows versions up to/);
    await expect(open()).rejects.toMatchObject({ code: "IO" });
    expect(new Set(Object.values(LOCKS)).size).toBe(Object.keys(LOCKS).length);
    await db.exec(`UPDATE trunkline.schema_version SET version = ${SCHEMA_VERSION}`);
  });
});
