import { createEmbedder } from "@trunkline/embed";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { haveWeights, UNREACHABLE, weightsHome } from "../../../embed/test/weights.js";
import { openStore, type SearchResult, type Store } from "../../src/index.js";
import { passagesOf } from "../../src/search/passages.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { temporaryStore } from "../support/temporary.js";

async function found(store: Store, query: string, type: "semantic" | "hybrid" = "semantic"): Promise<SearchResult> {
  const answer = await store.search({ query, type, limit: 100 });
  if (!("results" in answer)) throw new Error("only paths were answered");
  return answer;
}

function textOf(body: string) {
  return { title: undefined, body, words: "" };
}

describe("passages", () => {
  it("keep a short text whole and start with two folders and its title or name", () => {
    expect(passagesOf({ title: undefined, path: "/x/garden-notes.md" }, textOf("Roses."))).toMatchObject([
      { text: "garden notes\nRoses.", fromLine: 1, toLine: 1 },
    ]);
    expect(passagesOf({ title: "My roses", path: "/x/1.md" }, textOf("Red."))[0]?.text).toBe("My roses\nRed.");
    expect(passagesOf({ title: undefined, path: "/x/4711.py" }, textOf("pass"))[0]?.text).toBe("pass");
    const [below] = passagesOf({ title: undefined, path: "/x/a/httpCache/lru/index.ts", root: "/x" }, textOf("1"));
    expect(below?.text).toBe("http Cache lru index\n1");
    expect(passagesOf({ title: undefined, path: "/x/empty.md" }, textOf(" \n"))).toEqual([]);
  });

  it("overlap, cover every line, and are about 200 tokens long", () => {
    const lines = Array.from({ length: 300 }, (_, n) => `line ${n} has a few short words in it`);
    const passages = passagesOf({ title: undefined, path: "1" }, textOf(lines.join("\n")));
    expect(passages.length).toBeGreaterThan(10);
    for (const [at, passage] of passages.entries()) {
      const next = passages[at + 1];
      if (next === undefined) expect(passage.toLine).toBe(300);
      else expect(next.fromLine).toBeLessThanOrEqual(passage.toLine);
      expect(passage.text.split(/\s+/).length).toBeLessThan(260);
    }
  });

  it("cut a single long line too", () => {
    const passages = passagesOf({ title: undefined, path: "1" }, textOf("A sentence of six short words. ".repeat(400)));
    expect(passages.length).toBeGreaterThan(8);
    expect(Math.max(...passages.map(({ text }) => text.length))).toBeLessThan(1800);
  });

  it("distinguish code from prose", () => {
    const [prose] = passagesOf({ title: undefined, path: "1" }, textOf("Bees dance on the comb, and others follow."));
    const [code] = passagesOf(
      { title: undefined, path: "1" },
      textOf("def f(x):\n    return [g(y) for y in x.items()]"),
    );
    expect(prose?.code).toBe(0);
    expect(code?.code).toBe(1);
  });
});

