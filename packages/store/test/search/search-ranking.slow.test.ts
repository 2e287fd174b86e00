import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openForReading } from "../../src/engine/threads/open-databases.js";
import type { SearchParams, SearchResult, Store } from "../../src/index.js";
import { keywordHits } from "../../src/search/keyword-hits.js";
import { pathInRoot } from "../../src/search/keyword-text.js";
import { scopeOf } from "../../src/search/search-scope.js";
import { vectorIndexOf } from "../../src/search/vector-index.js";
import { boundOfRank, countDistances, OUT, SignTable, setSigns } from "../../src/search/vector-math.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { temporaryStore } from "../support/temporary.js";

const ADDER = fileURLToPath(new URL("../programs/adder.js", import.meta.url));
const check = () => {};

async function search(store: Store, params: SearchParams): Promise<SearchResult> {
  const found = await store.search(params);
  if (!("results" in found)) throw new Error("only paths were answered");
  return found;
}

function reading(path: string) {
  const databases = openForReading(path, []);
  const env = { folder: path, ...databases, graph: databases.index };
  onTestFinished(() => {
    env.index.close();
    env.truth.close();
  });
  return env;
}

/** Generates numbers that are the same in every run. */
function numbers(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

describe("signs of vectors", () => {
  it.each([32, 64, 384, 768, 1000])("are counted and multiplied correctly in %i dimensions", (dimensions) => {
    const words = Math.ceil(dimensions / 32);
    const vectors = [1, 2, 3, 4].map((seed) => numbers(dimensions, seed));
    const bits = new Int32Array(words * vectors.length);
    for (const [row, vector] of vectors.entries()) setSigns(bits, row * words, vector);
    const query = numbers(dimensions, 99);
    const signs = new Int32Array(words);
    setSigns(signs, 0, query);
    const entries = Int32Array.from([1, 2, 3, 4]);
    const distances = countDistances(bits, signs, { entries, rows: 4, scope: Uint8Array.from([0, 1, 1, 0, 1]) });
    const table = new SignTable(query);
    for (const [row, vector] of vectors.entries()) {
      const differing = vector.filter((number, n) => number > 0 !== (query[n] as number) > 0).length;
      expect(distances[row]).toBe(row === 2 ? OUT : differing);
      const product = vector.reduce((sum, number, n) => sum + (number > 0 ? 1 : -1) * (query[n] as number), 0);
      expect(table.product(bits, row * words)).toBeCloseTo(product, 2);
    }
  });

  it("are cut at a bound that keeps at least as many as requested, but few more", () => {
    const all = numbers(5000, 7);
    for (const rank of [1, 10, 300, 4999]) {
      const bound = boundOfRank(all, rank);
      const left = all.filter((number) => number >= bound).length;
      expect(left).toBeGreaterThanOrEqual(rank);
      expect(left).toBeLessThan(rank + 50);
    }
    expect(boundOfRank(Float32Array.of(3, 3, 3), 2)).toBe(3);
  });
});

const WORDS = "harbour lantern meadow copper velvet thunder cradle saddle".split(" ");

/**
 * Creates a store with texts of different lengths, in which every word of the list is frequent to a different degree.
 */
async function largeStore(): Promise<{ store: Store; path: string; folder: string }> {
  const made = await temporaryStore();
  const root = join(made.folder, "zebrafold", "texts");
  await mkdir(root, { recursive: true });
  const random = numbers(200_000, 5);
  let at = 0;
  for (let number = 0; number < 1300; number++) {
    const length = 5 + Math.floor(Math.abs(random[at++] as number) * 60);
    const words = Array.from({ length }, () => {
      const pick = Math.abs(random[at++] as number);
      return pick < 0.4 ? WORDS[Math.floor(pick * 20)] : `filler${Math.floor(pick * 500)}`;
    });
    await writeFile(join(root, `${number}.txt`), words.join(" "));
  }
  await made.store.add({ path: root });
  await made.store.indexed();
  return made;
}

describe("lists of frequent words", () => {
  it("rank like FTS5, and follow later adds, tags and deletes", async () => {
    const { store, path } = await largeStore();
    const env = reading(path);
    const { truth, index } = env;
    const ranked = (query: string) => {
      const scope = scopeOf(env, {});
      const terms = query.split(" ").map((word) => ({ word }));
      return keywordHits(index, { terms, scope, most: 5000 }, check);
    };
    expect(index.all("SELECT * FROM rank_segments WHERE complete = 1")).toHaveLength(1);
    expect(index.all("SELECT 1 FROM rank_lists WHERE term = 'meadow'")).toHaveLength(1);
    for (const words of ["meadow", "meadows copper", "thunder velvet harbours"]) {
      const fts = index.all<{ entry: number; score: number }>(
        "SELECT rowid / 4096 AS entry, -bm25(keyword, 6, 3, 4, 2, 1, 0.8) AS score FROM keyword WHERE keyword MATCH ?",
        words.replaceAll(" ", " OR "),
      );
      const { best, total } = ranked(words);
      expect(total).toBe(fts.length);
      const scores = new Map(fts.map(({ entry, score }) => [entry, score]));
      for (const { entry, score } of best) expect(score).toBeCloseTo(scores.get(entry) as number, 2);
    }

    const before = ranked("meadow").total;
    await store.add({ content: "meadow meadow", name: "later.txt" });
    expect(ranked("meadow").total).toBe(before + 1);
    const [without] = index.column<number>(
      "SELECT document FROM entries WHERE id NOT IN (SELECT rowid / 4096 FROM keyword WHERE keyword MATCH 'meadow') LIMIT 1",
    );
    const { path: plain } = truth.one<{ path: string }>("SELECT path FROM documents WHERE id = ?", without as number);
    await store.update({ name: plain, tags: ["meadow"] });
    expect(ranked("meadow").total).toBe(before + 2);
    await store.update({ name: plain, removeTags: ["meadow"] });
    expect(ranked("meadow").total).toBe(before + 1);
    await store.delete({ name: "later.txt" });
    expect(ranked("meadow").total).toBe(before);

    const found = await search(store, { query: "meadow", type: "keyword", limit: 3 });
    expect(found.total).toBe(before);
    expect((await search(store, { query: "zebrafold", type: "keyword", fuzzy: false })).total).toBe(0);
    expect((await search(store, { query: "texts", type: "keyword" })).total).toBe(1300);
  }, 60_000);
});

describe("paths in the keyword index", () => {
  it("start with the name of the root", () => {
    expect(pathInRoot({ path: "/home/me/project/src/a.ts", root: "/home/me/project" })).toBe("project/src/a.ts");
    expect(pathInRoot({ path: "notes.md", root: undefined })).toBe("notes.md");
    expect(pathInRoot({ path: "/a.ts", root: "/" })).toBe("a.ts");
  });
});

describe("vectors in memory", () => {
  it("disappear with deleted or changed documents", async () => {
    const { store, path } = await temporaryStore({ embedder: new FakeEmbedder() });
    for (let n = 0; n < 20; n++) await store.add({ content: `text number ${"x".repeat(n + 1)}`, name: `${n}.md` });
    await store.indexed();
    const { index } = reading(path);
    const size = () => vectorIndexOf(index, "fake-1", check)?.size;
    expect(size()).toBe(20);
    for (let n = 0; n < 15; n++) await store.delete({ name: `${n}.md` });
    await store.add({ content: "another text", name: "19.md" });
    await store.indexed();
    expect(size()).toBe(5);
    const [vector] = await new FakeEmbedder().embed(["another text"]);
    const vectors = vectorIndexOf(index, "fake-1", check);
    const near = vectors?.nearest(vector as Float32Array, { scope: new Uint8Array(1000).fill(1) });
    expect(near).toHaveLength(5);
    expect(near?.[0]?.similarity).toBeCloseTo(1);
  });
});

describe("hybrid search", () => {
  it("ignores distant hits, and is stricter if no document has any of the words", async () => {
    // Queries have a known angle to every document.
    const cosines: Readonly<Record<string, number>> = {
      "qwvx zzpt": 0.3,
      "boats zzpt": 0.3,
      "boats qwvx": 0.1,
      kitten: 0.5,
    };
    const embedder = {
      model: "angles",
      dimensions: 32,
      embed: async (texts: readonly string[]) =>
        texts.map((text) => {
          const cosine = cosines[text] ?? 1;
          return Float32Array.from({ length: 32 }, (_, n) =>
            n === 0 ? cosine : n === 1 ? Math.sqrt(1 - cosine ** 2) : 0,
          );
        }),
      [Symbol.asyncDispose]: async () => {},
    };
    const { store } = await temporaryStore({ embedder });
    await store.add({ content: "feline friends", name: "1.md" });
    await store.add({ content: "boats", name: "2.md" });
    await store.indexed();
    const total = async (query: string) => (await search(store, { query, fuzzy: false })).total;
    expect(await total("qwvx zzpt")).toBe(0);
    expect(await total("kitten")).toBe(2);
    expect(await total("boats zzpt")).toBe(2);
    expect(await total("boats qwvx")).toBe(1);
  });

  it("counts keyword hits and semantic hits once each", async () => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    await store.add({ content: "cat", name: "word.md" });
    await store.add({ content: "feline", name: "meaning.md" });
    await store.add({ content: "boat", name: "neither.md" });
    await store.indexed();
    expect((await search(store, { query: "cat", type: "hybrid" })).total).toBe(2);
  });
});

describe("an index written by another process", () => {
  it("is visible to search, grep and graph of an open store", async () => {
    const { store, path } = await temporaryStore({ embedder: new FakeEmbedder() });
    await store.add({ content: 'import { b } from "./b.js";\nb();\n', name: "/p/a.ts" });
    await store.indexed();
    const imports = async () => {
      const walk = await store.graph({ name: "/p/a.ts", relation: "IMPORTS" });
      if (!("edges" in walk)) throw new Error("the answer has no edges");
      return walk.edges.map((edge) => edge.to);
    };
    expect((await imports())[0]).toMatch(/^external:/);
    expect((await search(store, { query: "pelican", fuzzy: false, type: "keyword" })).total).toBe(0);
    const child = spawn(process.execPath, [ADDER, path, "/p/b.ts", "export function b() {} // pelican\n"], {
      stdio: "inherit",
    });
    expect((await once(child, "exit"))[0]).toBe(0);
    expect(await imports()).toEqual(["file:/p/b.ts"]);
    expect((await search(store, { query: "pelican", type: "keyword" })).total).toBe(1);
    expect(await store.grep({ pattern: "pelican" })).toMatchObject({ total: 1 });
  });
});
