import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isTrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { random } from "../../../grep/test/tree.js";
import { type GrepParams, type GrepResult, openStore, type Store } from "../../src/index.js";
import { rawDatabase } from "../support/raw-database.js";
import { temporaryFolder, temporaryStore } from "../support/temporary.js";

function makeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Lists every match on all pages as `name:line`. */
async function found(store: Store, params: GrepParams): Promise<string[]> {
  const all: string[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const result: GrepResult = await store.grep({ ...params, ...(cursor === undefined ? {} : { cursor }) });
    if (!("matches" in result)) throw new Error("these are not matches");
    expect(result.truncated).toBe(result.cursor !== undefined);
    all.push(...result.matches.map((match) => `${match.path.split("/").pop()}:${match.line}`));
    cursor = result.cursor;
  }
  return all;
}

const TREE = {
  "t/a.ts": "import x\nconst needle = 1;\nend\n",
  "t/sub/b.ts": "needle needle\nnothing\nNEEDLE\nneedles\n",
  "t/sub/c.md": "# needle\n",
  "t/other.txt": "hay\n",
};

async function treeStore(): Promise<{ store: Store; folder: string; path: string }> {
  const opened = await temporaryStore();
  makeFiles(opened.folder, TREE);
  await opened.store.add({ path: "t" });
  await opened.store.indexed();
  return opened;
}