describe("embedding in the background", () => {
  it("finds synonyms without a common word, and their position in a long text", async () => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    const filler = Array.from({ length: 200 }, (_, n) => `filler ${n} about nothing much at all`);
    await store.add({ content: [...filler, "kitten kitten kitten kitten", ...filler].join("\n"), name: "long.md" });
    await store.add({ content: "feline", name: "short.md" });
    await store.add({ content: "automobile", name: "car.md" });
    await store.indexed();
    const { type, results } = await found(store, "cat");
    expect(type).toBe("semantic");
    expect(results.map(({ path }) => path.split("/").pop())[0]).toBe("short.md");
    const long = results.find(({ path }) => path.endsWith("long.md"));
    expect(Math.abs((long?.line ?? 0) - 201)).toBeLessThan(40);
  });

  it("embeds equal text once, embeds nothing again after a restart, and reports its progress", async () => {
    const embedder = new FakeEmbedder();
    const { store, folder, path } = await temporaryStore({ embedder });
    await store.add({ content: "same text", name: "1" });
    await store.add({ content: "same text", name: "2" });
    await store.indexed();
    expect(embedder.seen).toEqual(["same text"]);
    expect(await store.status()).toMatchObject({
      embeddings: { model: "fake-1", embedded: 2, total: 2, vectors: 1, complete: true },
    });
    await store.close();
    await using again = await openStore({ path, cwd: folder, embedder });
    await again.indexed();
    expect((await found(again, "same")).total).toBe(2);
    expect(embedder.seen.filter((text) => text === "same text")).toHaveLength(1);
  });

  it("resumes where it stopped, and until then reports what is missing", async () => {
    const embedder = new FakeEmbedder();
    const { store, folder, path } = await temporaryStore({ embedder });
    let lists = 0;
    let addedAll = () => {};
    const added = new Promise<void>((resolve) => {
      addedAll = resolve;
    });
    const stalled = new Promise<void>((resolve) => {
      embedder.before = async (texts) => {
        // Waits until everything is added, so that the rest comes in full lists.
        await added;
        if (texts.length < 2 || ++lists < 2) return;
        resolve();
        return new Promise((_, reject) => setTimeout(() => reject(new Error("stalled")), 50));
      };
    });
    await store.add({ content: "first", name: "0.md" });
    for (let n = 1; n < 80; n++) await store.add({ content: `text number ${"x".repeat(n)}`, name: `${n}.md` });
    addedAll();
    await stalled;
    await store.indexed();
    const { embeddings } = (await store.status()) as unknown as { embeddings: { embedded: number; total: number } };
    expect(embeddings.embedded).toBeLessThan(80);
    expect((await found(store, "text")).notice).toMatch(/of 80 documents/);
    await store.close();
    embedder.before = undefined;
    const before = new Set(embedder.seen);
    embedder.seen.length = 0;
    await using again = await openStore({ path, cwd: folder, embedder });
    await again.indexed();
    expect(embedder.seen.some((text) => before.has(text))).toBe(false);
    const whole = await found(again, "text");
    expect(whole.total).toBe(80);
    expect(whole).not.toHaveProperty("notice");
  });

  it("does not delay a write while the model is busy", async () => {
    const embedder = new FakeEmbedder();
    const { store } = await temporaryStore();
    let release = () => {};
    embedder.before = () =>
      new Promise((_, reject) => {
        release = () => reject(new Error("slow"));
      });
    store.useEmbedder(embedder);
    await store.add({ content: "a", name: "a" });
    await store.add({ content: "b", name: "b" });
    embedder.before = undefined;
    release();
  });

  it("uses the old model until the new one is complete", async () => {
    const old = new FakeEmbedder("old");
    const { store } = await temporaryStore({ embedder: old });
    await store.add({ content: "feline", name: "cat.md" });
    await store.add({ content: "automobile", name: "car.md" });
    await store.indexed();
    const next = new FakeEmbedder("new");
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    next.before = () => held;
    store.useEmbedder(next);
    expect((await found(store, "kitten")).results[0]?.path).toMatch(/cat\.md$/);
    expect(next.seen).toEqual([]);
    goOn();
    await store.indexed();
    old.seen.length = 0;
    expect((await found(store, "vehicle")).results[0]?.path).toMatch(/car\.md$/);
    expect(old.seen).toEqual([]);
    expect(await store.status()).toMatchObject({ embeddings: { model: "new", embedded: 2, complete: true } });
  });

  it("finds a new version by its new text", async () => {
    const { store } = await temporaryStore({ embedder: new FakeEmbedder() });
    await store.add({ content: "feline", name: "a.md" });
    await store.add({ content: "unrelated", name: "b.md" });
    await store.indexed();
    await found(store, "cat");
    await store.add({ content: "automobile", name: "a.md" });
    await store.delete({ name: "b.md" });
    await store.indexed();
    const { total, results } = await found(store, "vehicle");
    expect(total).toBe(1);
    expect(results[0]?.score).toBeGreaterThan(0.99);
  });
});

const available = await haveWeights();
describe.skipIf(!available)(`search with the embedded model${available ? "" : ` ${UNREACHABLE}`}`, () => {
  let embedder: Awaited<ReturnType<typeof createEmbedder>>;
  beforeAll(async () => {
    embedder = await createEmbedder({ home: weightsHome });
  });
  afterAll(() => embedder.close());

  it("finds by meaning, and in hybrid mode ranks matches of both kinds first", async () => {
    const { store } = await temporaryStore({ embedder });
    await store.add({ content: "Steps to recover a forgotten login.", name: "login.md" });
    await store.add({ content: "The recipe needs two eggs and some flour.", name: "cake.md" });
    await store.add({ content: "password = os.environ['DB_PASSWORD']", name: "db.py" });
    await store.indexed();
    expect((await found(store, "How do I reset my password?")).results[0]?.path).toMatch(/login\.md$/);
    const both = await found(store, "DB_PASSWORD", "hybrid");
    expect(both).toMatchObject({ type: "hybrid" });
    expect(both.results[0]?.path).toMatch(/db\.py$/);
  });
});
