import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "../src/index.js";

const base = mkdtempSync(join(tmpdir(), "trunkline-folder-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("makes a folder and those above it, the folder alone with the mode", () => {
    makeFolder(join(base, "a", "b", "c"), 0o700);
    expect(statSync(join(base, "a", "b", "c")).mode & 0o777).toBe(0o700);
    expect(statSync(join(base, "a", "b")).isDirectory()).toBe(true);
  });

  it("leaves a folder that is there alone", () => {
    makeFolder(base);
    expect(statSync(base).isDirectory()).toBe(true);
  });

  it.skipIf(process.platform !== "linux")("ends where nothing can be made", () => {
    expect(() => makeFolder("/proc/nope/store")).toThrow("ENOENT");
  });
});
