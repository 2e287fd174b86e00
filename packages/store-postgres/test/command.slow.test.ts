// The command with a store in a real server: init, everyday use, and copies in both directions.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Place } from "../../../test/e2e/command.js";
import { type PostgresCluster, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();

describe.skipIf(binaries === undefined)("trunkline with a store on PostgreSQL (needs postgresql)", () => {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await startPostgres(binaries as string);
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  it("creates a store, uses it by flag, environment and settings, and names a missing one", async () => {
    using place = new Place({ "notes/a.md": "# Pelicans\n\nfish in pairs\n" });
    const url = cluster.createDatabase();
    const before = await place.run(["store", "--store", url, "list"]);
    expect([before.code, before.stderr]).toEqual([1, expect.stringContaining("has no store")]);
    expect(await place.run(["store", "init", url])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^created a store in 127\.0\.0\.1:/),
    });
    expect(await place.run(["store", "init", url])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("already"),
    });
    expect(await place.run(["store", "--store", url, "add", "notes"])).toMatchObject({ code: 0, stderr: "" });
    const env = { TRUNKLINE_STORE: url };
    expect(await place.run(["store", "search", "pelicans", "--type", "keyword"], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("a.md"),
    });
    // A project must not be able to say where its user's documents go.
    place.write(".trunkline/settings.json", { store: url });
    expect(await place.run(["store", "grep", "pairs"])).toMatchObject({ code: 1, stdout: "" });
    mkdirSync(join(place.home, ".trunkline"), { recursive: true });
    writeFileSync(join(place.home, ".trunkline", "settings.json"), JSON.stringify({ store: url }));
    expect(await place.run(["store", "grep", "pairs"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("fish in pairs"),
    });
  });

  it("copies a store into a database and back, with its history, and goes on with an interrupted copy", async () => {
    using place = new Place({ "a.md": "one", "b.md": "two" });
    const url = cluster.createDatabase();
    await place.run(["store", "init", url]);
    const at = (store: string, ...args: string[]) => place.run(["store", "--store", store, ...args]);
    await at("first", "add", "a.md", "b.md", "--tag", "kept");
    await at("first", "snapshot", "--label", "before");
    await at("first", "add", "--name", "a.md", "--content", "one changed").catch(() => undefined);
    await at("first", "delete", "b.md");
    const copied = await place.run(["store", "copy", "first", url]);
    expect(copied).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("every content and document was verified"),
    });
    expect(await place.run(["store", "copy", "first", url])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("copied before"),
    });
    expect(await place.run(["store", "copy", url, "second"])).toMatchObject({ code: 0 });
    const listed = async (store: string, ...args: string[]) =>
      JSON.parse((await at(store, "list", "--format", "json", "--paths-only", ...args)).stdout) as unknown;
    for (const filter of [[], ["--snapshot", "before"], ["--tag", "kept"]]) {
      const theirs = await listed("first", ...filter);
      expect([await listed(url, ...filter), await listed("second", ...filter)]).toEqual([theirs, theirs]);
    }
    expect(await at(url, "undelete", "b.md")).toMatchObject({ code: 0 });
    expect(await at(url, "verify")).toMatchObject({ code: 0 });
  });

  it("exports and imports files that either engine reads", async () => {
    using place = new Place({ "a.md": "travels in a file" });
    const [one, two] = [cluster.createDatabase(), cluster.createDatabase()];
    for (const url of [one, two]) await place.run(["store", "init", url]);
    const at = (store: string, ...args: string[]) => place.run(["store", "--store", store, ...args]);
    await at(one, "add", "a.md");
    expect(await at(one, "export", "all.trunkline")).toMatchObject({ code: 0 });
    for (const store of [two, "folder"]) {
      expect(await at(store, "import", "all.trunkline")).toMatchObject({ code: 0 });
      expect(await at(store, "search", "travels", "--type", "keyword")).toMatchObject({ code: 0 });
    }
  });

  it("never shows the password of an address", async () => {
    using place = new Place({});
    const url = "postgres://ada:pelican-s3cret@127.0.0.1:1/store";
    for (const args of [
      ["store", "--store", url, "list"],
      ["store", "init", url],
      ["store", "copy", url, "x"],
    ]) {
      const { code, stdout, stderr } = await place.run(args);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain("pelican-s3cret");
      expect(stderr).toContain("127.0.0.1:1");
    }
  });
});
