import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentIdOf } from "@trunkline/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "../../../../test/support/needs.js";
import { seededRandom } from "../../../../test/support/seed.js";
import { openStore, type Store } from "../../src/index.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { rawDatabase } from "../support/raw-database.js";
import { temporaryFolder, temporaryStore } from "../support/temporary.js";

const canMount = process.platform === "linux" && process.getuid?.() === 0;

const NEEDS_ROOT = needs("root on Linux", canMount);

function mountSmall(folder: string, size: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
}

/** Creates a closed store with two documents on its own file system, which `freeze` makes read-only. */
async function mountedStore(): Promise<{ folder: string; path: string; freeze: () => void }> {
  const folder = await temporaryFolder();
  const mounted = join(folder, "fixed");
  mountSmall(mounted, "20m");
  const path = join(mounted, "store");
  const store = await openStore({ path, cwd: folder, embedder: new FakeEmbedder() });
  await store.add({ content: "a heron\n", name: "kept.txt" });
  await store.add({ content: "export function wing() {}\n", name: "bird.ts" });
  await store.indexed();
  await store.close();
  return { folder, path, freeze: () => void execFileSync("mount", ["-o", "remount,ro", mounted]) };
}

/** Changes the stored bytes of one chunk behind the store's back. */
function damageChunk(path: string, hash: string): void {
  const db = rawDatabase(join(path, "content.sqlite"));
  const { data } = db.prepare("SELECT data FROM chunks WHERE hash = ?", "objects").get([Buffer.from(hash, "hex")]) as {
    data: Buffer;
  };
  data[data.length >> 1] = (data[data.length >> 1] as number) ^ 1;
  db.prepare("UPDATE chunks SET data = ? WHERE hash = ?", "objects").run([data, Buffer.from(hash, "hex")]);
  db.close();
}

describe("damage", () => {
  it("never returns a chunk with a flipped bit, reports it with its paths, and repairs it from the file", async () => {
    const { store, folder, path } = await temporaryStore();
    writeFileSync(join(folder, "a.txt"), "a text that will be damaged ".repeat(50));
    const { hash } = await store.add({ path: "a.txt" });
    await store.add({ content: "sound", name: "b.txt" });
    damageChunk(path, hash as string);
    await expect(store.get({ path: "a.txt", includeContent: true })).rejects.toMatchObject({ code: "IO" });
    const { ok, problems } = await store.verify();
    expect(ok).toBe(false);
    expect(problems).toContainEqual(expect.objectContaining({ kind: "chunk", hash, paths: [join(folder, "a.txt")] }));
    expect((await store.get({ path: "b.txt", includeContent: true })).content).toBe("sound");
    expect(await store.repair()).toMatchObject({ chunks: 1, lost: [] });
    expect(await store.verify()).toMatchObject({ ok: true });
    expect((await store.get({ path: "a.txt", includeContent: true })).size).toBe(1400);
  });

  it("detects flipped bits anywhere in the database file, and never answers with wrong bytes", async () => {
    const { store, path } = await temporaryStore();
    const contents = Array.from({ length: 40 }, () => seededRandom().bytes(9000));
    for (const [number, content] of contents.entries()) await store.add({ content, name: `n${number}` });
    await store.close();
    const db = rawDatabase(join(path, "content.sqlite"));
    db.pragma("wal_checkpoint(TRUNCATE)");
    db.close();
    const file = join(path, "content.sqlite");
    const size = statSync(file).size;
    const fd = openSync(file, "r+");
    // Beyond the first pages, which hold the schema: damage there keeps the store from opening at all.
    for (let at = 8192 * 40 + 3000; at < size; at += 40_000) writeSync(fd, Buffer.from([0x5a]), 0, 1, at);
    const damaged = await openStore({ path }).catch((error: unknown) => error);
    if (damaged instanceof Error) {
      expect(damaged).toMatchObject({ code: "IO" });
      return;
    }
    const again = damaged as Awaited<ReturnType<typeof openStore>>;
    onTestFinished(() => again.close());
    expect((await again.verify()).ok).toBe(false);
    for (const content of contents) {
      const got = await again.bytes(contentIdOf(content)).catch((error: unknown) => error);
      if (got instanceof Uint8Array) expect(Buffer.compare(got, content)).toBe(0);
      else expect(got).toMatchObject({ name: "TrunklineError" });
    }
  });

  it("rebuilds a missing or damaged index on opening", async () => {
    const { store, path } = await temporaryStore();
    for (let number = 0; number < 20; number++) await store.add({ content: `walrus ${number}`, name: `n${number}` });
    await store.close();
    const index = join(path, "index.sqlite");
    for (const harm of [() => rmSync(index), () => writeFileSync(index, seededRandom().bytes(50_000))]) {
      harm();
      for (const end of ["-wal", "-shm"]) rmSync(index + end, { force: true });
      await using again = await openStore({ path });
      expect(await again.search({ query: "walrus", type: "keyword" })).toMatchObject({ total: 20 });
      expect(await again.verify()).toMatchObject({ ok: true });
    }
  });

  it("notices an index that lost rows, and restores them with repair", async () => {
    const { store, path } = await temporaryStore();
    await store.add({ content: "narwhal", name: "n" });
    const db = rawDatabase(join(path, "index.sqlite"));
    db.exec("DELETE FROM keyword WHERE rowid > 0");
    db.close();
    expect(await store.verify()).toMatchObject({ ok: false, problems: [{ kind: "index" }] });
    expect(await store.repair()).toMatchObject({ documents: 1 });
    expect(await store.verify()).toMatchObject({ ok: true });
    expect(await store.search({ query: "narwhal", type: "keyword" })).toMatchObject({ total: 1 });
  });
});

