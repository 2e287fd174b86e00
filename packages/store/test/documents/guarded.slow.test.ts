// What a store does not add or overwrite, and who can read it.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HANG_MS } from "../../../../test/support/hang.js";
import { openStore, type Store } from "../../src/index.js";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-guarded-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function write(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

async function pathsIn(store: Store): Promise<string[]> {
  const listed = await store.list({ pathsOnly: true });
  return "paths" in listed ? [...listed.paths].sort() : [];
}

describe("folders of Git, Trunkline and the program", () => {
  it("are not added with the folder around them, even through links", async () => {
    const folder = temporaryFolder();
    write(folder, {
      "work/a.md": "a",
      "work/.git/config": "x",
      "work/sub/.Git/config": "x",
      "work/.trunkline/mcp.json": "x",
      "work/sub/.TRUNKLINE/settings.json": "x",
      "work/own/settings.json": "x",
      "work/owner/b.md": "b",
    });
    symlinkSync(join(folder, "work", ".trunkline", "mcp.json"), join(folder, "work", "link-1"));
    symlinkSync(join(folder, "work", "own", "settings.json"), join(folder, "work", "link-2"));
    const ownFolders = [join(folder, "work", "own")];
    await using store = await openStore({ path: join(folder, "store"), cwd: folder, ownFolders });
    await store.add({ path: "work" });
    expect(await pathsIn(store)).toEqual([join(folder, "work", "a.md"), join(folder, "work", "owner", "b.md")]);
  });

  it("are not watched", async () => {
    const folder = temporaryFolder();
    write(folder, { "work/a.md": "a", "work/.trunkline/x": "x", "work/own/x": "x" });
    const ownFolders = [join(folder, "work", "own")];
    await using store = await openStore({ path: join(folder, "store"), cwd: folder, ownFolders });
    await store.start({});
    await store.watch({ paths: ["work"] });
    write(folder, { "work/.trunkline/mcp.json": "x", "work/own/settings.json": "x", "work/.git/config": "x" });
    symlinkSync(join(folder, "work", "own", "x"), join(folder, "work", "link"));
    write(folder, { "work/b.md": "b" });
    await vi.waitFor(async () => expect(await pathsIn(store)).toContain(join(folder, "work", "b.md")), HANG_MS);
    expect(await pathsIn(store)).toEqual([join(folder, "work", "b.md")]);
  });

  it("are not written by restore, whatever the documents are called", async () => {
    const folder = temporaryFolder();
    const unwritable = [join(folder, "out", "work.json")];
    const options = { path: join(folder, "store"), cwd: folder, ownFolders: [join(folder, "out", "own")], unwritable };
    await using store = await openStore(options);
    const names = [
      ".git/config",
      "sub/.GIT/hooks/x",
      ".trunkline/mcp.json",
      "own/settings.json",
      "Own/x",
      "work.json",
      ".git",
    ];
    for (const name of [...names, "owner/a.md"]) await store.add({ content: "x", name, collection: "c" });
    for (const dryRun of [true, false]) {
      const result = await store.restore({ collection: "c", outputDirectory: "out", overwrite: true, dryRun });
      expect(result.restored).toBe(1);
      expect(result.conflicts.map(({ path }) => path).sort()).toEqual([...names].sort());
      for (const { reason } of result.conflicts) expect(reason).toContain("Trunkline");
    }
    expect(readdirSync(join(folder, "out"))).toEqual(["owner"]);
  });
});

describe.skipIf(process.platform === "win32")("a store", () => {
  const modesIn = (folder: string) =>
    Object.fromEntries(
      ["", ...readdirSync(folder).filter((name) => name.includes(".sqlite"))].map((name) => [
        name,
        (statSync(join(folder, name)).mode & 0o777).toString(8),
      ]),
    );
  const PRIVATE = {
    "": "700",
    ...Object.fromEntries(
      ["content", "index"].flatMap((name) => ["", "-shm", "-wal"].map((end) => [`${name}.sqlite${end}`, "600"])),
    ),
  };

  it("is readable only by its owner, while open and afterwards", async () => {
    const path = join(temporaryFolder(), "deep", "store");
    {
      await using store = await openStore({ path });
      await store.add({ content: "x", name: "x" });
      expect(modesIn(path)).toEqual(PRIVATE);
    }
    expect(modesIn(path)).toEqual(PRIVATE);
  });

  it.each([{}, { lazyWriter: true }, { readOnly: true }])("becomes private when opened with %j", async (options) => {
    const path = join(temporaryFolder(), "store");
    await (await openStore({ path })).close();
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o644);
    chmodSync(path, 0o755);
    await using store = await openStore({ path, ...options });
    await store.list({});
    expect(modesIn(path)).toEqual(PRIVATE);
  });

  it("does not change the permissions of a folder with other files in it", async () => {
    const path = temporaryFolder();
    chmodSync(path, 0o755);
    write(path, { "index.html": "mine" });
    await using store = await openStore({ path });
    await store.add({ content: "x", name: "x" });
    expect(modesIn(path)).toEqual({ ...PRIVATE, "": "755" });
    expect(existsSync(join(path, "index.html"))).toBe(true);
  });
});
