import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryStore } from "../support/temporary.js";

/** Reads every file below a folder: its bytes, mode and time. */
function picture(folder: string): Record<string, { bytes: string; mode: number; mtimeMs: number }> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode, mtimeMs } = statSync(path);
      return [
        path.slice(folder.length + 1),
        { bytes: readFileSync(path).toString("hex"), mode: mode & 0o777, mtimeMs: Math.round(mtimeMs) },
      ];
    }),
  );
}

function write(path: string, content: string | Uint8Array, { mode = 0o644, seconds = 1_600_000_000 } = {}): void {
  writeFileSync(path, content);
  chmodSync(path, mode);
  utimesSync(path, seconds, seconds);
}

describe("restore", () => {
  it.skipIf(process.platform === "win32")(
    "restores each of two snapshots byte for byte, with modes and times, whatever was edited since then",
    async () => {
      const { store, folder } = await temporaryStore();
      const work = join(folder, "work");
      mkdirSync(join(work, "deep", "er"), { recursive: true });
      write(join(work, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
      write(join(work, "secret"), "only mine", { mode: 0o600, seconds: 1_500_000_000 });
      write(join(work, "empty"), "");
      write(
        join(work, "deep", "er", "all.bin"),
        Uint8Array.from({ length: 70_000 }, (_, at) => (at * at) % 256),
      );
      write(join(work, "deep", "a\nname with ünïcödé"), "crlf\r\nand no newline at the end");
      const before = picture(work);
      await store.add({ path: "work" });
      const first = await store.snapshot({ label: "before" });

      write(join(work, "run.sh"), "#!/bin/sh\necho changed\n", { mode: 0o700, seconds: 1_650_000_000 });
      // Change only the mode of one and only the time of the other.
      chmodSync(join(work, "empty"), 0o640);
      utimesSync(join(work, "secret"), 1_655_000_000, 1_655_000_000);
      rmSync(join(work, "deep", "er"), { recursive: true });
      write(join(work, "new.txt"), "new");
      const after = picture(work);
      await store.add({ path: "work" });
      await store.snapshot({ label: "after" });
      rmSync(work, { recursive: true });
      await store.gc();

      await store.restore({ snapshotId: first.id, outputDirectory: "first" });
      await store.restore({ snapshotId: "after", outputDirectory: "second" });
      expect(picture(join(folder, "first"))).toEqual(before);
      expect(picture(join(folder, "second"))).toEqual(after);
    },
  );

  it("never writes outside its folder, whatever the documents are called and whatever links are in the way", async () => {
    const { store, folder } = await temporaryStore();
    const out = join(folder, "out");
    const outside = join(folder, "outside");
    mkdirSync(out);
    mkdirSync(outside);
    writeFileSync(join(outside, "victim.txt"), "untouched");
    const names = [
      "../up.txt",
      "a/../../up2.txt",
      "..",
      "/abs/olute.txt",
      "line\nfeed.txt",
      "link/in.txt",
      "file-link",
    ];
    for (const name of names) await store.add({ content: `content of ${name}`, name });
    symlinkSync(outside, join(out, "link"));
    symlinkSync(join(outside, "victim.txt"), join(out, "file-link"));

    const result = await store.restore({ collection: "default", outputDirectory: "out", overwrite: true });

    expect(readdirSync(folder).sort()).toEqual([".store", "out", "outside"]);
    expect(readdirSync(outside)).toEqual(["victim.txt"]);
    expect(readFileSync(join(outside, "victim.txt"), "utf8")).toBe("untouched");
    expect(existsSync("/abs/olute.txt")).toBe(false);
    expect(readFileSync(join(out, "abs", "olute.txt"), "utf8")).toBe("content of /abs/olute.txt");
    expect(readFileSync(join(out, "line\nfeed.txt"), "utf8")).toBe("content of line\nfeed.txt");
    expect(result.restored).toBe(2);
    expect(result.conflicts).toHaveLength(5);
    for (const { reason } of result.conflicts) expect(reason).not.toBe("");
  });
});