describe("grep on a store", () => {
  it("answers with lines, hashes and context", async () => {
    const { store, folder } = await treeStore();
    const { hash } = await store.get({ path: "t/a.ts" });
    expect(await store.grep({ pattern: "needle = \\d", context: 1, lineNumbers: true })).toEqual({
      matches: [
        {
          path: join(folder, "t/a.ts"),
          hash,
          line: 2,
          text: "2:const needle = 1;",
          before: ["1-import x"],
          after: ["3-end"],
        },
      ],
      total: 1,
      files: 1,
      truncated: false,
      binary: 0,
    });
  });

  it("counts, lists files, inverts, ignores case, matches words and stops at max_count", async () => {
    const { store, folder } = await treeStore();
    const at = (name: string) => join(folder, "t", name);
    expect(await store.grep({ pattern: "needle", count: true })).toMatchObject({
      total: 4,
      files: [
        { path: at("a.ts"), count: 1 },
        { path: at("sub/b.ts"), count: 2 },
        { path: at("sub/c.md"), count: 1 },
      ],
    });
    expect(await store.grep({ pattern: "needle", filesWithMatches: true })).toMatchObject({
      files: [at("a.ts"), at("sub/b.ts"), at("sub/c.md")],
    });
    expect(await found(store, { pattern: "needle", invert: true })).toEqual([
      "a.ts:1",
      "a.ts:3",
      "other.txt:1",
      "b.ts:2",
      "b.ts:3",
    ]);
    expect(await found(store, { pattern: "needle", ignoreCase: true, paths: ["t/sub/b.ts"] })).toEqual([
      "b.ts:1",
      "b.ts:3",
      "b.ts:4",
    ]);
    expect(await found(store, { pattern: "needle", word: true })).toEqual(["a.ts:2", "b.ts:1", "c.md:1"]);
    expect(await found(store, { pattern: "needle", maxCount: 1 })).toEqual(["a.ts:2", "b.ts:1", "c.md:1"]);
  });

  it("accepts paths as files or folders, absolute, relative or by suffix, and reports missing ones", async () => {
    const { store, folder } = await treeStore();
    await store.add({ content: "needle", name: "notes/n.txt" });
    const inSub = ["b.ts:1", "b.ts:4", "c.md:1"];
    for (const path of ["t/sub", "./t/sub/", join(folder, "t/sub"), "sub"]) {
      expect(await found(store, { pattern: "needle", paths: [path] })).toEqual(inSub);
    }
    expect(await found(store, { pattern: "needle", paths: ["b.ts", "notes"] })).toEqual([
      "b.ts:1",
      "b.ts:4",
      "n.txt:1",
    ]);
    expect(await found(store, { pattern: "needle", paths: ["."] })).toEqual(["a.ts:2", ...inSub]);
    expect(await found(store, { pattern: "needle", paths: [] })).toEqual(["a.ts:2", ...inSub, "n.txt:1"]);
    await expect(store.grep({ pattern: "needle", paths: ["t/su"] })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("includes and excludes by pattern", async () => {
    const { store } = await treeStore();
    expect(await found(store, { pattern: "needle", include: ["*.ts"] })).toEqual(["a.ts:2", "b.ts:1", "b.ts:4"]);
    expect(await found(store, { pattern: "needle", exclude: ["sub/**"] })).toEqual(["a.ts:2"]);
  });

  it("has the same filters as list", async () => {
    const { store } = await temporaryStore();
    await store.add({ content: "needle one\n", name: "one", tags: ["x"], metadata: { kind: "a" } });
    await store.add({ content: "needle two\n", name: "two", tags: ["x", "y"], collection: "second" });
    await store.start({});
    await store.add({ content: "needle three\n", name: "three", metadata: { kind: "b" } });
    const check = async () => {
      const names = async (filters: Partial<GrepParams>) =>
        (await found(store, { pattern: "needle", ...filters })).map((place) => place.split(":")[0]);
      expect(await names({})).toEqual(["one", "three", "two"]);
      expect(await names({ collection: "second" })).toEqual(["two"]);
      expect(await names({ tags: ["x", "y"] })).toEqual(["one", "two"]);
      expect(await names({ tags: ["x", "y"], matchAllTags: true })).toEqual(["two"]);
      expect(await names({ metadata: { kind: "b" } })).toEqual(["three"]);
      expect(await names({ metadata: ["kind=a"] })).toEqual(["one"]);
      expect(await names({ session: true })).toEqual(["three"]);
      expect(await names({ tags: ["y"], paths: ["one"] })).toEqual([]);
    };
    await check();
    await store.indexed();
    await check();
    await expect(store.grep({ pattern: "needle", collection: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(store.grep({ pattern: "needle", snapshot: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("shows a snapshot as it was, even after a rebuild of the index", async () => {
    const { store } = await temporaryStore();
    await store.add({ content: "old needle\n", name: "changed" });
    await store.add({ content: "needle to go\n", name: "deleted" });
    await store.add({ content: "hay\n", name: "later" });
    await store.snapshot({ label: "then" });
    await store.add({ content: "hay\nhay\nnew needle\n", name: "changed" });
    await store.add({ content: "needle\n", name: "later" });
    await store.delete({ name: "deleted" });
    const check = async () => {
      expect(await found(store, { pattern: "needle" })).toEqual(["changed:3", "later:1"]);
      expect(await found(store, { pattern: "needle", snapshot: "then" })).toEqual(["changed:1", "deleted:1"]);
    };
    await check();
    await store.indexed();
    await check();
    await store.repair();
    await check();
    await store.indexed();
    await check();
  });

  it("immediately finds documents that are not indexed yet or have just changed", async () => {
    const { store } = await temporaryStore();
    for (let number = 0; number < 100; number++) {
      await store.add({ content: `needle${number}end\n`, name: "same name" });
      expect(await found(store, { pattern: `needle${number}end` })).toEqual(["same name:1"]);
      if (number > 0) expect(await found(store, { pattern: `needle${number - 1}end` })).toEqual([]);
    }
  });

  it("does not find deleted documents, and finds them again after undelete", async () => {
    const { store } = await treeStore();
    await store.delete({ name: "c.md" });
    expect(await found(store, { pattern: "# needle" })).toEqual([]);
    await store.undelete({ name: "c.md" });
    expect(await found(store, { pattern: "# needle" })).toEqual(["c.md:1"]);
    await store.delete({ name: "c.md" });
    await store.gc();
    expect(await found(store, { pattern: "# needle" })).toEqual([]);
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("skips and counts binary content, whatever the pattern", async () => {
    const { store } = await treeStore();
    await store.add({ content: new Uint8Array([0, 1, 2, ...Buffer.from("needle")]), name: "binary" });
    for (const moment of ["before", "after"]) {
      if (moment === "after") await store.indexed();
      expect(await store.grep({ pattern: "# needle" })).toMatchObject({ total: 1, binary: 1 });
      expect(await store.grep({ pattern: "." })).toMatchObject({ files: 4, binary: 1 });
      expect(await store.grep({ pattern: ".", paths: ["t"] })).toMatchObject({ files: 4, binary: 0 });
    }
  });

  it("shows the same content at the same path in two collections once, and different content separately", async () => {
    const { store } = await temporaryStore();
    for (const collection of ["a", "b"]) await store.add({ content: "needle\n", name: "n", collection });
    await store.add({ content: "hay\nneedle\n", name: "n", collection: "c" });
    expect((await found(store, { pattern: "needle" })).sort()).toEqual(["n:1", "n:2"]);
    await store.indexed();
    expect((await found(store, { pattern: "needle" })).sort()).toEqual(["n:1", "n:2"]);
  });

  it("continues with a cursor, completely and in order, and rejects it for another query", async () => {
    const { store } = await temporaryStore();
    const names = Array.from({ length: 30 }, (_, number) => `n${String(number).padStart(2, "0")}`);
    const text = Array.from({ length: 200 }, (_, line) => (line % 2 === 0 ? "a needle" : "hay")).join("\n");
    for (const name of names) await store.add({ content: `${text}\n${name}`, name });
    const expected = names.flatMap((name) => Array.from({ length: 100 }, (_, line) => `${name}:${line * 2 + 1}`));
    expect(await found(store, { pattern: "needle" })).toEqual(expected);
    await store.indexed();
    expect(await found(store, { pattern: "needle" })).toEqual(expected);
    const first = await store.grep({ pattern: "needle", ignoreCase: true });
    expect(first).toMatchObject({ truncated: true, total: 3000, files: 30 });
    const { cursor } = first;
    // The order of parameters does not matter.
    const second = await store.grep({ ignoreCase: true, pattern: "needle", cursor });
    expect(second).toMatchObject({ truncated: true, total: 3000, files: 30 });
    for (const other of [{ pattern: "hay" }, { collection: "default" }, { paths: ["n01"] }]) {
      await expect(store.grep({ pattern: "needle", ignoreCase: true, ...other, cursor })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
  });

  it("goes through more documents than a page holds, with and without the index", async () => {
    const { store, folder } = await temporaryStore();
    const files = Object.fromEntries(
      Array.from({ length: 1300 }, (_, number) => [
        `t/d${number % 7}/f${number}.txt`,
        number % 2 === 0 ? `even ${number}\n` : `odd ${number}\n`,
      ]),
    );
    makeFiles(folder, files);
    await store.add({ path: "t" });
    const check = async () => {
      expect(await store.grep({ pattern: "\\d", count: true })).toMatchObject({ total: 1300, truncated: false });
      expect(await store.grep({ pattern: "even", count: true })).toMatchObject({ total: 650, truncated: false });
      expect(await found(store, { pattern: "odd 777$" })).toEqual(["f777.txt:1"]);
      const inFolder = await store.grep({ pattern: "^(even|odd)", count: true, paths: ["t/d3"] });
      expect(inFolder).toMatchObject({ total: Object.keys(files).filter((path) => path.startsWith("t/d3/")).length });
    };
    await check();
    await store.indexed();
    await check();
    await store.snapshot({ label: "s" });
    expect(await store.grep({ pattern: "even", count: true, snapshot: "s" })).toMatchObject({ total: 650 });
  });

  it("rejects an invalid pattern", async () => {
    const { store } = await treeStore();
    for (const pattern of ["(", "(?=a)", "\\1"]) {
      await expect(store.grep({ pattern })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("handles a hostile pattern on hostile text while other reads continue", async () => {
    const { store } = await treeStore();
    await store.add({ content: `${`${"a".repeat(50_000)}!\n`.repeat(40)}`, name: "hostile" });
    expect(await store.grep({ pattern: "(a+)+$", count: true })).toMatchObject({ total: 0, truncated: false });
    // Half an hour of work. A query gives up after its time budget, so it is repeated until stopped. That way the reads
    // below always compete with a running query.
    const below = random(3);
    const letters = new Uint8Array(1 << 20).map(() => (below(2) === 0 ? 0x61 : 0x62));
    await store.add({ content: letters, name: "toil" });
    const stop = new AbortController();
    const toiling = async (): Promise<string> => {
      for (;;) {
        const query = store.grep({ pattern: "a[ab]{30000}c", paths: ["toil"], count: true }, { signal: stop.signal });
        const code = await query.then(
          () => "answered",
          (error: unknown) => (isTrunklineError(error) ? error.code : String(error)),
        );
        if (code !== "TIMEOUT") return code;
      }
    };
    const toil = toiling();
    for (let read = 0; read < 3; read++) {
      expect(await store.list({ limit: 1 })).toMatchObject({ total: 6 });
      expect(await found(store, { pattern: "needles" })).toEqual(["b.ts:4"]);
    }
    stop.abort();
    expect(await toil).toBe("ABORTED");
  });

  it("finds the new text of a document that changed after a search", async () => {
    const { store, folder } = await treeStore();
    expect(await found(store, { pattern: "needle = \\d" })).toEqual(["a.ts:2"]);
    makeFiles(folder, { "t/a.ts": "const needle = 2;\n", "t/new.ts": "needle = 3\n" });
    await store.add({ path: "t" });
    expect(await found(store, { pattern: "needle = \\d" })).toEqual(["a.ts:1", "new.ts:1"]);
    await store.indexed();
    expect(await found(store, { pattern: "[n]eedle = \\d" })).toEqual(["a.ts:1", "new.ts:1"]);
    await store.delete({ name: "new.ts" });
    expect(await found(store, { pattern: "[n]eedle = \\d" })).toEqual(["a.ts:1"]);
    // Runs the same query again, from the reader's cache.
    expect(await found(store, { pattern: "[n]eedle = \\d" })).toEqual(["a.ts:1"]);
  });

  it("stops on abort and when the store closes", async () => {
    const { store } = await treeStore();
    const reason = AbortSignal.abort();
    await expect(store.grep({ pattern: "needle" }, { signal: reason })).rejects.toMatchObject({ code: "ABORTED" });
    const pending = store.grep({ pattern: "needle" });
    pending.catch(() => {});
    await store.close();
    await expect(store.grep({ pattern: "needle" })).rejects.toMatchObject({ code: "CLOSED" });
    await pending.catch((error: unknown) => expect(error).toMatchObject({ code: "CLOSED" }));
  });

  it("works on a read-only store, even if the trigram index was never built", async () => {
    const cwd = await temporaryFolder();
    const { store, path } = await temporaryStore({ cwd });
    await store.add({ content: "a needle\n", name: "n" });
    await store.indexed();
    await store.close();
    const look = async () => {
      const reading = await openStore({ path, cwd, readOnly: true });
      try {
        expect(await found(reading, { pattern: "needle" })).toEqual(["n:1"]);
      } finally {
        await reading.close();
      }
    };
    await look();
    const index = rawDatabase(join(path, "index.sqlite"));
    index.exec("DROP TABLE trigram_blocks; DROP TABLE trigram_segments; DROP TABLE trigram_unread");
    index.exec("DELETE FROM indexers WHERE name = 'trigram'");
    index.close();
    await look();
  });

  it("names a damaged document instead of skipping it", async () => {
    const { store, path } = await treeStore();
    await store.close();
    const truth = rawDatabase(join(path, "content.sqlite"));
    truth.exec(`UPDATE chunks SET data = zeroblob(length(data)) WHERE id = (
      SELECT cc.chunk FROM documents d JOIN versions v ON v.id = d.version JOIN content_chunks cc ON cc.content = v.content
      WHERE d.name = 'c.md')`);
    truth.close();
    const { store: again } = await temporaryStore({ path });
    await expect(again.grep({ pattern: "needle" })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringContaining("c.md"),
    });
    expect(await found(again, { pattern: "needle", exclude: ["c.md"] })).toEqual(["a.ts:2", "b.ts:1", "b.ts:4"]);
    // The index says that the document cannot match, so it is not read.
    expect(await found(again, { pattern: "import x" })).toEqual(["a.ts:1"]);
    await again.snapshot({ label: "s" });
    expect(await found(again, { pattern: "import x", snapshot: "s" })).toEqual(["a.ts:1"]);
  });
});
