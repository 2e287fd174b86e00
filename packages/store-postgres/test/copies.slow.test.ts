// Copies between engines: everything comes along, an interrupted copy goes on, and nothing is overwritten by accident.
import { once } from "node:events";
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentIdOf } from "@trunkline/core";
import { copyStore, openStore, type Store } from "@trunkline/store";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Place } from "../../../test/e2e/command.js";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";
import { databaseOf, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();

describe("a copy between engines", () => {
  let folder: string;
  let embedded: Store;
  let postgres: PostgresStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trunkline-copies-"));
    embedded = await openStore({ path: ".first", cwd: folder });
    postgres = await openPostgresStore({
      driver: pgliteDriver(await pgliteDatabase()),
      cwd: folder,
      folder: join(folder, ".own"),
      openEmbedded: (path) => openStore({ path }),
    });
  });

  afterEach(async () => {
    await embedded.close();
    await postgres.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Something of everything that a store can have. */
  async function fill(store: Store | PostgresStore): Promise<string> {
    const client = { client: "test" };
    mkdirSync(join(folder, "docs"), { recursive: true });
    for (const [name, mode] of [
      ["a.md", 0o644],
      ["run.sh", 0o755],
    ] as const) {
      writeFileSync(join(folder, "docs", name), `# ${name}\n\npelican\n`);
      chmodSync(join(folder, "docs", name), mode);
      utimesSync(join(folder, "docs", name), 1_600_000_000, 1_600_000_000.5);
    }
    const { sessionId } = await store.start({ label: "work" }, client);
    await store.add({ path: "docs", tags: ["doc"], metadata: { level: 3, nested: { a: [1] } } }, client);
    await store.add({ name: "note.md", content: "first", collection: "notes" }, client);
    await store.snapshot({ label: "before", collection: "notes" });
    await store.add({ name: "note.md", content: "second", collection: "notes" }, client);
    await store.add({ name: "trash.md", content: "thrown away" }, client);
    await store.delete({ name: "trash.md" }, client);
    await store.add({ name: "back.md", content: "was deleted once" }, client);
    await store.delete({ name: "back.md" }, client);
    await store.undelete({ name: "back.md" }, client);
    await store.update({ name: "note.md", collection: "notes", tags: ["kept"] }, client);
    const pinned = await store.put(new TextEncoder().encode("only pinned"));
    await store.pin({ hash: pinned, session: sessionId }, client);
    await store.put(new TextEncoder().encode("only put"));
    await store.stop({}, client);
    return sessionId;
  }

  const everything = async (store: Store | PostgresStore) => {
    const { documents, sessions, contents, roots } = await store.transferState();
    const byPath = <T extends { path: string }>(rows: readonly T[]) =>
      [...rows].sort((a, b) => (a.path < b.path ? -1 : 1));
    return {
      documents: byPath(documents).map((document) => ({ ...document, tags: [...document.tags].sort() })),
      sessions: sessions.map((session) => ({ ...session, documents: byPath(session.documents) })),
      contents: contents.map(({ hash }) => hash).sort(),
      roots,
      snapshots: (await store.listSnapshots()).snapshots,
      collections: (await store.listCollections()).collections.map(({ name, documents: count }) => [name, count]),
    };
  };

  it.each(["embedded to PostgreSQL", "PostgreSQL to embedded"])("brings everything along: %s", async (direction) => {
    const [from, to] = direction.startsWith("embedded") ? [embedded, postgres] : [postgres, embedded];
    await fill(from);
    const result = await copyStore(from, to);
    expect(result).toMatchObject({ documents: 4, sessions: 1, snapshots: 2, resumed: 0 });
    expect(await everything(to)).toEqual(await everything(from));
    expect(await to.has(contentIdOf("only put"))).toBe(true);
    expect((await to.search({ query: "first", snapshot: "before", type: "keyword" })).total).toBe(1);
    await to.undelete({ name: "trash.md" });
    await to.delete({ name: "trash.md" });
    await to.gc();
    expect(await to.has(contentIdOf("only pinned"))).toBe(true);
    expect(await to.verify()).toMatchObject({ ok: true, problems: [] });
  });

  it("goes on where it was interrupted, also if gc has removed a part of the history meanwhile", async () => {
    for (let n = 0; n < 120; n++) await embedded.add({ name: `${n}.md`, content: `text ${n}` });
    await embedded.delete({ pattern: "1*.md" });
    const stop = new AbortController();
    const interrupted = copyStore(embedded, postgres, {
      signal: stop.signal,
      onProgress: ({ message, progress }) => {
        if (message === "history" && progress > 0) stop.abort();
      },
    });
    await expect(interrupted).rejects.toThrow();
    await embedded.gc();
    await embedded.add({ name: "new.md", content: "added meanwhile" });
    await embedded.update({ name: "2.md", tags: ["later"] });
    expect(await copyStore(embedded, postgres)).toMatchObject({ resumed: expect.any(Number) });
    const paths = async (store: Store | PostgresStore) =>
      (await store.transferState()).documents.filter(({ state }) => state === "live").map(({ path }) => path);
    const there = new Set(await paths(postgres));
    // The copy may still have what the original has thrown away since.
    expect((await paths(embedded)).filter((path) => !there.has(path))).toEqual([]);
    expect(await postgres.list({ tags: ["later"], pathsOnly: true })).toMatchObject({ paths: ["2.md"] });
    // A copy of a store that did not change brings nothing.
    expect(await copyStore(embedded, postgres)).toMatchObject({ newBytes: 0 });
    expect(await postgres.verify()).toMatchObject({ ok: true });
  });

  it("brings a snapshot that was taken after the last copy, though no document has changed since", async () => {
    await embedded.add({ name: "a.md", content: "one" });
    await copyStore(embedded, postgres);
    await embedded.snapshot({ label: "later" });
    await copyStore(embedded, postgres);
    await copyStore(embedded, postgres);
    const { snapshots } = await embedded.listSnapshots();
    expect((await postgres.listSnapshots()).snapshots).toEqual(snapshots);
    expect(snapshots.map(({ label }) => label)).toContain("later");
  });

  it.each(["embedded to PostgreSQL", "PostgreSQL to embedded"])(
    "can be repeated after gc has emptied the trash of either store: %s",
    async (direction) => {
      const [from, to] = direction.startsWith("embedded") ? [embedded, postgres] : [postgres, embedded];
      const client = { client: "test" };
      await from.start({}, client);
      await from.add({ name: "a.md", content: "one" }, client);
      await from.snapshot({ label: "kept" });
      await from.add({ name: "a.md", content: "two" }, client);
      await from.add({ name: "b.md", content: "three" }, client);
      await from.delete({ names: ["a.md", "b.md"] }, client);
      await copyStore(from, to);
      await to.gc();
      await copyStore(from, to);
      await from.gc();
      expect(await copyStore(from, to)).toMatchObject({ documents: 0, newBytes: 0 });
      expect(await to.list({ snapshot: "kept", pathsOnly: true })).toMatchObject({ paths: ["a.md"] });
    },
  );

  it.each(["embedded to PostgreSQL", "PostgreSQL to embedded"])(
    "is complete although others change the store meanwhile, and the next copy brings their changes: %s",
    async (direction) => {
      const [from, to] = direction.startsWith("embedded") ? [embedded, postgres] : [postgres, embedded];
      await from.add({ name: "a.md", content: "one" });
      const original = from.history.bind(from);
      const changing = vi.spyOn(from, "history").mockImplementationOnce(async () => {
        await from.add({ name: "a.md", content: "two" });
        return await original();
      });
      await copyStore(from, to);
      expect(changing).toHaveBeenCalledTimes(1);
      expect(await to.get({ path: "a.md", includeContent: true })).toMatchObject({ content: "one" });
      await copyStore(from, to);
      expect(await to.get({ path: "a.md", includeContent: true })).toMatchObject({ content: "two" });
    },
  );

  it("travels through an export of either engine", async () => {
    await fill(postgres);
    await postgres.export({ path: "from-postgres.trunkline" });
    await embedded.import({ path: "from-postgres.trunkline" });
    expect(await everything(embedded)).toEqual(await everything(postgres));
    await embedded.export({ path: "from-embedded.trunkline" });
    await using second = await openPostgresStore({
      driver: pgliteDriver(await pgliteDatabase()),
      cwd: folder,
      folder: join(folder, ".own"),
      openEmbedded: (path) => openStore({ path }),
    });
    await second.import({ path: "from-embedded.trunkline" });
    expect(await everything(second)).toEqual(await everything(embedded));
  });

  it("is not complete if a document differs", async () => {
    await embedded.add({ name: "a.md", content: "one" });
    const to = Object.create(postgres, {
      id: { value: postgres.id },
    }) as PostgresStore;
    const own = {
      ...{ has: postgres.has, put: postgres.put, bytes: postgres.bytes, history: postgres.history },
      ...{ replayed: postgres.replayed, replay: postgres.replay, takeState: postgres.takeState },
    };
    for (const [name, method] of Object.entries(own))
      Object.defineProperty(to, name, { value: (method as (...args: unknown[]) => unknown).bind(postgres) });
    Object.defineProperty(to, "transferState", {
      value: async () => {
        const state = await postgres.transferState();
        return { ...state, documents: state.documents.map((document) => ({ ...document, mtime: 1 })) };
      },
    });
    await expect(copyStore(embedded, to)).rejects.toThrow(/"a.md" differs/);
  });
});

describe.skipIf(binaries === undefined)("trunkline store copy (needs postgresql)", () => {
  it("goes on after kill -9, and changes a store with other documents only with --merge", async () => {
    await using cluster = await startPostgres(binaries as string);
    using place = new Place({});
    const url = cluster.createDatabase();
    await place.run(["store", "init", url]);
    const source = await openStore({ path: join(place.cwd, "first") });
    for (let n = 0; n < 350; n++) await source.add({ name: `${n}.md`, content: `text ${n}` });
    await source.close();
    const copied = () =>
      Number(
        cluster.run("SELECT coalesce(max(value), 0) FROM trunkline.facts WHERE key LIKE 'copied%'", databaseOf(url)),
      );
    const running = place.startProcess(["store", "copy", "first", url]);
    const ended = once(running, "close");
    await expect.poll(copied, { interval: 5 }).toBeGreaterThan(0);
    running.kill("SIGKILL");
    await ended;
    expect(copied()).toBeLessThan(350);
    const again = await place.run(["store", "copy", "first", url]);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/copied 350 documents.*copied before.*verified/),
    });
    expect((await place.run(["store", "--store", url, "verify"])).code).toBe(0);

    await place.run(["store", "--store", "other", "add", "--name", "0.md", "-"], { input: "another text" });
    const refused = await place.run(["store", "copy", "other", url]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/has 350 documents already[\s\S]*--merge/),
    ]);
    expect(await place.run(["store", "copy", "other", url, "--merge"])).toMatchObject({ code: 0 });
    expect((await place.run(["store", "--store", url, "get", "0.md"])).stdout).toContain("another text");
  });
});
