import { describe, expect, it } from "vitest";
import { kindsAskedFor, SUPPORTING_KINDS, supportingKind } from "../../src/search/supporting-files.js";

const kindOf = (path: string) => SUPPORTING_KINDS[supportingKind(path)];

describe("a supporting file", () => {
  it.each([
    ["test", "test/app.js src/__tests__/a.tsx src/hono.test.ts lib/x.spec.mjs cmd/backup_test.go tests/conftest.py"],
    ["test", "pkg/test_models.py app/src/test/java/org/x/AppTest.java x/LoginSpec.scala spec/models/user_spec.rb"],
    ["test", "internal/testdata/repo.tar types/index.test-d.ts src\\__tests__\\a.ts __snapshots__/a.snap e2e/login.ts"],
    ["test", "runtime-tests/node/index.ts packages/a/fixtures/input.md Tests/LoginTests.swift"],
    ["benchmark", "bench/run.js benchmarks/router/src/main.ts src/sort.bench.ts benches/scan.rs"],
    ["example", "examples/basic/index.ts example/main.go demo/app.tsx src/button.stories.tsx"],
    ["lock file", "package-lock.json web/yarn.lock Cargo.lock go.sum pnpm-lock.yaml"],
    ["generated", "vendor/github.com/x/y.go api/v1/api.pb.go web/app.min.js proto/user_pb2.py third_party/lib/a.c"],
    ["changelog", "CHANGELOG.md packages/a/CHANGES.txt HISTORY/release-notes.md"],
  ])("of kind %s is recognised by its path: %s", (kind, paths) => {
    expect(paths.split(" ").filter((path) => kindOf(path) !== kind)).toEqual([]);
  });

  it.each([
    "src/index.ts",
    "contest/rules.md",
    "src/contest.ts",
    "latest/notes.md",
    "src/attestation/verify.ts",
    "src/inspect.ts",
    "lib/testing.ts",
    "docs/test/plan.md",
    "docs/examples/first-steps.md",
    "notes/specs/engine.txt",
    "src/lock.ts",
    "src/changes/apply.ts",
    "src/benchpress.ts",
    "generator/gen.ts",
    "README",
  ])("is not %s", (path) => {
    expect(kindOf(path)).toBe("none");
  });
});

describe("a query", () => {
  const asked = (query: string) => [...kindsAskedFor(query)].map((kind) => SUPPORTING_KINDS[kind]);

  it("asks for supporting files by naming them", () => {
    expect(asked("which test covers retries?")).toEqual(["test"]);
    expect(asked("TestBackupExclude")).toEqual(["test"]);
    expect(asked("example of a benchmark")).toEqual(["example", "benchmark"]);
    expect(asked("which version is in package-lock.json")).toEqual(["changelog", "lock file"]);
    expect(asked("contest rules, latest inspection")).toEqual([]);
  });
});
