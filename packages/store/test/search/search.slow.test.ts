import { contentIdOf } from "@trunkline/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { rebuildIndex } from "../../src/engine/indexing/catch-up.js";
import { openForWriting } from "../../src/engine/threads/open-databases.js";
import { openStore, type SearchParams, type SearchResult, type Store } from "../../src/index.js";
import { indexers } from "../../src/indexers.js";
import { editDistance } from "../../src/search/corrections.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { temporaryStore } from "../support/temporary.js";

async function addAll(store: Store, documents: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(documents)) await store.add({ content, name });
  await store.indexed();
}

async function search(store: Store, params: SearchParams): Promise<SearchResult> {
  const found = await store.search(params);
  if (!("results" in found)) throw new Error("only paths were answered");
  return found;
}

async function names(store: Store, params: SearchParams): Promise<string[]> {
  return (await search(store, params)).results.map(({ path }) => path.split("/").pop() as string);
}

describe("the edit distance", () => {
  it.each([
    ["database", "database", 0],
    ["databse", "database", 1],
    ["dtaabase", "database", 1],
    ["datebasa", "database", 2],
    ["data", "database", 3],
    ["completely", "different", 3],
  ])("of %s and %s is %i, where 3 means more than two", (a, b, distance) => {
    expect(editDistance(a, b, 2)).toBe(distance);
    expect(editDistance(b, a, 2)).toBe(distance);
  });
});

describe("an index that is behind", () => {
  it("is brought up to date before a search is answered", async () => {
    const { store, path } = await temporaryStore();
    await addAll(store, { "a.md": "The pelican fishes at dawn." });
    // As if another process had been killed between the change and its indexing.
    const databases = openForWriting(path, indexers);
    rebuildIndex({ ...databases, texts: new Map(), check: () => {} });
    databases.truth.close();
    databases.index.close();
    expect(await names(store, { query: "pelican", type: "keyword" })).toEqual(["a.md"]);
  });
});

