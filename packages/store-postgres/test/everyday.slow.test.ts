// What people do with a store every day, and what happens to it over time, on PGlite.

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { contentIdOf } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

describe("a store on PostgreSQL in everyday use", () => {
  let folder: string;
  let db: PGlite;
  let store: PostgresStore;
  const client = { client: "ada" };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trunkline-everyday-"));
    db = await pgliteDatabase();
    store = await openPostgresStore({ driver: pgliteDriver(db), cwd: folder, folder: join(folder, ".own") });
  });

  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("downloads a page, and refuses a private address unless it is allowed", async () => {
    const server = createServer((_, response) => response.end("a page about pelicans"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/page.txt`;
    await expect(store.download({ url })).rejects.toMatchObject({ code: expect.any(String) });
    const { hash } = await store.download({ url }, { allowPrivateAddresses: true });
    expect(hash).toBe(contentIdOf("a page about pelicans"));
    expect((await store.search({ query: "pelicans", type: "keyword" })).total).toBe(1);
    await new Promise((resolve) => server.close(resolve));
  });

  it("watches files of this machine until the session ends", async () => {
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src", "a.ts"), "export const one = 1;\n");
    await store.start({}, client);
    await store.watch({ paths: ["src"] }, client);
    await writeFile(join(folder, "src", "b.ts"), "export const heron = 2;\n");
    await expect.poll(async () => (await store.search({ query: "heron", type: "keyword" })).total).toBe(1);
    await rm(join(folder, "src", "a.ts"));
    await expect.poll(async () => (await store.list({ pathsOnly: true })).total).toBe(1);
    await store.stop({}, client);
  });

  it("pins content for a session, and keeps it in gc until it is unpinned", async () => {
    const { sessionId } = await store.start({}, client);
    await store.add({ name: "a.txt", content: "pinned text" }, client);
    const { hash } = await store.pin({ path: "a.txt" }, client);
    await store.delete({ name: "a.txt" }, client);
    await store.gc();
    expect(await store.has(contentIdOf("pinned text"))).toBe(true);
    expect((await store.stop({}, client)).pinned).toEqual([hash]);
    await store.unpin({ hash, session: sessionId }, client);
    await store.gc();
    expect(await store.has(contentIdOf("pinned text"))).toBe(false);
  });

  it("reads and writes only what was checked for a client", async () => {
    const [first, other] = [join(folder, "a.md"), join(folder, "other.md")];
    await writeFile(first, "allowed");
    await writeFile(other, "not allowed");
    const limits = { realPaths: { [first]: first } };
    await store.add({ path: first }, { limits });
    // The path led elsewhere when it was checked.
    const moved = { realPaths: { [other]: first } };
    await expect(store.add({ path: other }, { limits: moved })).rejects.toMatchObject({ code: expect.any(String) });
    expect(await store.list({ pathsOnly: true })).toMatchObject({ paths: [first] });
    const output = join(folder, "out.md");
    await expect(
      store.get({ path: first, outputPath: output }, { limits: { realPaths: { [output]: other } } }),
    ).rejects.toMatchObject({ code: expect.any(String) });
    expect(existsSync(output)).toBe(false);
  });

  it("finds texts of snapshots again after repair", async () => {
    await store.add({ name: "a.md", content: "an old pelican" });
    await store.add({ name: "gone.md", content: "a removed pelican" });
    await store.snapshot({ label: "before" });
    await store.add({ name: "a.md", content: "a new heron" });
    await store.delete({ name: "gone.md" });
    const ask = async () =>
      (await store.search({ query: "pelican", snapshot: "before", type: "keyword" })).results
        .map(({ path, score }) => [path, score] as const)
        .sort();
    const before = await ask();
    expect(before).toHaveLength(2);
    await store.repair();
    await store.indexed();
    expect(await ask()).toEqual(before);
    expect((await store.search({ query: "pelican", type: "keyword" })).total).toBe(0);
  });

  it("counts documents that a tool has written", async () => {
    await store.add({ name: "package-lock.json", content: '{"lockfileVersion": 3}\n' });
    await store.add({ name: "a.ts", content: "export const a = 1;\n" });
    await store.indexed();
    expect(await store.status()).toMatchObject({ wordsOnly: { documents: 1, kinds: { lock: 1 } } });
    await store.repair();
    await store.indexed();
    expect(await store.status()).toMatchObject({ wordsOnly: { documents: 1, kinds: { lock: 1 } } });
    await store.delete({ name: "package-lock.json" });
    await store.gc();
    expect(await store.status()).not.toHaveProperty("wordsOnly");
  });

  it("removes stored results and bare contents after a week, and nothing earlier", async () => {
    await store.add({ name: "r.json", content: "a result", collection: "results" });
    await store.put(new TextEncoder().encode("bare"));
    await store.add({ name: "kept.md", content: "a document" });
    await store.gc();
    expect([await store.has(contentIdOf("a result")), await store.has(contentIdOf("bare"))]).toEqual([true, true]);
    const week = 7 * 24 * 60 * 60 * 1000 + 1000;
    await db.exec(
      `UPDATE trunkline.documents SET indexed = indexed - ${week}; UPDATE trunkline.contents SET kept_until = kept_until - ${week}`,
    );
    await store.gc();
    expect([await store.has(contentIdOf("a result")), await store.has(contentIdOf("bare"))]).toEqual([false, false]);
    expect(await store.list({ pathsOnly: true })).toMatchObject({ total: 1 });
    expect(await store.verify()).toMatchObject({ ok: true });
  });
});
