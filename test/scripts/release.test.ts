import { describe, expect, it } from "vitest";
import { packageProblems, publishOrder, releaseNotes, versionProblems } from "../../scripts/release.js";

describe("releaseNotes", () => {
  const changelog =
    "# Changelog\n\n## 0.2.0\n\n### Added\n\n- a\n\n## [0.1.0] - 2026-01-01\n\nThe first version.\n\n## 0.0.1\n";

  it("returns the section of the version, without its heading", () => {
    expect(releaseNotes(changelog, "0.2.0")).toBe("### Added\n\n- a");
  });

  it("accepts a heading with brackets and a date", () => {
    expect(releaseNotes(changelog, "0.1.0")).toBe("The first version.");
  });

  it.each(["0.0.1", "0.2", "0.3.0"])("rejects version %s, which has no entries", (version) => {
    expect(() => releaseNotes(changelog, version)).toThrow(`CHANGELOG.md has no entries for ${version}`);
  });
});

describe("versionProblems", () => {
  const core = { name: "core", version: "0.2.0" };

  it("accepts packages that all have the release version and depend on it", () => {
    const client = { name: "client", version: "0.2.0", dependencies: { core: "0.2.0", zod: "4.0.0" } };
    expect(versionProblems("0.2.0", [core, client])).toEqual([]);
  });

  it("names packages and dependencies with another version", () => {
    const client = { name: "client", version: "0.1.0", dependencies: { core: "0.1.0" } };
    expect(versionProblems("0.2.0", [core, client])).toEqual([
      "client has version 0.1.0",
      "client depends on core 0.1.0",
    ]);
  });
});

describe("publishOrder", () => {
  it("puts each package after the ones it depends on", () => {
    const cli = { name: "cli", folder: "a", dependencies: { client: "1", core: "1" } };
    const client = { name: "client", folder: "b", dependencies: { core: "1" } };
    const core = { name: "core", folder: "c" };
    expect(publishOrder([cli, client, core]).map(({ name }) => name)).toEqual(["core", "client", "cli"]);
  });
});

describe("packageProblems", () => {
  const good = [
    "package.json",
    "LICENSE",
    "README.md",
    "bin/run.cjs",
    "src/index.ts",
    "src/revisions.generated.ts",
    "src/library.d.ts",
    "src/completion/shell.zsh",
    ...["index", "revisions.generated"].flatMap((name) =>
      ["js", "js.map", "d.ts", "d.ts.map"].map((end) => `dist/${name}.${end}`),
    ),
  ];

  it("accepts a package whose output matches its sources", () => {
    expect(packageProblems(good)).toEqual([]);
  });

  it.each(["dist/old.js", "dist/old.d.ts.map", "dist/folder/index.d.ts"])("finds stale output: %s", (file) => {
    expect(packageProblems([...good, file])).toEqual([`${file} has no source`]);
  });

  it("finds a source that was not built", () => {
    expect(packageProblems([...good, "src/new.ts"])).toEqual(["src/new.ts was not built"]);
  });

  it("finds a missing page", () => {
    expect(packageProblems(good.filter((file) => file !== "README.md"))).toEqual(["README.md is missing"]);
  });

  it("wants the bundle and types in the command", () => {
    expect(packageProblems([...good, "bin/trunkline.cjs"])).toContain("bundle/main.cjs is missing");
    expect(packageProblems([...good, "bin/trunkline.cjs"])).toContain("types/cli/index.d.ts is missing");
  });

  it("finds missing entry points", () => {
    const problems = packageProblems(good.filter((file) => file !== "dist/index.d.ts"));
    expect(problems).toEqual(["dist/index.d.ts is missing"]);
  });

  it.each([".env", "test/a.ts", "bin/a.test.cjs", "node_modules/a/index.js", "biome.json"])(
    "refuses to pack %s",
    (file) => {
      expect(packageProblems([...good, file])).toEqual([`${file} must not be packed`]);
    },
  );
});
