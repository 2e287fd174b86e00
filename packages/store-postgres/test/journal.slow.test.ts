// The journal in the database, read at another gateway.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { Place } from "../../../test/e2e/command.js";
import { openPostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";
import { databaseOf, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();

describe("the journal in the database", () => {
  it("keeps the order, and a limited number of rows for a limited time", async () => {
    const db = await pgliteDatabase();
    await using store = await openPostgresStore({ driver: pgliteDriver(db), logger: silentLogger });
    const journal = store.journalLines();
    await journal.append(["a", "b"]);
    expect((await journal.after(0, 10)).map(({ line }) => line)).toEqual(["a", "b"]);
    await db.exec("UPDATE trunkline.journal SET at = now() - interval '91 days' WHERE line = 'a'");
    await db.exec("ALTER TABLE trunkline.journal ALTER id RESTART WITH 200002");
    await journal.append(Array.from({ length: 1000 }, (_, n) => `line ${n}`));
    const first = (await journal.after(0, 1))[0];
    expect(first?.line).toBe("line 0");
    expect((await journal.before(undefined, 1))[0]?.line).toBe("line 999");
  });
});

describe.skipIf(binaries === undefined)("trunkline log with a store on PostgreSQL (needs postgresql)", () => {
  it("shows what another gateway was asked, and no password if the database is away", async () => {
    await using cluster = await startPostgres(binaries as string);
    const url = cluster.createDatabase();
    using one = new Place({});
    using two = new Place({});
    await one.run(["store", "init", url]);
    const env = { TRUNKLINE_STORE: url };
    expect(await one.run(["query", '[{"op":"status"},{"op":"list"}]'], { env })).toMatchObject({ code: 0 });
    const { stdout } = await two.run(["log", "--json"], { env });
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { operation: string }).operation),
    ).toEqual(expect.arrayContaining(["status", "list"]));
    expect(Number(cluster.run("SELECT count(*) FROM trunkline.journal", databaseOf(url)))).toBeGreaterThan(1);
    // By the user's settings, too.
    mkdirSync(join(two.home, ".trunkline"), { recursive: true });
    writeFileSync(join(two.home, ".trunkline", "settings.json"), JSON.stringify({ store: url }));
    expect((await two.run(["log"])).stdout).toContain("status");
    cluster.stop();
    const away = await two.run(["log"], {
      env: { TRUNKLINE_STORE: url.replace("postgres@", "postgres:s3cret-word@") },
    });
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining("Cannot reach")]);
    expect(away.stderr).not.toContain("s3cret");
  });
});
