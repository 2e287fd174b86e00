import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { contentIdOf } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { openStore } from "../../src/index.js";
import { rawDatabase } from "../support/raw-database.js";
import { temporaryFolder, temporaryStore } from "../support/temporary.js";

function makeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

async function paths(store: Awaited<ReturnType<typeof openStore>>, params = {}): Promise<readonly string[]> {
  const list = await store.list({ ...params, pathsOnly: true, limit: 1000 });
  return "paths" in list ? list.paths : [];
}

describe("add", () => {
  it("respects .gitignore at every level and never enters .git or the store", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, {
      ".gitignore": "*.log\nbuild/\n",
      "a.txt": "a",
      "a.log": "no",
      "build/out.js": "no",
      "sub/.gitignore": "!keep.log\nsecret*\n",
      "sub/keep.log": "yes",
      "sub/secret.txt": "no",
      ".git/config": "no",
    });
    await store.add({ path: "." });
    expect((await paths(store)).map((path) => path.slice(folder.length + 1)).sort()).toEqual([
      ".gitignore",
      "a.txt",
      "sub/.gitignore",
      "sub/keep.log",
    ]);
  });

  it("reports a link out of the folder instead of following it", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "in/real.txt": "inside", "out/secret.txt": "outside" });
    symlinkSync(join(folder, "out", "secret.txt"), join(folder, "in", "leak.txt"));
    symlinkSync(join(folder, "out"), join(folder, "in", "leak"));
    symlinkSync(join(folder, "in", "real.txt"), join(folder, "in", "alias.txt"));
    const added = await store.add({ path: "in" });
    expect((await paths(store)).map((path) => path.split("/").pop())).toEqual(["alias.txt", "real.txt"]);
    expect(added.problems?.map((problem) => problem.path.split("/").pop()).sort()).toEqual(["leak", "leak.txt"]);
  });

  it("reports a link that leads nowhere or to itself", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "in/real.txt": "inside" });
    symlinkSync("nowhere", join(folder, "in", "dangling"));
    symlinkSync("itself", join(folder, "in", "itself"));
    const { files, problems } = await store.add({ path: "in" });
    expect(files).toBe(1);
    expect(problems?.map(({ message }) => message)).toEqual(Array(2).fill("a broken symbolic link"));
  });

  it.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "reports files and folders it cannot read, and adds the rest",
    async () => {
      const { store, folder } = await temporaryStore();
      makeFiles(folder, { "in/open.txt": "open", "in/secret.txt": "secret", "in/shut/a.txt": "a" });
      chmodSync(join(folder, "in", "secret.txt"), 0);
      chmodSync(join(folder, "in", "shut"), 0);
      const { files, problems } = await store.add({ path: "in" });
      chmodSync(join(folder, "in", "shut"), 0o700);
      expect(files).toBe(1);
      expect(problems?.map(({ message }) => message)).toEqual(Array(2).fill("access denied"));
    },
  );

  it("reads an unchanged file only once, notices an edit of the same size, and marks removed files", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "t/a.txt": "aaaa", "t/b.txt": "bbbb", "t/c.txt": "cccc" });
    for (const name of ["a", "b", "c"]) utimesSync(join(folder, "t", `${name}.txt`), 1000, 1000);
    expect(await store.add({ path: "t" })).toMatchObject({ files: 3, skipped: 0 });
    expect(await store.add({ path: "t" })).toMatchObject({ files: 0, skipped: 3, newBytes: 0 });
    writeFileSync(join(folder, "t", "b.txt"), "BBBB");
    rmSync(join(folder, "t", "c.txt"));
    expect(await store.add({ path: "t" })).toMatchObject({ files: 1, skipped: 1, removed: 1 });
    expect((await paths(store)).map((path) => path.split("/").pop())).toEqual(["a.txt", "b.txt"]);
    expect(await store.get({ path: "c.txt" })).toMatchObject({ state: "removed" });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("treats a file with only a new timestamp as the same content", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "t/a.txt": "same" });
    await store.add({ path: "t" });
    utimesSync(join(folder, "t", "a.txt"), 2000, 2000);
    expect(await store.add({ path: "t" })).toMatchObject({ files: 0, skipped: 1 });
    expect((await store.get({ path: "a.txt" })).versions).toHaveLength(1);
  });

  it("stores a file larger than one batch, and only the changed part of its next version", async () => {
    const { store, folder } = await temporaryStore();
    const content = seededRandom().bytes(12_000_000);
    writeFileSync(join(folder, "big.bin"), content);
    const first = await store.add({ path: "big.bin" });
    expect(first).toMatchObject({ hash: contentIdOf(content), newBytes: 12_000_000 });
    const changed = Buffer.concat([
      content.subarray(0, 6_000_000),
      Buffer.from("inserted"),
      content.subarray(6_000_000),
    ]);
    writeFileSync(join(folder, "big.bin"), changed);
    const second = await store.add({ path: "big.bin" });
    expect(second.newBytes).toBeLessThan(200_000);
    expect(Buffer.compare(await store.bytes(contentIdOf(changed)), changed)).toBe(0);
    expect(Buffer.compare(await store.bytes(contentIdOf(content)), content)).toBe(0);
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("saves at least 90 % over twenty versions of a large file with small edits", async () => {
    const { store, folder } = await temporaryStore();
    const content = seededRandom().bytes(5_000_000);
    for (let version = 0; version < 20; version++) {
      content.set(seededRandom().bytes(100), version * 200_000);
      writeFileSync(join(folder, "edited.bin"), content);
      await store.add({ path: "edited.bin" });
    }
    expect((await store.status()).dedupRatio).toBeGreaterThan(0.9);
    expect((await store.get({ path: "edited.bin" })).versions).toHaveLength(20);
  });

  it("finds a long text by words near its end, even after re-adding it with tags", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, {
      "t/long.txt": `${"filler words ".repeat(340_000)}\nptarmigan\n`,
      "t/short.txt": "ptarmigan too",
    });
    const total = async () => store.search({ query: "ptarmigan", type: "keyword" });
    await store.add({ path: "t" });
    expect(await total()).toMatchObject({ total: 2 });
    await store.add({ path: "t", tags: ["birds"] });
    expect(await total()).toMatchObject({ total: 2 });
    expect(await store.search({ query: "ptarmigan", type: "keyword", tags: ["birds"] })).toMatchObject({ total: 2 });
  });

  it("explains what is wrong with a missing path", async () => {
    const { store } = await temporaryStore();
    await expect(store.add({ path: "nothing-here" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(store.add({})).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("stores one consistent state of a file that is being written, or reports it", async () => {
    const { store, folder } = await temporaryStore();
    const file = join(folder, "live.log");
    writeFileSync(file, "line\n");
    let busy = true;
    const writing = (async () => {
      while (busy) {
        appendFileSync(file, "line\n".repeat(100));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const answer = await store.add({ path: "live.log" }).catch((error: unknown) => error);
    busy = false;
    await writing;
    if (answer instanceof Error) expect(answer).toMatchObject({ code: "IO", retryable: true });
    else expect((await store.get({ path: "live.log", includeContent: true })).content).toMatch(/^(?:line\n)+$/);
  });
});

describe("get", () => {
  it("returns lines, bytes and binary content", async () => {
    const { store } = await temporaryStore();
    await store.add({ content: "one\ntwo\nthree\nfour", name: "l.txt" });
    expect(await store.get({ path: "l.txt", lines: "2-3" })).toMatchObject({
      content: "two\nthree\n",
      lines: { from: 2, to: 3, total: 4 },
    });
    expect(await store.get({ path: "l.txt", lines: "4-" })).toMatchObject({ content: "four" });
    expect(await store.get({ path: "l.txt", bytes: "4-6" })).toMatchObject({ content: "two" });
    await store.add({ content: new Uint8Array([0, 255, 1]), name: "b.bin" });
    expect(await store.get({ path: "b.bin", includeContent: true })).toMatchObject({
      type: "binary",
      encoding: "base64",
      content: "AP8B",
    });
    await expect(store.get({ path: "l.txt", lines: "0-3" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("for a client, writes to outputPath only where it was checked, and only a new file", async () => {
    const { store, folder } = await temporaryStore();
    await store.add({ content: "text", name: "t.txt" });
    mkdirSync(join(folder, "open"));
    mkdirSync(join(folder, "shut"));
    symlinkSync(join(folder, "shut"), join(folder, "open", "door"));
    const get = (path: string, checked = path) => {
      const outputPath = join(folder, path);
      const limits = { realPaths: { [outputPath]: join(realpathSync(folder), checked) } };
      return store.get({ path: "t.txt", outputPath }, { limits });
    };
    await get("open/t.txt");
    expect(readFileSync(join(folder, "open", "t.txt"), "utf8")).toBe("text");
    await expect(get("open/t.txt")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(get("open/door/t.txt")).rejects.toMatchObject({ code: "DENIED" });
    symlinkSync(join(folder, "shut", "planted"), join(folder, "open", "link"));
    await expect(get("open/link")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(readdirSync(join(folder, "shut"))).toEqual([]);
  });

  it("accepts an abbreviated hash, and lists the matches of an ambiguous one", async () => {
    const { store, path } = await temporaryStore();
    const { hash } = await store.add({ content: "x", name: "x" });
    expect(await store.get({ hash: `sha256:${hash?.slice(0, 8)}` })).toMatchObject({ hash, path: "x" });
    await expect(store.get({ hash: "0000000" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(store.get({ hash: "00000000" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    // Two contents that share eight digits are hard to find, so one is planted.
    const twin = `${hash?.slice(0, 8)}${"0".repeat(56)}`;
    const db = rawDatabase(join(path, "content.sqlite"));
    db.prepare("INSERT INTO contents (hash, size, type, added) VALUES (?, 0, 'text', 0)", "objects").run([
      Buffer.from(twin, "hex"),
    ]);
    db.close();
    await expect(store.get({ hash: twin.slice(0, 8) })).rejects.toMatchObject({
      code: "AMBIGUOUS",
      data: { matches: expect.arrayContaining([hash, twin]) },
    });
  });
});

describe("snapshots", () => {
  it("keep deleted and changed content through gc, and support list, search and restore", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "t/a.txt": "albatross", "t/b.txt": "bittern" });
    chmodSync(join(folder, "t", "a.txt"), 0o640);
    utimesSync(join(folder, "t", "a.txt"), 1_500_000_000, 1_500_000_000);
    await store.add({ path: "t", snapshotLabel: "old" });
    writeFileSync(join(folder, "t", "a.txt"), "cormorant");
    renameSync(join(folder, "t", "b.txt"), join(folder, "t", "c.txt"));
    await store.add({ path: "t", snapshotLabel: "new" });
    expect(await store.diff({ from: "old", to: "new" })).toEqual({
      added: [],
      removed: [],
      modified: [join(folder, "t", "a.txt")],
      renamed: [{ from: join(folder, "t", "b.txt"), to: join(folder, "t", "c.txt") }],
    });
    await store.delete({ pattern: "*.txt" });
    await store.gc();
    expect(await paths(store)).toEqual([]);
    expect(await paths(store, { snapshot: "old" })).toHaveLength(2);
    expect(await store.search({ query: "albatross", type: "keyword" })).toMatchObject({ total: 0 });
    expect(await store.search({ query: "albatross", type: "keyword", snapshot: "old" })).toMatchObject({ total: 1 });
    expect(await store.restore({ snapshotId: "old", outputDirectory: "out" })).toMatchObject({ restored: 2 });
    const { mode, mtimeMs } = lstatSync(join(folder, "out", "a.txt"));
    expect([mode & 0o777, mtimeMs]).toEqual([0o640, 1_500_000_000_000]);
    expect(readFileSync(join(folder, "out", "a.txt"), "utf8")).toBe("albatross");
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("restore leaves other files alone unless told to overwrite, and writes nothing in a dry run", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "t/a.txt": "mine", "t/sub/b.md": "b" });
    await store.add({ path: "t", collection: "c" });
    const restore = (more = {}) => store.restore({ collection: "c", outputDirectory: "out", ...more });
    expect(await restore({ dryRun: true })).toMatchObject({ restored: 2, paths: ["a.txt", "sub/b.md"] });
    expect(() => lstatSync(join(folder, "out"))).toThrow();
    makeFiles(folder, { "out/a.txt": "yours" });
    expect(await restore({ includePatterns: ["*.txt"] })).toEqual({
      restored: 0,
      skipped: 1,
      conflicts: [{ path: "a.txt", reason: "a different file exists there" }],
    });
    expect(await restore({ overwrite: true, excludePatterns: ["sub/**"] })).toMatchObject({ restored: 1, skipped: 1 });
    expect(readFileSync(join(folder, "out", "a.txt"), "utf8")).toBe("mine");
    expect(await restore()).toEqual({ restored: 1, skipped: 1, conflicts: [] });
  });

  it("show the text diff of one document", async () => {
    const { store } = await temporaryStore();
    const lines = Array.from({ length: 30 }, (_, number) => `line ${number}`);
    await store.add({ content: lines.join("\n"), name: "d.txt", snapshotLabel: "one" });
    lines.splice(10, 2, "changed", "and more");
    lines.push("last");
    await store.add({ content: lines.join("\n"), name: "d.txt", snapshotLabel: "two" });
    const { diff } = await store.diff({ from: "one", to: "two", path: "d.txt" });
    expect(diff).toContain(
      "@@ -8,8 +8,8 @@\n line 7\n line 8\n line 9\n-line 10\n-line 11\n+changed\n+and more\n line 12",
    );
    expect(diff).toContain("+last");
  });
});

describe("gc", () => {
  it("removes unreferenced content but keeps documents, pins, versions and recent content without a document", async () => {
    const { store } = await temporaryStore();
    const kept = await store.add({ content: "kept", name: "kept" });
    await store.add({ content: "kept too", name: "kept" });
    const bare = await store.put(new TextEncoder().encode("bare"));
    await store.start({ label: "s" });
    const pinned = await store.add({ content: "pinned", name: "pinned" });
    await store.pin({ hash: pinned.hash as string });
    const gone = await store.add({ content: "gone", name: "gone" });
    await store.delete({ names: ["gone", "pinned"] });
    expect(await store.gc()).toMatchObject({ documents: 2, contents: 1, chunks: 1 });
    const has = (hash: string | null) => store.has(hash as typeof bare);
    expect(await has(gone.hash)).toBe(false);
    for (const hash of [kept.hash, pinned.hash, bare]) expect(await has(hash)).toBe(true);
    await expect(store.undelete({ name: "gone" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("leaves large results out of the keyword index, but grep still finds lines in them", async () => {
    const { store } = await temporaryStore();
    const content = `${"a line of a long answer\n".repeat(20_000)}the needle\n`;
    const { hash } = await store.add({ content, name: "long", collection: "results" });
    await store.add({ content: "a short answer with a needle", name: "short", collection: "results" });
    await store.indexed();
    const found = await store.search({ query: "needle", collection: "results", type: "keyword" });
    expect("results" in found && found.results.map(({ path }) => path)).toEqual(["short"]);
    const grepped = await store.grep({ pattern: "the needle", collection: "results" });
    expect("matches" in grepped && grepped.matches.map((match) => match.hash)).toEqual([hash]);
  });

  it("expires documents of the results collection after seven days", async () => {
    const { store, path } = await temporaryStore();
    const old = await store.add({ content: "old result", name: "old", collection: "results" });
    await store.add({ content: "new result", name: "new", collection: "results" });
    await store.add({ content: "old document", name: "document" });
    const db = rawDatabase(join(path, "content.sqlite"));
    db.exec("UPDATE documents SET indexed = indexed - 8 * 86400000 WHERE name <> 'new'");
    db.close();
    expect(await store.gc()).toMatchObject({ documents: 1, contents: 1 });
    expect(await paths(store)).toEqual(["document"]);
    expect(await paths(store, { collection: "results" })).toEqual(["new"]);
    await expect(store.get({ hash: old.hash as string })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("runs while others read and write", async () => {
    const { store, path } = await temporaryStore();
    for (let number = 0; number < 300; number++) await store.add({ content: `c${number}`, name: `n${number}` });
    await store.delete({ pattern: "n1*" });
    await using other = await openStore({ path });
    const [collected] = await Promise.all([
      store.gc(),
      ...Array.from({ length: 50 }, (_, number) => other.add({ content: `c1${number}`, name: `again${number}` })),
    ]);
    expect(collected.documents).toBe(111);
    expect(await store.list({ pattern: "again*" })).toMatchObject({ total: 50 });
    expect((await other.verify()).problems).toEqual([]);
  });
});

describe("export and import", () => {
  it("copy documents, versions and snapshots to another store", async () => {
    const { store, folder } = await temporaryStore();
    await store.add({ content: "first", name: "a", tags: ["t"], snapshotLabel: "one" });
    await store.add({ content: "second", name: "a", snapshotLabel: "two" });
    await store.add({ content: "trashed", name: "b" });
    await store.delete({ name: "b" });
    await store.export({ path: "copy.sqlite" });
    const other = await temporaryStore({ cwd: await temporaryFolder() });
    expect(await other.store.import({ path: join(folder, "copy.sqlite") })).toMatchObject({
      documents: 1,
      snapshots: 2,
    });
    expect((await other.store.get({ path: "a" })).versions).toHaveLength(2);
    expect(await other.store.diff({ from: "one", to: "two" })).toMatchObject({ modified: ["a"] });
    expect(await other.store.search({ query: "second", tags: ["t"], type: "keyword" })).toMatchObject({ total: 1 });
    expect(await other.store.verify()).toMatchObject({ ok: true });
  });
});

describe("an import", () => {
  it("reports a missing or invalid export file without blaming the store", async () => {
    const { store, folder } = await temporaryStore();
    makeFiles(folder, { "notes.md": "These are notes and no database, however long they become.\n".repeat(50) });
    await expect(store.import({ path: "nowhere" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: `File not found: ${join(folder, "nowhere")}`,
    });
    await expect(store.import({ path: "notes.md" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: `${join(folder, "notes.md")} is not an export in this format.`,
    });
    expect(await store.verify()).toMatchObject({ ok: true });
  });
});

describe("several processes", () => {
  it("see each other's writes, and lose none of the concurrent ones", async () => {
    const { store, path } = await temporaryStore();
    await using other = await openStore({ path });
    await Promise.all(
      Array.from({ length: 100 }, (_, number) =>
        (number % 2 ? store : other).add({ content: `text ${number % 10}`, name: `n${number}` }),
      ),
    );
    expect(await store.list()).toMatchObject({ total: 100 });
    expect(await other.search({ query: "text", type: "keyword" })).toMatchObject({ total: 100 });
    expect(await store.verify()).toMatchObject({ ok: true });
  });
});
