import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTrunklineError, silentLogger } from "@trunkline/core";
import { asContentStore } from "@trunkline/store";
import { contentStoreCases } from "@trunkline/store/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPgDriver } from "../src/database/pg-driver.js";
import { Database } from "../src/database/sql.js";
import { initPostgresStore, openPostgresStore, type PostgresStore, SCHEMA_VERSION } from "../src/index.js";
import { mergeWords } from "../src/indexing/merge-words.js";
import { type PostgresCluster, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();

describe.skipIf(binaries === undefined)(
  "the store on a PostgreSQL server (needs its programs, Debian: postgresql)",
  () => {
    let cluster: PostgresCluster;
    let folder: string;

    beforeAll(async () => {
      cluster = await startPostgres(binaries as string);
      folder = await mkdtemp(join(tmpdir(), "trunkline-real-"));
    });

    afterAll(async () => {
      await cluster?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    for (const { name, run } of contentStoreCases) {
      it(name, async () => {
        const own = await mkdtemp(join(folder, "case-"));
        const url = cluster.createDatabase();
        await initPostgresStore(url);
        await run({
          folder: own,
          open: async () => asContentStore(await openPostgresStore({ url, cwd: own, folder: join(own, ".own") })),
        });
      });
    }

    it("is created once by several gateways at the same time", async () => {
      const url = cluster.createDatabase();
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => initPostgresStore(url)));
      expect(outcomes.filter(({ from }) => from === undefined)).toHaveLength(1);
      expect(outcomes.every(({ to }) => to === SCHEMA_VERSION)).toBe(true);
    });

    it("refuses a schema of a newer version and a database without a store", async () => {
      const url = cluster.createDatabase();
      await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: "NOT_FOUND" });
      await initPostgresStore(url);
      cluster.run("UPDATE trunkline.schema_version SET version = 99", url.slice(url.lastIndexOf("/") + 1));
      await expect(openPostgresStore({ url })).rejects.toThrow(/has schema version 99/);
    });

    it("shares documents, searches and background work between gateways", async () => {
      const url = cluster.createDatabase();
      await initPostgresStore(url);
      await using one = await openPostgresStore({ url, cwd: folder });
      await using two = await openPostgresStore({ url, cwd: folder });
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          (n % 2 === 0 ? one : two).add({ content: `export function gateway${n}() {}\n`, name: `f${n}.ts` }),
        ),
      );
      await Promise.all([one.indexed(), two.indexed()]);
      expect((await one.list({ pathsOnly: true })).total).toBe(40);
      expect((await two.search({ query: "gateway7", type: "keyword" })).results[0]?.path).toBe("f7.ts");
      expect(await one.grep({ pattern: "gateway3[0-9]", count: true })).toMatchObject({ total: 10 });
      expect(await two.graph({ listTypes: true })).toEqual({
        types: [
          { type: "file", count: 40 },
          { type: "function", count: 40 },
          { type: "collection", count: 1 },
        ],
      });
      expect(await one.verify()).toMatchObject({ ok: true });
    });

    it("finds at one gateway what another one has acknowledged, and not what it has removed", async () => {
      const url = cluster.createDatabase();
      await initPostgresStore(url);
      await using one = await openPostgresStore({ url, cwd: folder });
      await using two = await openPostgresStore({ url, cwd: folder });
      const total = async (store: PostgresStore, query: string) =>
        (await store.search({ query, type: "keyword", fuzzy: false })).total;
      const database = new Database(await openPgDriver({ url, logger: silentLogger, connections: 1 }));
      for (let n = 0; n < 30; n++) {
        const [writer, reader] = n % 2 === 0 ? [one, two] : [two, one];
        await writer.add({ content: `shared word${n} first\n`, name: `${n}.md` });
        // Several at once: they share what the gateway keeps in memory.
        const asked = [`word${n}`, "shared", `word${n}`, "first"].map((query) => total(reader, query));
        expect(await Promise.all(asked)).toEqual([1, n + 1, 1, n + 1 - Math.floor((n + 4) / 5)]);
        // Words move to blocks now and then.
        if (n % 7 === 3) await database.write({}, (sql) => mergeWords(sql, 1));
        if (n % 5 === 0) {
          await reader.add({ content: `shared word${n} second\n`, name: `${n}.md` });
          expect(await Promise.all([total(writer, "second"), total(writer, `word${n}`)])).toEqual([n / 5 + 1, 1]);
        }
      }
      await two.delete({ name: "7.md" });
      expect([await total(one, "word7"), await total(one, "shared")]).toEqual([0, 29]);
      await one.repair();
      expect([await total(two, "word7"), await total(two, "shared"), await total(two, "second")]).toEqual([0, 29, 6]);
      await database.driver.close();
    });

    it("reports STORE_UNAVAILABLE while the server is down and recovers by itself", async () => {
      const url = cluster.createDatabase();
      await initPostgresStore(url);
      await using store = await openPostgresStore({ url, cwd: folder });
      await store.add({ content: "before", name: "a.txt" });
      cluster.stop("immediate");
      try {
        const failure: unknown = await store.list().catch((error: unknown) => error);
        expect(isTrunklineError(failure, "STORE_UNAVAILABLE") && failure.retryable).toBe(true);
        await expect(store.add({ content: "while down", name: "b.txt" })).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
        });
      } finally {
        cluster.start();
      }
      await expect
        .poll(() => store.list({ pathsOnly: true }).catch(() => undefined))
        .toEqual({ paths: ["a.txt"], total: 1 });
      await store.add({ content: "after", name: "c.txt" });
      expect((await store.search({ query: "after", type: "keyword" })).total).toBe(1);
    });

    it("goes on after its connections were ended", async () => {
      const url = cluster.createDatabase();
      await initPostgresStore(url);
      await using store = await openPostgresStore({ url, cwd: folder });
      await store.add({ content: "one", name: "a.txt" });
      cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trunkline'");
      await expect
        .poll(() =>
          store.status().then(
            () => "there",
            () => "gone",
          ),
        )
        .toBe("there");
    });

    it("never shows a password", async () => {
      const url = "postgres://ada:s3cret-pw@127.0.0.1:1/store";
      const failure = (await openPostgresStore({ url }).catch((error: unknown) => error)) as Error;
      expect(failure).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(JSON.stringify([failure.message, failure.stack, failure])).not.toContain("s3cret-pw");
    });
  },
);
