// Both engines rank alike: by keyword on judged questions, by meaning, hybrid, within filters and page by page.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, type Store } from "@trunkline/store";
import type { SearchParams } from "@trunkline/store/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readJudged, scoresOf } from "../../../bench/store/judged.js";
import { FakeEmbedder } from "../../store/test/support/fake-embedder.js";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

const { corpus, questions } = readJudged(fileURLToPath(new URL("../../../bench/store/prose", import.meta.url)));

type Either = Store | PostgresStore;

describe("both engines, on the prose set", () => {
  let folder: string;
  let embedded: Store;
  let postgres: PostgresStore;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "trunkline-ranking-"));
    for (const [n, { _id, title, text }] of corpus.entries()) {
      const ending = n % 3 === 0 ? ".md" : ".txt";
      await writeFile(join(folder, `${encodeURIComponent(_id)}${ending}`), title ? `# ${title}\n\n${text}` : text);
    }
    embedded = await openStore({ path: ".store", cwd: folder });
    const driver = pgliteDriver(await pgliteDatabase());
    postgres = await openPostgresStore({ driver, cwd: folder, folder: join(folder, ".own") });
    // As on most servers: the gateway compares vectors.
    postgres.usePgvector(false);
    for (const store of [embedded, postgres]) {
      await store.add({ path: folder, include: ["*.md"], tags: ["marked"], metadata: { shelf: 1 } });
      await store.add({ path: folder, include: ["*.txt"], snapshotLabel: "all", collection: "plain" });
      store.useEmbedder(new FakeEmbedder());
      await store.indexed();
    }
  });

  afterAll(async () => {
    await Promise.all([embedded?.close(), postgres?.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  async function ndcgOf(store: Either): Promise<number> {
    let sum = 0;
    for (const { text, right } of questions) {
      const { results } = await store.search({ query: text, type: "keyword", limit: 10 });
      const found = results.map(({ path }) => decodeURIComponent(basename(path).replace(/\.(?:md|txt)$/, "")));
      sum += scoresOf(found, right).ndcg;
    }
    return sum / questions.length;
  }

  it("have the same nDCG@10 by keyword, within 1 %", async () => {
    const [theirs, ours] = [await ndcgOf(embedded), await ndcgOf(postgres)];
    expect(theirs).toBeGreaterThan(0.5);
    expect(Math.abs(ours - theirs) / theirs).toBeLessThan(0.01);
  });

  /** Asks for all pages, and leaves out what differs between two stores: ids and times. */
  async function allPages(store: Either, params: SearchParams): Promise<unknown[]> {
    const pages: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.search({ ...params, cursor, pathsOnly: false });
      const { executionTimeMs: _, results, ...rest } = page;
      pages.push({ ...rest, results: results.map(({ id: __, ...hit }) => hit) });
      cursor = page.cursor;
      if (cursor === undefined || pages.length === 6) return pages;
    }
  }

  const KINDS: readonly (readonly [string, Partial<SearchParams>])[] = [
    ["by keyword", { type: "keyword" }],
    ["by keyword, without corrections", { type: "keyword", fuzzy: false }],
    ["by meaning", { type: "semantic" }],
    ["hybrid", { type: "hybrid" }],
    [
      "with parts of the score, line numbers and context",
      { type: "hybrid", explain: true, lineNumbers: true, context: 1 },
    ],
    ["by extension", { extension: "md", type: "hybrid" }],
    ["by tag", { tags: ["marked"], type: "keyword" }],
    ["by metadata", { metadata: { shelf: 1 }, type: "semantic" }],
    ["by collection", { collection: "plain", type: "hybrid" }],
    ["in a snapshot", { snapshot: "all", type: "keyword" }],
    ["by path", { pathPattern: "**/*.md", type: "keyword" }],
    ["page by page", { type: "keyword", limit: 3 }],
    ["page by page, hybrid", { type: "hybrid", limit: 4 }],
  ];

  it.each(KINDS)("give the same results %s", async (_, kind) => {
    for (const { text } of questions.slice(0, 12)) {
      // A typo in a word, which is corrected.
      for (const query of [text, text.replace(/(\w{3})\w(\w{3})/, "$1$2")]) {
        const params = { query, ...kind };
        expect([query, await allPages(postgres, params)]).toEqual([query, await allPages(embedded, params)]);
      }
    }
  });
});
