// A store that a project brings along, or that someone has changed: it is not opened before the user approves it, and
// even then nothing in it runs.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { runProgram } from "../../packages/cli/src/program.js";
import { openChunk } from "../../packages/store/src/engine/content/prepare.js";
import { runUnprotected } from "../../packages/store/test/support/raw-database.js";
import { Place } from "../e2e/command.js";

/** A project with a store that another user created. */
async function plantedPlace(): Promise<Place> {
  const place = new Place({ "a.md": "pelican" });
  const elsewhere = { env: { HOME: join(place.base, "attacker") } };
  mkdirSync(elsewhere.env.HOME);
  expect(
    (await place.run(["init"], { env: { ...elsewhere.env, TRUNKLINE_HOME: join(place.base, "attacker") } })).code,
  ).toBe(0);
  return place;
}

const storeIn = (place: Place) => join(place.cwd, ".trunkline", "store");

/** Runs the command as at a terminal and answers every question. */
async function atTerminal(place: Place, args: readonly string[], answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const stdout = new PassThrough();
  let shown = "";
  stderr.on("data", (text: Buffer) => {
    shown += text.toString();
    if (/\[y\/N\] $/.test(shown)) stdin.write(`${answer}\n`);
  });
  stdout.resume();
  const env = { PATH: process.env.PATH ?? "", HOME: place.home, TERM: "dumb" };
  const code = await runProgram(args, { stdin, stdout, stderr, env, cwd: place.cwd, userHome: place.home });
  return { code, shown };
}

