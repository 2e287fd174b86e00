// Migrations: from every released version, at once, refused, and offered at a terminal.
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Place } from "../../../test/e2e/command.js";
import { Terminal } from "../../../test/e2e/terminal.js";
import { migrate } from "../src/database/migrate.js";
import { MIGRATIONS } from "../src/database/migrations.js";
import { Database } from "../src/database/sql.js";
import { initPostgresStore, openPgDriver, openPostgresStore, SCHEMA_VERSION } from "../src/index.js";
import { databaseOf, type PostgresCluster, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";
import { fillSample, sampleOf } from "./support/sample-store.mjs";

const binaries = postgresBinaries();
const released = Array.from({ length: SCHEMA_VERSION - 1 }, (_, at) => at + 1);
const dumpOf = (version: number) => new URL(`released/${version}.sql`, import.meta.url);

const EXPECTED = {
  paths: ["a.md", "b.ts"],
  old: 1,
  current: "# Second pelican\n",
  tagged: ["a.md"],
  search: ["a.md"],
  grep: 1,
  types: ["collection", "file", "function", "heading", "tag", "version"],
  snapshots: ["before"],
  sessions: [["sample session", 3, 1]],
  restored: ["gone.md"],
  verified: [],
};

describe("released schemas", () => {
  it("have a dump each, so that the next migration can be tested from them", () => {
    expect(released.filter((version) => !existsSync(dumpOf(version)))).toEqual([]);
  });
});

describe.skipIf(binaries === undefined)("migrations (need postgresql)", () => {
  let cluster: PostgresCluster;
  let folder: string;
  let current: string;

  beforeAll(async () => {
    cluster = await startPostgres(binaries as string);
    folder = await mkdtemp(join(tmpdir(), "trunkline-migrations-"));
    const url = cluster.createDatabase();
    await initPostgresStore(url);
    const store = await openPostgresStore({ url, cwd: folder });
    await fillSample(store);
    await store.close();
    current = cluster.dump(databaseOf(url));
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const versionIn = (url: string) =>
    cluster.run("SELECT version FROM trunkline.schema_version", databaseOf(url)).trim();
  const withDatabase = async <T>(url: string, work: (database: Database) => Promise<T>) => {
    const driver = await openPgDriver({ url, logger: silentLogger });
    try {
      return await work(new Database(driver));
    } finally {
      await driver.close();
    }
  };

  it.each([...released, SCHEMA_VERSION])("keep everything that a store of version %s has", async (version) => {
    const url = cluster.load(version === SCHEMA_VERSION ? current : readFileSync(dumpOf(version), "utf8"));
    if (version < SCHEMA_VERSION) {
      await expect(openPostgresStore({ url })).rejects.toMatchObject({ data: { needsMigration: true } });
    }
    expect(await initPostgresStore(url)).toEqual({ from: version, to: SCHEMA_VERSION });
    await using store = await openPostgresStore({ url, cwd: folder });
    expect(await sampleOf(store)).toEqual(EXPECTED);
    await store.add({ name: "new.md", content: "after the migration" });
    expect(await store.search({ query: "migration", type: "keyword" })).toMatchObject({ total: 1 });
  });

  it("run once, in order, if several gateways start them at once", async () => {
    const url = cluster.load(current);
    const next = [...MIGRATIONS, "CREATE TABLE added (n integer)", "INSERT INTO added VALUES (1)"];
    const befores = await Promise.all([1, 2, 3].map(() => withDatabase(url, (database) => migrate(database, next))));
    expect(befores.sort()).toEqual([SCHEMA_VERSION, SCHEMA_VERSION + 2, SCHEMA_VERSION + 2]);
    expect(cluster.run("SELECT n FROM trunkline.added", databaseOf(url)).trim()).toBe("1");
    await expect(openPostgresStore({ url })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringContaining(`has schema version ${SCHEMA_VERSION + 2}`),
      hint: expect.stringContaining("Update Trunkline"),
    });
    await expect(initPostgresStore(url)).rejects.toThrow(/knows versions up to/);
  });

  it("change nothing if one of them fails", async () => {
    const url = cluster.load(current);
    const next = [...MIGRATIONS, "CREATE TABLE added (n integer)", "INSERT INTO missing VALUES (1)"];
    await expect(withDatabase(url, (database) => migrate(database, next))).rejects.toThrow(/missing/);
    expect([versionIn(url), cluster.run("SELECT to_regclass('trunkline.added')", databaseOf(url)).trim()]).toEqual([
      String(SCHEMA_VERSION),
      "",
    ]);
  });

  describe("of an older store", () => {
    /** Version 0 is an empty schema. */
    const older = () => {
      const url = cluster.createDatabase();
      cluster.run(
        "CREATE SCHEMA trunkline; CREATE TABLE trunkline.schema_version (version integer NOT NULL); INSERT INTO trunkline.schema_version VALUES (0)",
        databaseOf(url),
      );
      return url;
    };

    it("are not run by opening it, unless asked for", async () => {
      const url = older();
      await expect(openPostgresStore({ url })).rejects.toMatchObject({
        data: { needsMigration: true },
        hint: expect.stringContaining(`trunkline store init ${url}`),
      });
      expect(versionIn(url)).toBe("0");
      await (await openPostgresStore({ url, migrate: true })).close();
      expect(versionIn(url)).toBe(String(SCHEMA_VERSION));
    });

    it("are named without a terminal, and offered at one", async () => {
      using place = new Place({});
      const url = older();
      const { code, stderr } = await place.run(["store", "--store", url, "list"]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`trunkline store init ${url}`)]);
      expect((await place.run(["doctor"], { env: { TRUNKLINE_STORE: url } })).stdout).toContain("needs");
      const open = (args: readonly string[]) => {
        const terminal = new Terminal(place, args);
        onTestFinished(() => terminal.close());
        return terminal;
      };
      const refused = open(["store", "--store", url, "list"]);
      await refused.answer("cannot use it afterwards. [y/N] ", "n");
      expect((await refused.end()).code).toBe(1);
      expect(versionIn(url)).toBe("0");
      const accepted = open(["store", "--store", url, "status"]);
      await accepted.answer("cannot use it afterwards. [y/N] ", "y");
      expect((await accepted.end()).code).toBe(0);
      expect(versionIn(url)).toBe(String(SCHEMA_VERSION));
    });
  });
});
