import { closeSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLog, trimLog } from "../src/wire/broker-log.js";

let folder: string;
let log: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tb-log-"));
  log = join(folder, "broker.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

const LIMITS = { maxBytes: 1000, keptBytes: 100 };

describe("the broker's log", () => {
  it("keeps its last whole lines when it becomes too large, and processes go on appending to it", () => {
    const file = openLog(log);
    for (let line = 0; line < 200; line++) writeSync(file, `line ${line}\n`);
    trimLog(log, LIMITS);
    writeSync(file, "after\n");
    closeSync(file);
    const lines = readFileSync(log, "utf8").split("\n");
    expect(lines[0]).toMatch(/^line 1\d\d$/);
    expect(lines.slice(-3)).toEqual(["line 199", "after", ""]);
    expect(statSync(log).size).toBeLessThan(200);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });

  it("stays as it is while it is small", () => {
    writeFileSync(log, "a\n".repeat(500));
    trimLog(log, LIMITS);
    expect(statSync(log).size).toBe(1000);
  });

  it("is not followed if it is a link, and need not exist", () => {
    const target = join(folder, "target");
    writeFileSync(target, "x".repeat(2000));
    trimLog(log, LIMITS);
    symlinkSync(target, log);
    trimLog(log, LIMITS);
    expect(statSync(target).size).toBe(2000);
    expect(() => openLog(log)).toThrow(/ELOOP/);
  });
});