describe("opening", () => {
  it("rejects a newer format and says so", async () => {
    const { store, path } = await temporaryStore();
    await store.close();
    const db = rawDatabase(join(path, "content.sqlite"));
    db.pragma("user_version = 99");
    db.close();
    await expect(openStore({ path })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringContaining("format 99"),
    });
  });

  it("rejects another program's database", async () => {
    const folder = await temporaryFolder();
    const db = rawDatabase(join(folder, "content.sqlite"));
    db.pragma("application_id = 1234");
    db.exec("CREATE TABLE theirs (x)");
    db.close();
    await expect(openStore({ path: folder })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it.skipIf(process.platform !== "linux")("fails if a folder cannot be created, even in /proc", async () => {
    for (const path of ["/proc/nowhere", "/proc/nowhere/deep/store", "/dev/null", "/dev/null/store"]) {
      await expect(openStore({ path })).rejects.toMatchObject({
        code: "IO",
        message: expect.stringContaining(`Cannot create the store's folder ${path}`),
      });
    }
  });

  it("rejects every change if opened read-only", async () => {
    const { store, path } = await temporaryStore();
    await store.add({ content: "x", name: "x" });
    await using reader = await openStore({ path, readOnly: true });
    expect(await reader.list({ pathsOnly: true })).toMatchObject({ paths: ["x"] });
    await expect(reader.add({ content: "y", name: "y" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("the disk", () => {
  it.skipIf(!canMount)(`reports a full disk and stays intact${NEEDS_ROOT}`, async () => {
    const folder = await temporaryFolder();
    mountSmall(join(folder, "small"), "6m");
    const path = join(folder, "small", "store");
    const store = await openStore({ path, cwd: folder });
    onTestFinished(() => store.close());
    await store.add({ content: "kept", name: "kept.txt" });
    writeFileSync(join(folder, "large.bin"), seededRandom().bytes(12_000_000));
    await expect(store.add({ path: "large.bin" })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringMatching(/full/),
    });
    expect((await store.get({ path: "kept.txt", includeContent: true })).content).toBe("kept");
    expect((await store.verify()).problems).toEqual([]);
  });

  it.skipIf(!canMount)(`reports a read-only folder${NEEDS_ROOT}`, async () => {
    const folder = await temporaryFolder();
    const mounted = join(folder, "fixed");
    mountSmall(mounted, "6m");
    execFileSync("mount", ["-o", "remount,ro", mounted]);
    await expect(openStore({ path: join(mounted, "store") })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringContaining("Cannot create the store's folder"),
    });
  });

  it.skipIf(!canMount)(`reads a store on a read-only file system, and rejects changes${NEEDS_ROOT}`, async () => {
    const { folder, path, freeze } = await mountedStore();
    freeze();
    await using store = await openStore({ path, cwd: folder, embedder: new FakeEmbedder() });
    // Like a second process: both can read.
    await using other = await openStore({ path, cwd: folder, embedder: new FakeEmbedder(), lazyWriter: true });
    for (const reader of [store, other]) {
      expect(await reader.search({ query: "heron", type: "keyword" })).toMatchObject({ total: 1 });
      expect(await reader.search({ query: "a heron", type: "semantic", limit: 1 })).toMatchObject({
        type: "semantic",
        results: [{ path: "kept.txt" }],
      });
      expect(await reader.grep({ pattern: "her.n" })).toMatchObject({ total: 1, truncated: false });
      expect(await reader.list({ pathsOnly: true })).toMatchObject({ paths: ["bird.ts", "kept.txt"] });
      expect(await reader.get({ path: "kept.txt", includeContent: true, graph: true })).toMatchObject({
        content: "a heron\n",
      });
      expect(await reader.graph({ name: "bird.ts" })).toMatchObject({
        nodes: expect.arrayContaining([expect.objectContaining({ name: "wing" })]),
      });
      expect(await reader.status()).toMatchObject({ totalObjects: 2 });
      expect(await reader.verify()).toMatchObject({ ok: true, problems: [] });
    }
    await store.restore({ collection: "default", outputDirectory: "out" });
    expect(readFileSync(join(folder, "out", "kept.txt"), "utf8")).toBe("a heron\n");
    const refused = { code: "IO", message: expect.stringMatching(/cannot be changed: its file system is read-only/) };
    await expect(store.add({ content: "x", name: "x" })).rejects.toMatchObject(refused);
    await expect(store.delete({ name: "kept.txt" })).rejects.toMatchObject(refused);
    await expect(store.start()).rejects.toMatchObject(refused);
    await expect(store.gc()).rejects.toMatchObject(refused);
  });

  it.skipIf(!canMount)(`reads what a killed process left, even if nothing is writable${NEEDS_ROOT}`, async () => {
    const folder = await temporaryFolder();
    const mounted = join(folder, "fixed");
    mountSmall(mounted, "20m");
    const path = join(mounted, "store");
    const store = await openStore({ path });
    await store.add({ content: "a heron", name: "kept.txt" });
    await store.indexed();
    // Data that is only in the write-ahead log must be read from there.
    cpSync(path, join(mounted, "killed"), { recursive: true });
    await store.close();
    expect(statSync(join(mounted, "killed", "content.sqlite-wal")).size).toBeGreaterThan(0);
    execFileSync("mount", ["-o", "remount,ro", mounted]);
    await using again = await openStore({ path: join(mounted, "killed") });
    expect(await again.search({ query: "heron", type: "keyword" })).toMatchObject({ total: 1 });
  });

  it.skipIf(!canMount)(`is searched even if only the databases themselves were copied${NEEDS_ROOT}`, async () => {
    const { folder, path, freeze } = await mountedStore();
    for (const name of readdirSync(path)) if (/-(?:wal|shm)$/.test(name)) rmSync(join(path, name));
    freeze();
    await using store = await openStore({ path, cwd: folder });
    expect(await store.search({ query: "heron", type: "keyword" })).toMatchObject({ total: 1 });
    expect(await store.search({ query: "heron" }, { principal: "ada" })).toMatchObject({ total: 1 });
    expect(await store.grep({ pattern: "her.n" })).toMatchObject({ total: 1, truncated: false });
    expect(await store.graph({ name: "bird.ts" })).toMatchObject({ nodes: [{ name: "wing" }, { name: "default" }] });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    await expect(store.add({ content: "x", name: "x" })).rejects.toMatchObject({ code: "IO" });
    expect(readdirSync(path).sort()).toEqual(["content.sqlite", "index.sqlite"]);
  });

  it.skipIf(!canMount)(`explains what to do if a part of the data cannot be read${NEEDS_ROOT}`, async () => {
    const { path, freeze } = await mountedStore();
    writeFileSync(join(path, "content.sqlite-wal"), "data that is not in the database yet");
    rmSync(join(path, "content.sqlite-shm"));
    freeze();
    await expect(openStore({ path })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringMatching(/content\.sqlite-shm is missing next to it/),
      hint: expect.stringMatching(/Copy the store/),
    });
  });

  it("can be read without write permission after each way of using it", async () => {
    const { store, folder, path } = await temporaryStore();
    await store.add({ content: "a heron", name: "kept.txt" });
    await store.close();
    const uses: readonly ((used: Store) => Promise<unknown>)[] = [
      (used) => used.search({ query: "bird", type: "semantic" }),
      (used) => used.search({ query: "heron" }),
      (used) => used.grep({ pattern: "heron" }),
      (used) => used.add({ content: "a fox", name: "fox.txt" }),
      (used) => used.restore({ collection: "default", outputDirectory: "out" }),
    ];
    for (const use of uses) {
      await using used = await openStore({ path, cwd: folder, lazyWriter: true, embedder: new FakeEmbedder() });
      await use(used);
      await used.indexed();
      await used.close();
      // SQLite needs these files, even empty ones, where it cannot create them.
      expect(readdirSync(path).filter((name) => /-(?:wal|shm)$/.test(name))).toHaveLength(4);
    }
  });

  it.skipIf(process.platform === "win32")(
    "reads for a user who cannot write to the folder, rejects changes, and says if it cannot even be read",
    () => {
      // Root can write everywhere, so the test switches to another user. An ordinary user stays as is.
      const script = fileURLToPath(new URL("../programs/without-permission.js", import.meta.url));
      const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(JSON.parse(stdout)).toEqual({
        folder: { found: 1, code: "IO", message: expect.stringMatching(/store is not writable\.$/) },
        files: { found: 1, code: "IO", message: expect.stringMatching(/content\.sqlite is not writable\.$/) },
        unreadableFile: {
          code: "IO",
          message: expect.stringMatching(/cannot be read: you have no permission to read \S+index\.sqlite\.$/),
          hint: "Ask its owner, or choose another folder with --store.",
        },
        unreadableFolder: {
          code: "IO",
          message: expect.stringMatching(/cannot be read: you have no permission to read \S+store\.$/),
          hint: "Ask its owner, or choose another folder with --store.",
        },
      });
    },
  );

  it("leaves only its own files in the folder", async () => {
    const { store, path } = await temporaryStore();
    await store.add({ content: "x", name: "x" });
    await store.close();
    // The empty files next to the databases keep the store readable when nothing can be written.
    expect(readdirSync(path).filter((name) => /-(?:wal|shm)$/.test(name))).toHaveLength(4);
    const names = readdirSync(path).map((name) => name.replace(/-(?:wal|shm)$/, ""));
    expect([...new Set(names)].sort()).toEqual(["content.sqlite", "index.sqlite"]);
    expect(readFileSync(join(path, "content.sqlite")).subarray(0, 15).toString()).toBe("SQLite format 3");
  });
});
