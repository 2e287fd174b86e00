import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isRunning, shellQuoted } from "../src/index.js";

describe("isRunning", () => {
  it("tells a running process from one that has ended", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    expect([isRunning(process.pid), isRunning(child.pid as number)]).toEqual([true, false]);
  });

  it("counts a process of another user", () => expect(isRunning(1)).toBe(true));

  it("knows no process with an impossible number", () => {
    for (const pid of [1.5, Number.NaN, 1e20]) expect(isRunning(pid)).toBe(false);
  });
});

describe("shellQuoted", () => {
  it.each([
    ["a/b.txt", "a/b.txt"],
    ["a b", "'a b'"],
    ["", "''"],
    ["it's", String.raw`'it'\''s'`],
    ["$HOME", "'$HOME'"],
  ])("writes %j as %s", (word, quoted) => expect(shellQuoted(word)).toBe(quoted));
});
