// Runs the benchmarks, each in a separate process, and writes docs/benchmarks.md from the results. `npm run bench` runs
// all; `npm run bench -- store server-find` runs those whose names start with these words. `--tools <file>` names a
// catalogue of tools and `--beir <folder>` judged questions, for the benchmarks that use them; other options are passed
// to a benchmark that runs alone: `npm run bench -- store-grep --files 5000`. `npm run bench -- page` only rewrites the
// page.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { benchmarkPage, readResults } from "./page.js";
import { BENCHMARKS } from "./plan.js";

const PAGE = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));

const args = process.argv.slice(2);
const firstOption = args.findIndex((arg) => arg.startsWith("-"));
const names = firstOption === -1 ? args : args.slice(0, firstOption);
const options = firstOption === -1 ? [] : args.slice(firstOption);

const isPageOnly = names.length === 1 && names[0] === "page";
const failed = isPageOnly ? [] : runAll(chosenBenchmarks());
writeFileSync(PAGE, benchmarkPage(readResults(), existsSync(PAGE) ? readFileSync(PAGE, "utf8") : ""));
console.log("\nWrote docs/benchmarks.md.");
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;

function chosenBenchmarks() {
  const unknown = names.filter((start) => !BENCHMARKS.some(({ name }) => name.startsWith(start)));
  if (unknown.length > 0) {
    stop(`Unknown benchmark: ${unknown.join(", ")}. Available: ${BENCHMARKS.map(({ name }) => name).join(", ")}.`);
  }
  if (names.length === 0) return BENCHMARKS;
  return BENCHMARKS.filter(({ name }) => names.some((start) => name.startsWith(start)));
}

/**
 * Runs the benchmarks and returns the names of those that failed. @param {readonly import("./plan.js").Benchmark[]}
 * chosen
 */
function runAll(chosen) {
  return chosen
    .filter(({ file, options: taken = [] }) => {
      const path = fileURLToPath(new URL(file, import.meta.url));
      const passedOn = chosen.length === 1 ? options : optionsFor(taken, chosen);
      return spawnSync(process.execPath, [path, ...passedOn], { stdio: "inherit" }).status !== 0;
    })
    .map(({ name }) => name);
}

/**
 * Returns the shared options that a benchmark accepts. @param {readonly string[]} taken @param {readonly
 * import("./plan.js").Benchmark[]} chosen
 */
function optionsFor(taken, chosen) {
  /** @type {string[]} */
  const found = [];
  for (let at = 0; at < options.length; at += 2) {
    const [option = "", value] = options.slice(at, at + 2);
    if (value === undefined || !chosen.some((benchmark) => benchmark.options?.includes(option))) {
      stop(
        `${option} cannot be used with several benchmarks. Name one of them, or use --tools <file> or --beir <folder>.`,
      );
    }
    if (taken.includes(option)) found.push(option, value);
  }
  return found;
}

/** @param {string} message @returns {never} */
function stop(message) {
  console.error(message);
  process.exit(2);
}
