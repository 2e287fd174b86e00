import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeptConsoleFile, readKeptConsole } from "../../src/console/kept-console.js";

let home: string;
const path = () => join(home, "console.json");
const token = { id: "0123456789abcdef", hash: "a".repeat(64), expiresMs: Date.now() + 60_000 };

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "kept-console-"));
});

afterEach(() => rmSync(home, { recursive: true }));

function keep(): KeptConsoleFile {
  const file = new KeptConsoleFile(home, (error) => {
    throw error;
  });
  file.begin(4711, [token]);
  return file;
}

describe("what a console leaves for the next one", () => {
  it("is its port and the hashes of its tokens", () => {
    const file = keep();
    const owner = readKeptConsole(home)?.owner;
    expect(readKeptConsole(home)).toEqual({ owner, port: 4711, tokens: [token] });
    file.setTokens([]);
    file.end();
    expect(readKeptConsole(home)).toEqual({ owner, port: 4711, tokens: [] });
  });

  it("counts only for a moment", () => {
    keep().end();
    const longAgo = new Date(Date.now() - 25_000);
    utimesSync(path(), longAgo, longAgo);
    expect(readKeptConsole(home)).toBeUndefined();
  });

  it("is kept fresh by the console that wrote it, and by no other", () => {
    const [first, second] = [keep(), keep()];
    first.setTokens([]);
    expect(readKeptConsole(home)?.tokens).toEqual([token]);
    // Whole seconds: a file system may keep no more.
    const before = new Date(Math.floor(Date.now() / 1_000 - 10) * 1_000);
    utimesSync(path(), before, before);
    first.beat();
    expect(statSync(path()).mtimeMs).toBe(before.getTime());
    second.beat();
    expect(statSync(path()).mtimeMs).toBeGreaterThan(before.getTime());
    first.end();
    second.end();
  });

  it("does not count if others could have written it", () => {
    keep().end();
    chmodSync(path(), 0o644);
    expect(readKeptConsole(home)).toBeUndefined();
  });

  it("is not read through a link", () => {
    const elsewhere = join(home, "planted");
    writeFileSync(elsewhere, JSON.stringify({ owner: "o", port: 1, tokens: [token] }), { mode: 0o600 });
    symlinkSync(elsewhere, path());
    expect(readKeptConsole(home)).toBeUndefined();
  });

  it.each(["", "[]", '{"owner":"o","port":"1","tokens":[]}', '{"owner":"o","port":1}', '{"port":1,"tokens":[]}'])(
    "is ignored if it is damaged: %s",
    (text) => {
      writeFileSync(path(), text, { mode: 0o600 });
      expect(readKeptConsole(home)).toBeUndefined();
    },
  );

  it("has no token that is not one", () => {
    const tokens = [{ ...token, hash: "no" }, { id: 7 }, null, token];
    writeFileSync(path(), JSON.stringify({ owner: "o", port: 1, tokens }), { mode: 0o600 });
    expect(readKeptConsole(home)).toEqual({ owner: "o", port: 1, tokens: [token] });
  });
});
