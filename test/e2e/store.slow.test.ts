// The `trunkline store …` commands as a user runs them: every call is a separate process in its own folder.
// @with-broker
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeFolder } from "../../packages/cli/src/app/folders.js";
import { rawDatabase } from "../../packages/store/test/support/raw-database.js";
import { outcomeOf, Place } from "./command.js";
import { json, store } from "./store-support.js";

// Each test runs a dozen processes, which is slow on a busy machine.
/** Two contents whose hashes share a prefix. */
const ALIKE = { contents: ["content 28149", "content 36680"], digits: "bba800c6" } as const;

const BINARY = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256));

function placeWithDocuments(): Place {
  const place = new Place({
    "docs/guide.md": "# Guide\nHow parseHTTPRequest works\nthird line\nlast line\n",
    "docs/deep/notes.txt": "the quick brown fox\n",
  });
  writeFileSync(join(place.cwd, "docs", "data.bin"), BINARY);
  return place;
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

describe("the location of the store", () => {
  it("is --store, then TRUNKLINE_STORE, then the project's folder unless it is empty, then the one in the home folder", () => {
    using place = new Place();
    const world = (env: Record<string, string>) => ({ cwd: place.cwd, home: place.home, env });
    expect(storeFolder(world({}), undefined)).toBe(join(place.home, "store"));
    mkdirSync(join(place.cwd, ".trunkline", "store"), { recursive: true });
    expect(storeFolder(world({}), undefined)).toBe(join(place.home, "store"));
    writeFileSync(join(place.cwd, ".trunkline", "store", "content.sqlite"), "");
    expect(storeFolder(world({}), undefined)).toBe(join(place.cwd, ".trunkline", "store"));
    expect(storeFolder(world({ TRUNKLINE_STORE: "/there" }), undefined)).toBe("/there");
    expect(storeFolder(world({ TRUNKLINE_STORE: "/there" }), "here")).toBe(join(place.cwd, "here"));
  });

  it("accepts --store before and after the command, and creates the store on first use", async () => {
    using place = placeWithDocuments();
    expect((await store(place, ["--store", "kept", "add", "docs/guide.md"])).code).toBe(0);
    expect(existsSync(join(place.cwd, "kept"))).toBe(true);
    expect((await store(place, ["list", "--paths-only", "--store", "kept"])).stdout).toBe("docs/guide.md\n");
  });
});

describe.concurrent("adding and finding", () => {
  it("adds a folder and finds its documents by word, list and name", async () => {
    using place = placeWithDocuments();
    const added = await json(place, ["add", "docs", "--tag", "manual", "--metadata", "lang=en", "--exclude", "*.bin"]);
    expect(added).toMatchObject({ files: 2, skipped: 0, path: join(place.cwd, "docs") });
    expect(added.snapshot_id).toBeTypeOf("string");

    const search = await store(place, ["search", "parse", "http", "request"]);
    expect(search).toMatchObject({ code: 0, stderr: "" });
    expect(search.stdout).toMatch(/docs\/guide\.md:2.*\n {2}How parseHTTPRequest works\n$/);
    const found = await json(place, ["search", "fox", "--type", "keyword", "--tag", "manual", "--metadata", "lang=en"]);
    expect(found).toMatchObject({ total: 1, type: "keyword" });
    expect(found.results[0].path).toBe(join(place.cwd, "docs", "deep", "notes.txt"));

    const listed = await store(place, ["list", "*.md"]);
    expect(listed.stdout).toMatch(/^56 B {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}[0-9a-f]{12} {2}\S+guide\.md {2}#manual\n$/);
    const page = await store(place, ["list", "--limit", "1", "--paths-only"]);
    expect(page.stderr).toMatch(/^1 of 2\. .*--cursor \S+ for more\.\n$/);
    const cursor = /--cursor (\S+)/.exec(page.stderr)?.[1] ?? "";
    expect((await store(place, ["list", "--paths-only", "--cursor", cursor])).stdout).toMatch(/notes\.txt\n$/);
  });

  it("adds stdin under a name", async () => {
    using place = new Place();
    const added = await json(place, ["add", "--name", "greeting.txt", "-"], { input: "hello there\n" });
    expect(added).toMatchObject({ path: "greeting.txt", hash: sha256("hello there\n") });
    expect((await store(place, ["get", "greeting.txt"])).stdout).toBe("hello there\n");
  });

  it("prints a whole document, its lines, its bytes and its earlier versions", async () => {
    using place = placeWithDocuments();
    await json(place, ["add", "docs/guide.md", "docs/data.bin"]);
    const before = readFileSync(join(place.cwd, "docs", "guide.md"), "utf8");
    const hash = sha256(before);
    place.write("docs/guide.md", "changed\n");
    await json(place, ["add", "docs/guide.md"]);
    const out = async (...args: string[]) => (await store(place, ["get", ...args])).stdout;

    expect(await out("docs/guide.md", "--version", "1")).toBe(before);
    expect(await out(`sha256:${hash.slice(0, 8)}`, "--lines", "2-3")).toBe("How parseHTTPRequest works\nthird line\n");
    expect(await out(hash, "--bytes", "2-6")).toBe("Guide");
    expect(await json(place, ["get", "guide.md", "--include-content"])).toMatchObject({
      content: "changed\n",
      version: 2,
      versions: [{ version: 1, hash }, { version: 2 }],
    });
    expect(await json(place, ["get", "guide.md"])).not.toHaveProperty("content");

    const written = await store(place, ["get", "data.bin", "--output", "copy.bin"]);
    expect(written).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(place.cwd, "copy.bin"))).toEqual(BINARY);
    const child = place.start(["store", "get", "data.bin"]);
    const pieces: Buffer[] = [];
    child.stdout?.on("data", (piece: Buffer) => pieces.push(piece));
    await new Promise((resolve) => child.once("close", resolve));
    expect(Buffer.concat(pieces)).toEqual(BINARY);
  });

  it("exits with 1 if nothing was found", async () => {
    using place = placeWithDocuments();
    const empty = await store(place, ["list"]);
    expect(empty).toMatchObject({ code: 1, stdout: "" });
    expect(empty.stderr).toMatch(/Nothing found: the store in \S+ is empty\./);
    await json(place, ["add", "docs"]);
    expect(await store(place, ["search", "zebra"])).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "Searched by keyword: no embedding model is available. To search by meaning, run `trunkline models pull`.\nNothing found.\n",
    });
    const asJson = await store(place, ["search", "zebra", "--format", "json"]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ total: 0, results: [] });
  });

  it("downloads into the store, but rejects private addresses and wrong checksums", async () => {
    using place = new Place();
    const server = createServer((_request, response) => response.end("from afar\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/far.txt`;
    try {
      const refused = await store(place, ["download", url]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toContain("not a public address");
      expect(refused.stderr).toContain('"download": {"allowPrivate": true}');
      const wrong = await store(place, ["download", url, "--allow-private", "--checksum", `sha256:${"0".repeat(64)}`]);
      expect(wrong).toMatchObject({ code: 1, stdout: "" });
      expect(wrong.stderr).toContain("Nothing was stored");
      const checksum = `sha256:${sha256("from afar\n")}`;
      const answer = await json(place, ["download", url, "--allow-private", "--checksum", checksum]);
      expect(answer).toMatchObject({ hash: sha256("from afar\n"), size: 10 });
    } finally {
      server.close();
    }
  });
});

describe.concurrent("status", () => {
  it("says how many documents are indexed for words only, and why", async () => {
    using place = new Place({ "package-lock.json": "{}", "map.js.map": "{}", "a.ts": "export const a = 1;\n" });
    await store(place, ["add", "."]);
    expect((await store(place, ["status"])).stdout).toMatch(
      /^indexed for words only +2 \(source maps: 1, lock files: 1\)$/m,
    );
    expect(await json(place, ["status"])).toMatchObject({ words_only: { documents: 2, kinds: { lock: 1 } } });
  });
});

describe.concurrent("changing", () => {
  it("sets tags and metadata", async () => {
    using place = placeWithDocuments();
    await json(place, ["add", "docs", "--tag", "old"]);
    expect(
      await json(place, ["update", "guide.md", "--tag", "new", "--remove-tag", "old", "--metadata", "a=b"]),
    ).toEqual({ matched: 1 });
    expect(await json(place, ["get", "guide.md"])).toMatchObject({ tags: ["new"], metadata: { a: "b" } });
    expect(await store(place, ["update", "guide.md"])).toMatchObject({ code: 2, stdout: "" });
    expect(await store(place, ["update", "none.md", "--tag", "x"])).toMatchObject({ code: 1, stdout: "" });
  });

  it("moves deleted documents to the trash, restores them, and empties the trash with gc", async () => {
    using place = placeWithDocuments();
    await json(place, ["add", "docs/guide.md", "docs/data.bin"]);
    const path = join(place.cwd, "docs", "guide.md");
    expect(await store(place, ["delete", "*.md", "--dry-run"])).toMatchObject({ code: 0, stdout: "docs/guide.md\n" });
    expect(await json(place, ["delete", "guide.md"])).toEqual({ deleted: [path], count: 1 });
    expect((await store(place, ["list", "*.md"])).code).toBe(1);
    expect(await store(place, ["undelete", "guide.md"])).toEqual({ code: 0, stdout: "docs/guide.md\n", stderr: "" });
    expect((await store(place, ["list", "*.md", "--paths-only"])).stdout).toBe("docs/guide.md\n");
    expect((await store(place, ["delete", "*.none"])).code).toBe(1);

    await json(place, ["delete", "data.bin"]);
    expect(await json(place, ["gc"])).toMatchObject({ documents: 1, contents: 1 });
    expect(await store(place, ["undelete", "data.bin"])).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("history", () => {
  it("restores a snapshot byte for byte, with modes and times, after everything has changed", async () => {
    using place = placeWithDocuments();
    const guide = join(place.cwd, "docs", "guide.md");
    chmodSync(guide, 0o750);
    utimesSync(guide, 1_700_000_000, 1_700_000_000);
    const original = readFileSync(guide);
    await json(place, ["add", "docs"]);
    const first = await json(place, ["snapshot", "--label", "before"]);
    expect(first).toMatchObject({ label: "before", documents: 3 });

    place.write("docs/guide.md", "# Guide\nsomething else\n");
    rmSync(join(place.cwd, "docs", "deep"), { recursive: true });
    place.write("docs/fresh.md", "fresh\n");
    await json(place, ["add", "docs", "--label", "after"]);
    expect((await store(place, ["diff", "before", "after"])).stdout).toBe(
      "A  docs/fresh.md\nM  docs/guide.md\nD  docs/deep/notes.txt\n",
    );
    expect((await store(place, ["diff", "before", "--path", "guide.md"])).stdout).toContain(
      "-How parseHTTPRequest works\n",
    );

    const dry = await store(place, ["restore", "before", "--to", "back", "--dry-run"]);
    expect(dry.stdout.trim().split("\n").sort()).toEqual(["data.bin", "deep/notes.txt", "guide.md"]);
    expect(existsSync(join(place.cwd, "back"))).toBe(false);
    expect(await json(place, ["restore", first.id, "--to", "back"])).toMatchObject({ restored: 3, conflicts: [] });
    const back = join(place.cwd, "back");
    expect(readFileSync(join(back, "guide.md"))).toEqual(original);
    expect(statSync(join(back, "guide.md")).mode & 0o777).toBe(0o750);
    expect(statSync(join(back, "guide.md")).mtimeMs).toBe(1_700_000_000_000);
    expect(readFileSync(join(back, "data.bin"))).toEqual(BINARY);
    expect(readFileSync(join(back, "deep", "notes.txt"), "utf8")).toBe("the quick brown fox\n");

    const conflict = await store(place, ["restore", "default", "--to", "back", "--include", "*.md"]);
    expect(conflict).toMatchObject({ code: 1 });
    expect(conflict.stderr).toContain("not restored: guide.md");
    expect(readFileSync(join(back, "guide.md"))).toEqual(original);
    expect((await store(place, ["restore", "default", "--to", "back", "--overwrite"])).code).toBe(0);
    expect(readFileSync(join(back, "guide.md"), "utf8")).toBe("# Guide\nsomething else\n");

    const { snapshots } = await json(place, ["snapshots"]);
    expect(snapshots.map(({ label }: { label: string | null }) => label)).toEqual(["after", "before", null]);
    expect((await store(place, ["collections"])).stdout).toMatch(/^default +3 documents .* 3 snapshots /);
  });
});

describe.concurrent("maintenance", () => {
  it("shows the status, verifies, repairs, and copies everything to another store", async () => {
    using place = placeWithDocuments();
    await json(place, ["add", "docs", "--label", "kept", "--collection", "manual"]);
    expect(await json(place, ["status"])).toMatchObject({ total_objects: 3, dedup_ratio: 0 });
    const status = await store(place, ["status"]);
    expect(status.stdout).toMatch(/^documents +3 in 2 collections$/m);

    expect((await store(place, ["verify"])).stdout).toMatch(/The store is intact\.\n$/);
    expect(await json(place, ["repair"])).toMatchObject({ documents: 3, chunks: 0, lost: [] });

    expect((await store(place, ["export", "all.trunkline"])).code).toBe(0);
    const again = await store(place, ["export", "all.trunkline"]);
    expect(again).toMatchObject({ code: 2, stdout: "" });
    const other = ["--store", "other"];
    expect(await json(place, ["import", "all.trunkline", ...other])).toMatchObject({ documents: 3, snapshots: 1 });
    expect((await store(place, ["get", "guide.md", ...other])).stdout).toBe(
      readFileSync(join(place.cwd, "docs", "guide.md"), "utf8"),
    );
    expect(await json(place, ["restore", "kept", "--to", "back", ...other])).toMatchObject({ restored: 3 });
    expect(await json(place, ["verify", ...other])).toMatchObject({ ok: true });
  });

  it("finds damage and exits with 1", async () => {
    using place = new Place();
    await json(place, ["add", "--name", "precious.txt", "-"], { input: `${"precious ".repeat(20)}\n` });
    const file = join(place.home, ".trunkline", "store", "content.sqlite");
    const database = rawDatabase(file);
    database.exec("UPDATE chunks SET data = zeroblob(length(data))");
    database.close();
    const { code, stdout } = await store(place, ["verify"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^damaged chunk [0-9a-f]{64}: .*\n {2}in precious\.txt$/m);
  });
});

describe.concurrent("invalid usage", () => {
  // One shared store: none of these commands changes it.
  const place = placeWithDocuments();
  beforeAll(async () => void (await json(place, ["add", "docs/guide.md"])));
  afterAll(() => place[Symbol.dispose]());

  it.each([
    [["add", "missing.txt"], 1, /Cannot open \S+missing\.txt: it does not exist/],
    [["add", "/dev/null"], 2, /neither a file nor a folder/],
    [["add", "-"], 2, /needs a name/],
    [["add", "docs", "--name", "x"], 2, /--name is for content from stdin/],
    [["add", "docs", "--metadata", "nothing"], 2, /"nothing" is not metadata/],
    [["get", "missing.txt"], 1, /has no document "missing\.txt"/],
    [["get", "guide.md", "--lines", "9-1"], 2, /is not a range of lines/],
    [["get", "guide.md", "--version", "zero"], 2, /"zero" is not a valid value for --version/],
    [["search"], 2, /What do you want to search for/],
    [["search", "x", "--type", "psychic"], 2, /Allowed choices are hybrid, keyword, semantic/],
    [["list", "--limit", "0"], 2, /Give a whole number of at least 1/],
    [["list", "--collection", "none"], 1, /has no collection "none"/],
    [["restore", "none", "--to", "x"], 1, /no snapshot and no collection "none"/],
    [["restore", "default"], 2, /--to/],
    [["verify", "--store", "nowhere"], 1, /There is no store in \S+nowhere/],
    [["list", "--store", "nowhere"], 1, /There is no store in \S+nowhere/],
    [["list", "--store", "docs"], 1, /There is no store in \S+docs/],
    [["copy", "nowhere", "copied"], 1, /There is no store in \S+nowhere/],
    [["copy", "docs", "copied"], 1, /There is no store in \S+docs/],
    [["import", "docs/guide.md"], 2, /not an export/],
    [["frobnicate"], 2, /unknown command/],
  ])("%j exits with %i", async (args, code, message) => {
    const outcome = await store(place, args);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toContain("    at ");
  });

  it("lists the matches of an ambiguous hash and of an ambiguous name", async () => {
    using alike = new Place({ "a/same.txt": ALIKE.contents[0], "b/same.txt": ALIKE.contents[1] });
    await json(alike, ["add", "a", "b"]);
    const hash = await store(alike, ["get", ALIKE.digits]);
    expect(hash).toMatchObject({ code: 2, stdout: "" });
    for (const content of ALIKE.contents) expect(hash.stderr).toContain(sha256(content));
    const name = await store(alike, ["get", "same.txt"]);
    expect(name).toMatchObject({ code: 2, stdout: "" });
    expect(name.stderr).toMatch(/a\/same\.txt.*b\/same\.txt/);
    expect((await json(alike, ["search", "--hash", ALIKE.digits])).total).toBe(2);
  });

  it("shows help with examples", async () => {
    const { code, stdout } = await store(place, ["--help"]);
    expect(code).toBe(0);
    for (const part of ["Usage: trunkline store", "Examples:", "trunkline store add", "TRUNKLINE_STORE"])
      expect(stdout).toContain(part);
    expect((await store(place, [])).code).toBe(2);
  });
});

describe("several processes", () => {
  it("can add documents at the same time without losing any", async () => {
    using place = new Place();
    const folders = ["one", "two"];
    for (const folder of folders) {
      for (let index = 0; index < 40; index++) place.write(`${folder}/${index}.txt`, `${folder} ${index} shared\n`);
    }
    const outcomes = await Promise.all(
      folders.map((folder) => {
        const child = place.startProcess(["store", "add", folder, "--json"]);
        child.stdin?.end();
        return outcomeOf(child);
      }),
    );
    for (const { code, stdout } of outcomes) {
      expect(code).toBe(0);
      expect(JSON.parse(stdout).files).toBe(40);
    }
    expect(await json(place, ["status"])).toMatchObject({ total_objects: 80 });
    expect(await json(place, ["search", "shared", "--limit", "100", "--paths-only"])).toMatchObject({ total: 80 });
    expect(await json(place, ["verify"])).toMatchObject({ ok: true });
  });
});