describe("a store that came with a project", () => {
  it("is not used by any command, and not changed", async () => {
    using place = await plantedPlace();
    const before = readFileSync(join(storeIn(place), "content.sqlite"));
    for (const args of [
      ["store", "list"],
      ["store", "add", "a.md"],
      ["store", "gc"],
      ["init"],
      ["query", '[{"op":"status"}]'],
      ["execute", '[{"op":"add","params":{"path":"a.md"}}]'],
    ]) {
      const { code, stdout, stderr } = await place.run(args);
      expect([args, code === 0, `${stdout}${stderr}`]).toEqual([
        args,
        false,
        expect.stringContaining("trunkline trust --store"),
      ]);
    }
    expect(readFileSync(join(storeIn(place), "content.sqlite")).equals(before)).toBe(true);
    // A store that the user names is the user's own choice.
    expect((await place.run(["store", "list", "--store", ".trunkline/store"])).code).toBe(0);
  });

  it("is not used even if it is an empty folder", async () => {
    using place = new Place({ "a.md": "x", ".trunkline/store/.gitkeep": "" });
    expect(await place.run(["store", "add", "a.md"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("was not created here by you"),
    });
    expect(readdirSync(storeIn(place))).toEqual([".gitkeep"]);
  });

  it("is asked about once at a terminal", async () => {
    using place = await plantedPlace();
    const refused = await atTerminal(place, ["store", "list"], "n");
    expect([refused.code, refused.shown]).toEqual([1, expect.stringContaining("was not created here by you")]);
    expect((await atTerminal(place, ["store", "list"], "y")).code).toBe(0);
    const later = await atTerminal(place, ["store", "list"], "n");
    expect(later).toMatchObject({ code: 0, shown: expect.not.stringContaining("[y/N]") });
    expect((await place.run(["store", "list"])).code).toBe(0);
  });

  it("is used after `trunkline trust --store`, but not a copy of it, and not one that replaced it", async () => {
    using place = await plantedPlace();
    expect((await place.run(["trust", "--store"])).code).toBe(2);
    expect((await place.run(["trust", "--store", "--yes"])).code).toBe(0);
    expect((await place.run(["trust", "--list"])).stdout).toContain(join(place.cwd, ".trunkline", "store"));
    expect((await place.run(["store", "list"])).code).toBe(0);

    const copy = join(place.base, "copy");
    cpSync(place.cwd, copy, { recursive: true });
    expect((await place.run(["store", "list"], { cwd: copy })).stderr).toContain("was moved or copied");

    using other = await plantedPlace();
    renameSync(storeIn(place), join(place.base, "old"));
    cpSync(storeIn(other), storeIn(place), { recursive: true });
    expect((await place.run(["store", "list"])).stderr).toContain("was replaced with another one");
    renameSync(storeIn(place), join(place.base, "new"));
    renameSync(join(place.base, "old"), storeIn(place));
    expect((await place.run(["store", "list"])).code).toBe(0);
    await place.run(["trust", "--store", "--revoke"]);
    expect((await place.run(["store", "list"])).code).toBe(1);
  });
});

describe("links in place of a store", () => {
  it("are not followed to the store of another project", async () => {
    using place = new Place({ "good/a.md": "secret plans", "evil/b.md": "", "worse/.trunkline/x": "" });
    const good = join(place.cwd, "good");
    expect((await place.run(["init"], { cwd: good })).code).toBe(0);
    symlinkSync("../good/.trunkline", join(place.cwd, "evil", ".trunkline"));
    symlinkSync("../../good/.trunkline/store", join(place.cwd, "worse", ".trunkline", "store"));
    for (const name of ["evil", "worse"]) {
      for (const args of [["store", "list"], ["init"], ["trust", "--store", "--yes"]]) {
        const { code, stdout, stderr } = await place.run(args, { cwd: join(place.cwd, name) });
        expect([name, args, code, stdout]).toEqual([name, args, 1, ""]);
        expect(stderr).toContain("is a symbolic link");
      }
    }
  });

  it.each(["content.sqlite", "content.sqlite-wal", "content.sqlite-shm", "index.sqlite", "index.sqlite-wal"])(
    "are not followed for %s",
    async (name) => {
      using place = new Place({ "a.md": "x" });
      await place.run(["init"]);
      const file = join(storeIn(place), name);
      const target = join(place.home, "target");
      renameSync(file, target);
      const before = readFileSync(target);
      symlinkSync(target, file);
      const { code, stderr } = await place.run(["store", "add", "a.md"]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${name} is a symbolic link`)]);
      expect(readFileSync(target).equals(before)).toBe(true);
    },
  );

  it("do not make gc or a download touch files elsewhere", async () => {
    using place = new Place({ "a.md": "x" });
    await place.run(["init"]);
    const victim = join(place.home, "documents");
    mkdirSync(victim);
    for (const name of ["thesis.doc", `${"a".repeat(32)}.part`]) {
      writeFileSync(join(victim, name), "mine");
      utimesSync(join(victim, name), 1, 1);
    }
    symlinkSync(victim, join(storeIn(place), "partial"));
    await place.run(["store", "gc"]);
    const { stderr } = await place.run(["store", "download", "http://127.0.0.1:1/x", "--allow-private"]);
    expect(stderr).toContain("is a symbolic link");
    expect(readdirSync(victim)).toHaveLength(2);
  });

  it("do not make init write to another file", async () => {
    using place = new Place({ ".trunkline/x": "" });
    const victim = join(place.home, ".bashrc");
    writeFileSync(victim, "# mine\n");
    symlinkSync(victim, join(place.cwd, ".trunkline", ".gitignore"));
    expect((await place.run(["init"])).code).toBe(0);
    expect(readFileSync(victim, "utf8")).toBe("# mine\n");
    expect(readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")).toContain("/store/");
  });

  it("do not make `servers add` write to another file", async () => {
    using place = new Place({ ".trunkline/x": "", "dangling/.trunkline/x": "" });
    const victim = join(place.home, "settings.json");
    writeFileSync(victim, "{}");
    symlinkSync(victim, join(place.cwd, ".trunkline", "mcp.json"));
    symlinkSync(join(place.home, "new.json"), join(place.cwd, "dangling", ".trunkline", "mcp.json"));
    const add = ["servers", "add", "x", "--project", "--", "echo"];
    expect((await place.run(add)).code).not.toBe(0);
    expect((await place.run(add, { cwd: join(place.cwd, "dangling") })).code).not.toBe(0);
    expect(readFileSync(victim, "utf8")).toBe("{}");
    expect(existsSync(join(place.home, "new.json"))).toBe(false);
  });

  it("do not make `install --project` write to another file", async () => {
    using place = new Place({ ".git/HEAD": "", "sub/.git/HEAD": "", "sub/.cursor/x": "" });
    const victim = join(place.home, "settings.json");
    writeFileSync(victim, "{}");
    symlinkSync(victim, join(place.cwd, ".mcp.json"));
    symlinkSync(join(place.home, "new.json"), join(place.cwd, "sub", ".cursor", "mcp.json"));
    const { code, stderr } = await place.run(["install", "claude-code", "--project", "--yes"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("leads out of the project")]);
    const cursor = ["install", "cursor", "--project", "--yes"];
    expect((await place.run(cursor, { cwd: join(place.cwd, "sub") })).code).not.toBe(0);
    expect(readFileSync(victim, "utf8")).toBe("{}");
    expect(existsSync(join(place.home, "new.json"))).toBe(false);
  });

  it("init keeps the store out of Git, even if the project's rules take that back", async () => {
    using place = new Place({ ".trunkline/.gitignore": "/store/\n!/store/\n" });
    expect((await place.run(["init"])).code).toBe(0);
    expect(
      readFileSync(join(place.cwd, ".trunkline", ".gitignore"), "utf8")
        .trimEnd()
        .split("\n")
        .at(-1),
    ).toBe("/store/");
  });
});

describe("a store with a foreign schema", () => {
  const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
  it.each([
    ["an endless view", `CREATE VIEW extra AS ${ENDLESS} SELECT i FROM n`],
    [
      "an endless view in place of a table",
      `DROP TABLE pins; CREATE VIEW pins AS ${ENDLESS} SELECT i AS session, i AS content, i AS pinned FROM n`,
    ],
    ["a trigger", "CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM chunks; END"],
    ["a temporary-looking trigger on facts", "CREATE TRIGGER t AFTER UPDATE ON facts BEGIN DELETE FROM chunks; END"],
    ["a virtual table", "CREATE VIRTUAL TABLE v USING fts5(x)"],
    ["an extra table", "CREATE TABLE extra (x)"],
    ["a generated column", "ALTER TABLE pins ADD COLUMN g AS (hex(zeroblob(500000000)))"],
    ["an index on an expression", "CREATE INDEX e ON documents (hex(path))"],
    ["a missing index", "DROP INDEX documents_by_name"],
    [
      "a definition changed in the schema table",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'title TEXT', 'title TEXT DEFAULT (hex(randomblob(9)))') WHERE name = 'documents'",
    ],
  ])("is rejected: %s", { timeout: 120_000 }, async (_, sql) => {
    using place = new Place({ "a.md": "x" });
    await place.run(["store", "add", "a.md"]);
    runUnprotected(join(place.home, ".trunkline", "store", "content.sqlite"), sql);
    expect((await place.run(["store", "list"])).stderr).toContain("was changed by another program");
    expect((await place.run(["store", "add", "a.md"])).stderr).toContain("was changed by another program");
  });

  it("is rejected before its tables are created", { timeout: 120_000 }, async () => {
    using place = new Place({ "a.md": "x" });
    const folder = join(place.home, ".trunkline", "store");
    mkdirSync(folder, { recursive: true });
    runUnprotected(
      join(folder, "content.sqlite"),
      "CREATE TABLE x (y); CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM x; END",
    );
    expect((await place.run(["store", "add", "a.md"])).stderr).toContain("was changed by another program");
  });

  it("is rejected as an export", { timeout: 120_000 }, async () => {
    using place = new Place({ "a.md": "x" });
    await place.run(["store", "add", "a.md"]);
    await place.run(["store", "export", "out.trunkline"]);
    runUnprotected(join(place.cwd, "out.trunkline"), `DROP TABLE pins; CREATE VIEW pins AS ${ENDLESS} SELECT i FROM n`);
    const { code, stderr } = await place.run(["store", "import", "out.trunkline"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("was changed by another program")]);
  });

  it.each([
    ["other bytes under the hash of a file", "UPDATE content_chunks SET chunk = 3 - chunk"],
    ["another size", "UPDATE contents SET size = size + 1"],
    ["bytes added", "INSERT INTO content_chunks SELECT content, position + 1, chunk FROM content_chunks"],
    ["no bytes", "DELETE FROM content_chunks"],
  ])("is rejected as an export with %s, which would lose a file that is added later", async (_, sql) => {
    using place = new Place({ "a.md": "the real one", "b.md": "the evil one" });
    const own = ["--store", "own"];
    await place.run(["store", "add", "a.md", "b.md", ...own]);
    await place.run(["store", "export", "out.trunkline", ...own]);
    runUnprotected(join(place.cwd, "out.trunkline"), sql);
    const { code, stderr } = await place.run(["store", "import", "out.trunkline"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("does not match its hash")]);
    await place.run(["store", "add", "a.md"]);
    expect((await place.run(["store", "get", "a.md"])).stdout).toBe("the real one");
  });

  it.each([
    ["a trigger", "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END"],
    ["an endless view", `DROP TABLE rank_changed; CREATE VIEW rank_changed AS ${ENDLESS} SELECT i AS entry FROM n`],
    ["an extra table", "CREATE TABLE extra (x)"],
  ])("in its index is replaced: %s", { timeout: 120_000 }, async (_, sql) => {
    using place = new Place({ "a.md": "pelican", "b.md": "heron" });
    await place.run(["store", "add", "a.md"]);
    const folder = join(place.home, ".trunkline", "store");
    runUnprotected(join(folder, "index.sqlite"), sql);
    expect((await place.run(["store", "add", "b.md"])).code).toBe(0);
    expect((await place.run(["store", "search", "pelican"])).stdout).toContain("a.md");
    expect(existsSync(join(folder, "index.sqlite.damaged"))).toBe(true);
  });
});

describe("compressed content", () => {
  /** A zstd frame of runs of one byte: 128 KiB for each 4 bytes. */
  function bomb(bytes: number, claimed = bytes): Buffer {
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000, 0, 0, 0, 0]);
    header.writeUInt32LE(claimed, 5);
    const blocks: Buffer[] = [];
    for (let left = bytes; left > 0; left -= 131_072) {
      const size = Math.min(left, 131_072);
      const block = Buffer.alloc(4);
      block.writeUIntLE((size << 3) | 2 | (left <= 131_072 ? 1 : 0), 0, 3);
      blocks.push(block);
    }
    return Buffer.concat([header, ...blocks]);
  }

  it("expands only to its recorded size", () => {
    const before = process.memoryUsage.rss();
    const open = (data: Uint8Array, size: number) => openChunk({ hash: "0".repeat(64), size, codec: 1, data });
    const huge = 400 * 1024 * 1024;
    for (const [data, size] of [
      [bomb(huge), 65_536],
      [bomb(huge), huge],
      [bomb(huge, 65_536), 65_536],
      [Buffer.concat([bomb(65_536), bomb(huge)]), 65_536],
    ] as const) {
      expect(() => open(data, size)).toThrow(/is damaged/);
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  });

  it("is not read again and again if a content lists the same chunk many times", async () => {
    using place = new Place({ "a.md": Array.from({ length: 9000 }, (_, index) => String(index)).join(" ") });
    await place.run(["store", "add", "a.md"]);
    runUnprotected(
      join(place.home, ".trunkline", "store", "content.sqlite"),
      `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
       INSERT INTO content_chunks SELECT 1, i, 1 FROM n`,
    );
    const before = process.memoryUsage.rss();
    const { code, stderr } = await place.run(["store", "get", "a.md"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("is damaged")]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(500 * 1024 * 1024);
  });
});
