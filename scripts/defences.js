// Proves that the attack tests depend on the defences: switches off each defence in turn, in a copy of the checkout, and
// requires its test to fail. `npm run defences` checks all of them, `npm run defences -- paths` those of one list,
// `npm run defences -- paths 3` a single one. The lists are test/attacks/defences/*.json.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyCheckout, linkDependencies, root } from "./checkout-copy.js";

/**
 * @typedef {object} Defence
 * @property {string} list the file it comes from, without `.json`
 * @property {number} number its place in that file, from 1
 * @property {string} defence the attack that it stops
 * @property {string} file the source file
 * @property {string} from the text that is the defence; occurs once in the file
 * @property {string} to what to replace it with to switch the defence off
 * @property {string} test the file of its test
 * @property {string} name the name of its test, or a part of it
 */

const LISTS = join(root, "test", "attacks", "defences");

/** @returns {Defence[]} */
export function readDefences() {
  return readdirSync(LISTS)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .flatMap((name) => {
      /** @type {Omit<Defence, "list" | "number">[]} */
      const entries = JSON.parse(readFileSync(join(LISTS, name), "utf8"));
      return entries.map((entry, index) => ({ ...entry, list: name.slice(0, -".json".length), number: index + 1 }));
    });
}

/**
 * Runs a defence's test in the copy.
 *
 * @param {Defence} defence
 * @param {string} copy
 * @returns {"failed" | "passed" | "did not run"}
 */
function runTest({ test, name }, copy) {
  if (test.endsWith(".slow.test.ts")) execFileSync("npx", ["tsc", "-b"], { cwd: copy, stdio: "ignore" });
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  spawnSync(
    "npx",
    [
      "vitest",
      "run",
      test,
      "-t",
      name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
      "--reporter=json",
      `--outputFile=${report}`,
    ],
    { cwd: copy, stdio: "ignore" },
  );
  /** @type {{ testResults: { assertionResults: { status: string }[] }[] }} */
  let results;
  try {
    results = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return "did not run";
  }
  const states = results.testResults.flatMap((file) => file.assertionResults.map(({ status }) => status));
  if (states.includes("failed")) return "failed";
  return states.includes("passed") ? "passed" : "did not run";
}

/** @param {readonly Defence[]} defences @returns {number} how many tests did not notice */
function verify(defences) {
  const copy = mkdtempSync(join(tmpdir(), "trunkline-defences-"));
  let unnoticed = 0;
  try {
    copyCheckout(copy);
    linkDependencies(copy);
    if (defences.some(({ test }) => test.endsWith(".slow.test.ts"))) {
      execFileSync("npx", ["tsc", "-b"], { cwd: copy, stdio: ["ignore", "ignore", "inherit"] });
    }
    for (const defence of defences) {
      const path = join(copy, defence.file);
      const source = readFileSync(path, "utf8");
      writeFileSync(
        path,
        source.replace(defence.from, () => defence.to),
      );
      const outcome = runTest(defence, copy);
      writeFileSync(path, source);
      if (outcome !== "failed") unnoticed++;
      const verdict = outcome === "failed" ? "ok  " : `NOT NOTICED (test ${outcome})`;
      console.log(`${verdict} ${defence.list} ${defence.number}: ${defence.defence}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return unnoticed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [list, number] = process.argv.slice(2);
  const chosen = readDefences().filter(
    (defence) => (list === undefined || defence.list === list) && (number === undefined || defence.number === +number),
  );
  if (chosen.length === 0) {
    console.error("No defence matches. Usage: npm run defences -- [list [number]]");
    process.exitCode = 1;
  } else {
    const unnoticed = verify(chosen);
    console.log(`${chosen.length - unnoticed} of ${chosen.length} tests fail without their defence.`);
    process.exitCode = unnoticed === 0 ? 0 : 1;
  }
}
