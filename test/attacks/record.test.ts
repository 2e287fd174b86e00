// The record of the attacks: docs/security.md names the tests, and the lists in defences/ name the code that each test
// depends on. `npm run defences` switches the defences off one by one; this test keeps the lists from going stale.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readDefences } from "../../scripts/defences.js";
import { root } from "../e2e/command.js";

const defences = readDefences();
const tests = readdirSync(join(root, "test/attacks")).filter((name) => name.endsWith(".test.ts"));

it("lists only defences that are in the code exactly once, and tests that exist", () => {
  const stale = defences.filter(({ file, from, to, test }) => {
    const [path, found] = [join(root, file), join(root, test)];
    return (
      !existsSync(path) || !existsSync(found) || from === to || readFileSync(path, "utf8").split(from).length !== 2
    );
  });
  expect(stale.map(({ list, number, defence }) => `${list} ${number}: ${defence}`)).toEqual([]);
});

it("lists at least one defence for every file of attacks", () => {
  const attacks = tests.filter((name) => name !== "record.test.ts" && !name.startsWith("everyday"));
  const covered = new Set(defences.map(({ test }) => test));
  expect(attacks.filter((name) => !covered.has(`test/attacks/${name}`))).toEqual([]);
});

it("names every file of attacks in docs/security.md", () => {
  const page = readFileSync(join(root, "docs/security.md"), "utf8");
  expect(tests.filter((name) => !page.includes(`test/attacks/${name}`))).toEqual([]);
});
