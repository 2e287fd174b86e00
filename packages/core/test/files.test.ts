import { once } from "node:events";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isFolder, isFolderSync, makeFolder, placeFileSync, resolvedPath, writeFileAtomically } from "../src/index.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-files-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const isWindows = process.platform === "win32";
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("makeFolder", () => {
  it("creates a folder and its parents, with the mode only on the folder itself", () => {
    makeFolder(join(base, "a", "b", "c"), 0o700);
    expect(statSync(join(base, "a", "b", "c")).mode & 0o777).toBe(0o700);
    expect(statSync(join(base, "a", "b")).isDirectory()).toBe(true);
  });

  it("leaves an existing folder alone", () => {
    makeFolder(base);
    expect(statSync(base).isDirectory()).toBe(true);
  });

  it("succeeds in every thread if several create the same folders at the same moment", async () => {
    const [threads, rounds] = [3, 300];
    const workerData = { base, rounds, threads, shared: new SharedArrayBuffer(4 * rounds) };
    const problems = await Promise.all(
      Array.from({ length: threads }, async () => {
        const thread = new Worker(new URL("./programs/folder-maker.js", import.meta.url), { workerData });
        const [[found]] = await Promise.all([once(thread, "message"), once(thread, "exit")]);
        return found;
      }),
    );
    expect(problems.flat()).toEqual([]);
    expect(readdirSync(base)).toHaveLength(rounds);
  });

  it.skipIf(process.platform !== "linux")("throws if nothing can be created", () => {
    expect(() => makeFolder("/proc/nope/store")).toThrow("ENOENT");
  });
});

describe("isFolder", () => {
  it("distinguishes folders from files and missing paths", async () => {
    const file = join(base, "file");
    writeFileSync(file, "");
    const paths = [base, file, join(base, "none"), join(file, "below"), join(base, "x".repeat(5000))];
    const expected = [true, false, false, false, false];
    expect(paths.map(isFolderSync)).toEqual(expected);
    expect(await Promise.all(paths.map(isFolder))).toEqual(expected);
  });
});

describe("writeFileAtomically", () => {
  it("creates the file and its folders with the requested modes", async () => {
    const path = join(base, "new", "file");
    await writeFileAtomically(path, "text", { mode: 0o600, folderMode: 0o700 });
    expect(readFileSync(path, "utf8")).toBe("text");
    if (!isWindows) expect([modeOf(path), modeOf(join(base, "new"))]).toEqual([0o600, 0o700]);
  });

  it.skipIf(isWindows)("keeps the mode of an existing file unless told otherwise", async () => {
    const path = join(base, "file");
    writeFileSync(path, "before");
    chmodSync(path, 0o664);
    await writeFileAtomically(path, Buffer.from([1, 2, 3]), { mode: 0o600 });
    expect([...readFileSync(path)]).toEqual([1, 2, 3]);
    expect(modeOf(path)).toBe(0o664);
    await writeFileAtomically(path, "after", { mode: 0o600, forceMode: true });
    expect(modeOf(path)).toBe(0o600);
  });

  it.skipIf(isWindows)("writes through links, even if the target does not exist yet", async () => {
    mkdirSync(join(base, "real"));
    symlinkSync(join("real", "file"), join(base, "link"));
    await writeFileAtomically(join(base, "link"), "one");
    await writeFileAtomically(join(base, "link"), "two");
    expect(lstatSync(join(base, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(base, "real", "file"), "utf8")).toBe("two");
    expect(await resolvedPath(join(base, "link"))).toBe(await resolvedPath(join(base, "real", "file")));
  });

  it("leaves the old content and no other file when the write fails", async () => {
    const path = join(base, "file");
    writeFileSync(path, "before");
    await expect(writeFileAtomically(path, "after", { signal: AbortSignal.abort() })).rejects.toThrow();
    mkdirSync(join(base, "folder"));
    await expect(writeFileAtomically(join(base, "folder"), "text")).rejects.toThrow();
    expect(readFileSync(path, "utf8")).toBe("before");
    expect(readdirSync(base).sort()).toEqual(["file", "folder"]);
  });
});

describe("placeFileSync", () => {
  const fill = (text: string) => (fd: number) => void writeSync(fd, text);

  it("replaces a file only if allowed", () => {
    const path = join(base, "x".repeat(255));
    expect(placeFileSync(path, fill("one"), { overwrite: false })).toBe(true);
    expect(placeFileSync(path, fill("two"), { overwrite: false })).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("one");
    expect(placeFileSync(path, fill("three"))).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("three");
    expect(readdirSync(base)).toHaveLength(1);
  });

  it("leaves no files when filling fails", () => {
    const failing = () => {
      throw new Error("no");
    };
    expect(() => placeFileSync(join(base, "file"), failing)).toThrow("no");
    expect(readdirSync(base)).toEqual([]);
  });

  it.skipIf(isWindows)("replaces a link, not the file it points to", () => {
    writeFileSync(join(base, "file"), "before");
    symlinkSync("file", join(base, "link"));
    placeFileSync(join(base, "link"), fill("after"));
    expect(readFileSync(join(base, "file"), "utf8")).toBe("before");
    expect(lstatSync(join(base, "link")).isFile()).toBe(true);
  });
});
