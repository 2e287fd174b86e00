import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TrustStore } from "../src/trusted-files.js";

let base: string;
let home: string;
let file: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-trust-"));
  home = join(base, "home", ".trunkline");
  file = join(base, "mcp.json");
  writeFileSync(file, "{}");
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(base, { recursive: true, force: true });
});

describe("the list of approved files", () => {
  it("trusts nothing by default, and creates no file when queried", async () => {
    const store = new TrustStore(home);
    expect(await store.isTrusted({ path: file, fingerprint: "a" })).toBe(false);
    expect(await store.list()).toEqual([]);
    expect(await store.revoke(file)).toEqual([]);
    expect(existsSync(home)).toBe(false);
  });

  it("trusts a file as long as what it would run stays the same", async () => {
    await new TrustStore(home).confirm({ path: file, fingerprint: "a" });
    const other = new TrustStore(home);
    expect(await other.isTrusted({ path: file, fingerprint: "a" })).toBe(true);
    expect(await other.isTrusted({ path: file, fingerprint: "b" })).toBe(false);
    expect(await other.isTrusted({ path: join(base, "copy.json"), fingerprint: "a" })).toBe(false);
    await other.confirm({ path: file, fingerprint: "b" });
    expect(await other.isTrusted({ path: file, fingerprint: "a" })).toBe(false);
  });

  it("lists what was approved and when, and can revoke it", async () => {
    const store = new TrustStore(home);
    vi.setSystemTime("2026-07-28T10:00:00Z");
    await store.confirm(
      { path: join(base, "z.json"), fingerprint: "2" },
      { path: join(base, "a.json"), fingerprint: "1" },
    );
    const confirmedAt = "2026-07-28T10:00:00.000Z";
    expect(await store.list()).toEqual([
      { path: join(base, "a.json"), fingerprint: "1", confirmedAt },
      { path: join(base, "z.json"), fingerprint: "2", confirmedAt },
    ]);
    expect(await store.revoke(join(base, "z.json"), file)).toEqual([join(base, "z.json")]);
    expect((await store.list()).map(({ path }) => path)).toEqual([join(base, "a.json")]);
  });

  it.skipIf(process.platform === "win32")("is readable only by the user, even if it was not before", async () => {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "trust.json"), '{"version":1,"files":{}}', { mode: 0o644 });
    const store = new TrustStore(home);
    await store.confirm({ path: file, fingerprint: "a" });
    expect(statSync(store.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(["trust.json"]);
  });

  it.skipIf(process.platform === "win32")(
    "identifies a file by the real path of its folder, not by the target of a link in its place",
    async () => {
      const store = new TrustStore(home);
      await store.confirm({ path: file, fingerprint: "a" });
      const other = join(base, "other");
      mkdirSync(other);
      symlinkSync(file, join(other, "mcp.json"));
      expect(await store.isTrusted({ path: join(other, "mcp.json"), fingerprint: "a" })).toBe(false);
      symlinkSync(base, join(other, "base"));
      expect(await store.isTrusted({ path: join(other, "base", "mcp.json"), fingerprint: "a" })).toBe(true);
    },
  );

  it("remembers files approved by an earlier version, which have to be approved again", async () => {
    mkdirSync(home, { recursive: true });
    const files = { [file]: { fingerprint: "a", confirmedAt: "2026-01-01T00:00:00.000Z" } };
    writeFileSync(join(home, "trust.json"), JSON.stringify({ version: 1, files }));
    const store = new TrustStore(home);
    expect(await store.isTrusted({ path: file, fingerprint: "a" })).toBe(false);
    expect(await store.wasTrusted(file)).toBe(true);
    await store.confirm({ path: join(base, "other.json"), fingerprint: "b" });
    expect(await store.wasTrusted(file)).toBe(true);
    await store.confirm({ path: file, fingerprint: "a" });
    expect(await store.isTrusted({ path: file, fingerprint: "a" })).toBe(true);
    expect(await store.wasTrusted(file)).toBe(false);
  });

  it("lists approved workspaces by their real path, and can revoke them", async () => {
    const confirmedAt = "2026-07-28T12:00:00.000Z";
    const store = new TrustStore(home);
    vi.setSystemTime(confirmedAt);
    expect(await store.isWorkspaceTrusted(base)).toBe(false);
    await store.confirmWorkspace(base, { endpoint: "https://models.example" });
    expect(await store.isWorkspaceTrusted(base)).toBe(true);
    expect(await store.isEndpointTrusted(base, "https://models.example")).toBe(true);
    expect(await store.isEndpointTrusted(base, "https://evil.example")).toBe(false);
    expect(await store.workspaces()).toEqual([{ path: realpathSync(base), confirmedAt }]);
    expect(await store.revokeWorkspace(base)).toBe(true);
    expect(await store.revokeWorkspace(base)).toBe(false);
    expect(await store.isWorkspaceTrusted(base)).toBe(false);
  });

  it.each([
    ["not JSON", "{"],
    ["of a later version", '{"version":3,"files":{}}'],
    ["of another shape", '{"version":1,"files":{"/a":true}}'],
    ["without workspaces", '{"version":2,"files":{},"former":[]}'],
    ["a list of other workspaces", '{"version":2,"files":{},"workspaces":{"/a":{"endpoint":"x"}},"former":[]}'],
    ["a list of former files without names", '{"version":2,"files":{},"workspaces":{},"former":[1]}'],
  ])("approves nothing if its file is %s, but reports it and keeps the file", async (_, text) => {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "trust.json"), text);
    const store = new TrustStore(home);
    await expect(store.isTrusted({ path: file, fingerprint: "a" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(store.confirm({ path: file, fingerprint: "a" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(readFileSync(store.path, "utf8")).toBe(text);
  });
});
