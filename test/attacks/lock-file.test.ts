// The lock files decide what `npm ci` runs on a developer's machine and in a release: each package is fixed by its hash,
// and none comes from anywhere but the registry of whoever installs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../e2e/command.js";

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}

describe.each(["package-lock.json", "conformance/package-lock.json"])("%s", (file) => {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync(join(root, file), "utf8"));
  // Workspaces are folders of this repository; a bundled package is part of another one's archive.
  const installed = Object.entries(lock.packages).filter(
    ([path, { link, inBundle }]) => path.includes("node_modules/") && !link && !inBundle,
  );

  it("lists packages", () => {
    expect(installed.length).toBeGreaterThan(100);
  });

  it("has the hash of every package", () => {
    const without = installed.filter(([, { integrity }]) => !/^sha512-[A-Za-z\d+/]{86}==$/.test(integrity ?? ""));
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it("names no place to download from, so that npm's own setting decides", () => {
    const elsewhere = installed.filter(([, { resolved }]) => resolved !== undefined);
    expect(elsewhere.map(([path, { resolved }]) => [path, resolved])).toEqual([]);
  });

  it("has an exact version of every package", () => {
    const loose = installed.filter(([, { version }]) => !/^\d+\.\d+\.\d+(?:[-+].*)?$/.test(version ?? ""));
    expect(loose.map(([path]) => path)).toEqual([]);
  });
});
