import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOf, saveBackup } from "../../src/move/move-backup.js";
import { type PlannedWrite, writeAll } from "../../src/move/move-files.js";
import { applyRestore, type RestoreStep } from "../../src/move/move-restore.js";
import { createContext } from "../../src/terminal/context.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-move-"));
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

function contextIn(folder: string) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  return createContext({ ...streams, env: { TRUNKLINE_HOME: join(folder, "own") }, cwd: folder, userHome: folder });
}

const pathOf = (name: string) => join(base, name);
const textOf = (name: string) => readFileSync(pathOf(name), "utf8");
const backups = () => readdirSync(join(base, "own", "backups"));

/** Plans to replace "old" by "new" in a file. */
function replacing(name: string, { program, write }: { program?: string; write?: () => void } = {}): PlannedWrite {
  const path = pathOf(name);
  writeFileSync(path, "old");
  const [before, after] = [hashOf("old"), hashOf("new")];
  const about = { path, target: path, program, format: "json", removed: [], copied: [] } as const;
  return {
    record: { ...about, existed: true, mode: 0o644, before, after },
    before: Buffer.from("old"),
    write: async () => {
      writeFileSync(path, "new");
      write?.();
    },
  };
}

function fail(): never {
  throw Object.assign(new Error("full"), { code: "ENOSPC" });
}

describe("writeAll", () => {
  it("puts every file back if one cannot be written", async () => {
    const writes = [replacing("own.json"), replacing("a.json", { program: "cursor" })];
    const failing = { ...replacing("b.json", { program: "gemini" }), write: async () => fail() };
    await expect(writeAll(contextIn(base), [...writes, failing])).rejects.toThrow("All other files are as they were.");
    expect(["own.json", "a.json", "b.json"].map(textOf)).toEqual(["old", "old", "old"]);
    expect(backups()).toEqual([]);
  });

  it("keeps the servers and the backup if a file that was written has changed since", async () => {
    const writes = [
      replacing("own.json"),
      replacing("a.json", { program: "claude-code" }),
      replacing("b.json", { program: "cursor", write: () => writeFileSync(pathOf("a.json"), "newer") }),
      { ...replacing("c.json", { program: "gemini" }), write: async () => fail() },
    ];
    const outcome = writeAll(contextIn(base), writes);
    await expect(outcome).rejects.toThrow(
      `${pathOf("a.json")} could not be put back. The servers stay in ${pathOf("own.json")}.`,
    );
    expect(["own.json", "a.json", "b.json", "c.json"].map(textOf)).toEqual(["new", "newer", "old", "old"]);
    expect(backups().length).toBe(1);
  });

  it("does not say that nothing was written after something was", async () => {
    const writes = [
      replacing("own.json", { write: () => writeFileSync(pathOf("a.json"), "changed") }),
      replacing("a.json", { program: "cursor" }),
    ];
    await expect(writeAll(contextIn(base), writes)).rejects.toThrow(
      "has changed since it was read. All other files are as they were.",
    );
    expect(["own.json", "a.json"].map(textOf)).toEqual(["old", "changed"]);
  });

  it("leaves nothing of a backup that cannot be completed", async () => {
    const write = replacing("a.json", { program: "cursor" });
    const full = new (class extends Map<string, Uint8Array> {
      override get = fail;
    })();
    await expect(saveBackup(contextIn(base), [write.record], full)).rejects.toThrow("Cannot save the backup");
    expect(backups()).toEqual([]);
  });
});

describe("applyRestore", () => {
  const stepOf = async (names: readonly string[]): Promise<RestoreStep[]> => {
    const writes = names.map((name) => replacing(name, { program: "cursor" }));
    const backup = await writeAll(contextIn(base), writes);
    const bytes = { now: Buffer.from("new"), next: Buffer.from("old") };
    return backup.files.map((file) => ({ backup, file, outcome: "exact", notes: [], settled: [], ...bytes }));
  };

  it("restores nothing if one of the files has changed", async () => {
    const steps = await stepOf(["a.json", "b.json"]);
    writeFileSync(pathOf("b.json"), "newer");
    await expect(applyRestore(steps)).rejects.toThrow("has changed since it was read. Nothing was restored.");
    expect(["a.json", "b.json"].map(textOf)).toEqual(["new", "newer"]);
  });

  it("says how many files are restored if it has to stop", async () => {
    mkdirSync(pathOf("real"));
    symlinkSync(pathOf("real"), pathOf("link"));
    const [first, second] = await stepOf(["real/a.json", "b.json"]);
    if (first === undefined || second === undefined) throw new Error("There are two steps.");
    // Restoring the first file changes the second one, which is the same.
    const same = { ...second, file: { ...second.file, target: pathOf("link/a.json") } };
    await expect(applyRestore([first, same])).rejects.toThrow("1 of 2 files is restored.");
    expect(existsSync(first.backup.folder)).toBe(true);
  });
});