describe("fuzzy search", () => {
  const documents = {
    "a.md": "The database keeps every transaction in a journal.",
    "b.md": "Pelicans fish in shallow lagoons.",
    "c.ts": "export function parseHTTPRequest(socket: Socket) {}",
  };

  it("corrects a typo and says so", async () => {
    const { store } = await temporaryStore();
    await addAll(store, documents);
    for (const [typo, word, name] of [
      ["databse", "database", "a.md"],
      ["trnasaction", "transaction", "a.md"],
      ["pellicans", "pelicans", "b.md"],
      ["parseHTPRequest", "parsehttprequest", "c.ts"],
      ["parse_htttp_request", "parsehttprequest", "c.ts"],
    ] as const) {
      const found = await search(store, { query: typo, type: "keyword" });
      expect(found.corrections).toMatchObject([{ from: typo, to: word }]);
      expect(found.results[0]?.path.endsWith(name)).toBe(true);
    }
  });

  it("leaves known words alone, and corrects nothing if switched off or below the similarity", async () => {
    const { store } = await temporaryStore();
    await addAll(store, documents);
    expect(await search(store, { query: "database", type: "keyword" })).not.toHaveProperty("corrections");
    expect(await search(store, { query: "databse", type: "keyword", fuzzy: false })).toMatchObject({ total: 0 });
    expect(await search(store, { query: "databse", type: "keyword", similarity: 0.95 })).toMatchObject({ total: 0 });
    await expect(store.search({ query: "x", similarity: 7 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("does not correct to words that only deleted documents had", async () => {
    const { store } = await temporaryStore();
    await addAll(store, documents);
    await store.delete({ name: "b.md" });
    await store.indexed();
    const found = await search(store, { query: "pellicans", type: "keyword" });
    expect(found).toMatchObject({ total: 0 });
    expect(found).not.toHaveProperty("corrections");
  });

  it("finds a common misspelling together with the correct word", async () => {
    const { store } = await temporaryStore();
    const right = Array.from(
      { length: 40 },
      (_, n) => [`r${n}.md`, `Number ${n} is about a separate matter.`] as const,
    );
    await addAll(store, { ...Object.fromEntries(right), "wrong.md": "A seperate matter." });
    const found = await search(store, { query: "seperate", type: "keyword", limit: 1 });
    expect(found).toMatchObject({ total: 41, corrections: [{ from: "seperate", to: "separate" }] });
    expect(found.results[0]?.path).toMatch(/wrong\.md$/);
  });
});

describe("a search that cannot use meaning", () => {
  it("falls back to keyword search and says why", async () => {
    const { store } = await temporaryStore();
    await addAll(store, { "a.md": "heron" });
    for (const type of ["hybrid", "semantic"] as const) {
      const found = await search(store, { query: "heron", type });
      expect(found).toMatchObject({ type: "keyword", total: 1 });
      expect(found.notice).toMatch(
        /no embedding model is available\. To search by meaning, run `trunkline models pull`\.$/,
      );
    }
    expect(await search(store, { query: "heron", type: "keyword" })).not.toHaveProperty("notice");
  });

  it("names the remedy before anything is embedded", async () => {
    const slow = new FakeEmbedder();
    const { store, path } = await temporaryStore({ embedder: slow });
    // The query is embedded at once, the documents at the end of the test.
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    onTestFinished(() => release());
    slow.before = (texts) => (texts[0] === "bird" ? undefined : released);
    await store.add({ content: "a bird", name: "a.md" });
    for (const type of ["hybrid", "semantic"] as const) {
      expect(await search(store, { query: "bird", type })).toMatchObject({
        type: "keyword",
        total: 1,
        notice: expect.stringMatching(
          /nothing was embedded yet\. .*run `trunkline store search --type semantic <words>`/,
        ),
      });
    }
    expect(await store.search({ query: "bird", pathsOnly: true })).toMatchObject({
      notice: expect.stringContaining("nothing was embedded yet"),
    });
    await using reader = await openStore({ path, readOnly: true, embedder: slow });
    expect(await search(reader, { query: "bird" })).toMatchObject({
      notice: expect.stringMatching(/nothing was embedded yet\. This store cannot be changed here: run `trunkline/),
    });
  });

  it("never shows a zero score for a hit, even for a word in every document", async () => {
    const { store } = await temporaryStore();
    await addAll(store, { "a.md": "bread with butter", "b.md": "tea with milk", "c.md": "rice with beans" });
    const { results } = await search(store, { query: "retry with backoff" });
    expect(results).not.toHaveLength(0);
    for (const { score } of results) expect(score).toBeGreaterThan(0);
  });

  it("falls back to keyword search if the model fails for the query", async () => {
    const embedder = new FakeEmbedder();
    const { store } = await temporaryStore({ embedder });
    await addAll(store, { "a.md": "heron" });
    embedder.before = () => {
      throw new Error("out of memory");
    };
    const found = await search(store, { query: "heron" });
    expect(found).toMatchObject({ type: "keyword", total: 1, notice: expect.stringContaining("out of memory") });
  });
});

describe("results", () => {
  it("explain the parts of their score", async () => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    await addAll(store, { "a.md": "A cat sleeps.", "b.md": "Stock exchange." });
    const { results, type } = await search(store, { query: "cat", explain: true });
    expect(type).toBe("hybrid");
    const { keyword, semantic, ...others } = (results[0]?.explain ?? {}) as {
      keyword: { bm25: number; score: number };
      semantic: { cosine: number; score: number };
    };
    expect(others).toEqual({ terms: ["cat"] });
    expect(semantic.score).toBe(semantic.cosine);
    const sum = keyword.score + semantic.score;
    expect(results[0]?.score).toBeCloseTo(sum / (sum + 1), 3);
    const plain = await search(store, { query: "cat" });
    expect(plain.results[0]).not.toHaveProperty("explain");
  });

  it.each(["keyword", "semantic", "hybrid"] as const)("by %s are paged without gaps or repeats", async (type) => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    await addAll(
      store,
      Object.fromEntries(
        Array.from({ length: 23 }, (_, n) => [`n${n}.md`, `cat number ${n} ${"and more ".repeat(n % 5)}`]),
      ),
    );
    const whole = await names(store, { query: "cat number", type, limit: 100 });
    expect(new Set(whole).size).toBe(23);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await search(store, { query: "cat number", type, limit: 5, cursor });
      expect(page.total).toBe(23);
      paged.push(...page.results.map(({ path }) => path.split("/").pop() as string));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(whole);
  });

  it.each(["keyword", "semantic", "hybrid"] as const)("by %s are filtered before they are cut", async (type) => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    for (let n = 0; n < 450; n++) await store.add({ content: `cat ${n}`, name: `many${n}.md` });
    const session = await store.start({ label: "filters" });
    await store.add({
      content: `a long text that has the cat only once ${"among other things ".repeat(20)}`,
      name: "deep/one.txt",
      tags: ["rare"],
      metadata: { owner: "ada" },
      collection: "other",
    });
    await store.indexed();
    for (const filter of [
      { pathPattern: "**/deep/*" },
      { extension: "txt" },
      { collection: "other" },
      { tags: ["rare"] },
      { metadata: { owner: "ada" } },
      { session: session.sessionId },
    ]) {
      expect(await search(store, { query: "cat", type, ...filter }), JSON.stringify(filter)).toMatchObject({
        total: 1,
        type,
        results: [{ path: expect.stringMatching(/one\.txt$/) }],
      });
    }
  });

  it("are all documents that match a hash of eight digits or more", async () => {
    const { store } = await temporaryStore();
    await addAll(store, { "a.md": "same", "b.md": "same", "c.md": "other" });
    const hash = contentIdOf("same");
    expect((await names(store, { query: "", hash: hash.slice(0, 8) })).sort()).toEqual(["a.md", "b.md"]);
    expect(await search(store, { query: "", hash, extension: "txt" })).toMatchObject({ total: 0 });
    await expect(store.search({ query: "", hash: "1234567" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a query", () => {
  it("without a word finds nothing, not even by meaning", async () => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    await addAll(store, { "a.md": "heron" });
    for (const type of ["keyword", "semantic", "hybrid"] as const) {
      expect(await search(store, { query: " ", type })).toMatchObject({ total: 0, results: [] });
    }
  });
});
