// The record of the attacks: docs/security.md names the tests, and the lists in defences/ name the code that each test
// depends on. `npm run defences` switches the defences off one by one; this test keeps the lists from going stale.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDefences } from "../../scripts/defences.js";
import { root } from "../e2e/command.js";

const defences = readDefences();
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

describe.each(defences)("defence $list $number", ({ file, from, to, test, name }) => {
  it("names code that exists exactly once", () => {
    expect(textOf(file).split(from)).toHaveLength(2);
    expect(to).not.toBe(from);
  });

  it("names a test that exists", () => {
    expect(textOf(test)).toContain(name);
  });
});

it("lists at least one defence for every file of attacks", () => {
  const tests = readdirSync(join(root, "test/attacks")).filter((name) => /\.test\.ts$/.test(name));
  const attacks = tests.filter((name) => name !== "record.test.ts" && !name.startsWith("everyday"));
  const covered = new Set(defences.map(({ test }) => test));
  expect(attacks.filter((name) => !covered.has(`test/attacks/${name}`))).toEqual([]);
});
