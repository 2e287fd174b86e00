// npm run conformance: the official suite against the client library and against `trunkline serve --http`.
//
//   --side client|server     one side only
//   --requirements <rev>     one requirement set only
//   --scenario <name>        one scenario, in each set that has it
//   --surface auto           serve with this surface instead of direct; the same results are expected
//   --suite all              everything in the suite; server results are reported but not judged
//   --update                 rewrite baseline.json
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { startProductServer } from "./product-server.js";
import {
  allScenarios,
  HERE,
  installSuite,
  ROOT,
  requiredScenarios,
  runClientScenarios,
  runServerScenarios,
} from "./suite.js";
import { hasFailed, judge, table } from "./verdict.js";

/** @import { Report, Scenario, Side } from "./suite.js" */
/** @import { Expectation, Numbers, Verdict } from "./verdict.js" */
/** @typedef {Partial<Record<string, Partial<Record<string, Numbers>>>>} Baseline By side, then by requirement set. */

const SIDES = /** @type {const} */ (["client", "server"]);
const REQUIREMENTS = ["2025-11-25", "2026-07-28"];
const BASELINE = join(HERE, "baseline.json");
/** The suite splits the command at spaces and runs it in the repository root, so the path is relative to that. */
const CLIENT_COMMAND = "node conformance/client.js";

const interrupt = new AbortController();
for (const name of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(name, () => interrupt.abort(name));

try {
  process.exitCode = (await main(readOptions(), interrupt.signal)) ? 0 : 1;
} catch (error) {
  console.error(interrupt.signal.aborted ? "Interrupted." : error instanceof Error ? error.message : error);
  process.exitCode = interrupt.signal.aborted ? 130 : 1;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      side: { type: "string" },
      requirements: { type: "string" },
      scenario: { type: "string" },
      suite: { type: "string" },
      surface: { type: "string", default: "direct" },
      update: { type: "boolean", default: false },
    },
  });
  const { side, requirements, scenario, suite, surface, update } = values;
  const sides = SIDES.filter((candidate) => side === undefined || candidate === side);
  if (sides.length === 0) throw new Error(`--side must be one of: ${SIDES.join(", ")}.`);
  if (requirements !== undefined && !REQUIREMENTS.includes(requirements))
    throw new Error(`--requirements must be one of: ${REQUIREMENTS.join(", ")}.`);
  if (suite !== undefined && suite !== "all") throw new Error('The only value for --suite is "all".');
  if (suite !== undefined && requirements !== undefined)
    throw new Error("--suite and --requirements cannot be combined.");
  if (update && (scenario ?? suite) !== undefined)
    throw new Error("--update needs complete requirement sets. Leave out --scenario and --suite.");
  const sets = suite !== undefined ? [suite] : requirements !== undefined ? [requirements] : REQUIREMENTS;
  return { sides, sets, scenario, surface, update };
}

/**
 * Runs the selected scenarios. Returns true if everything is as expected.
 * @param {ReturnType<typeof readOptions>} options
 * @param {AbortSignal} signal
 */
async function main({ sides, sets, scenario, surface, update }, signal) {
  await installSuite(signal);
  /** @type {Expectation[]} */
  const expectations = JSON.parse(await readFile(join(HERE, "expected-failures.json"), "utf8"));
  /** @type {Baseline} */
  const baseline = existsSync(BASELINE) ? JSON.parse(await readFile(BASELINE, "utf8")) : {};
  /** @type {Verdict[]} */
  const verdicts = [];
  for (const side of sides) {
    for (const set of sets) {
      const scenarios = set === "all" ? await allScenarios(side, signal) : await requiredScenarios(side, set, signal);
      const chosen = scenarios.filter(({ name }) => scenario === undefined || name === scenario);
      if (chosen.length === 0) continue;
      console.error(`${side} ${set}: ${chosen.length} scenarios …`);
      const whole = chosen.length === scenarios.length;
      const reports = await run(side, set, { scenarios: chosen, whole, surface, signal });
      signal.throwIfAborted();
      const before = whole && !update ? baseline[side]?.[set] : undefined;
      const verdict = judge({ side, set, reports, expectations, baseline: before, whole });
      if (whole && !update && set !== "all" && before === undefined)
        verdicts.push({
          ...verdict,
          complaints: [...verdict.complaints, "no baseline recorded: run with --update"],
        });
      else verdicts.push(verdict);
      if (update) baseline[side] = { ...baseline[side], [set]: verdict.numbers };
    }
  }
  if (verdicts.length === 0) throw new Error(`No requirement set has the scenario "${scenario}".`);
  if (update) await writeFile(BASELINE, `${JSON.stringify(baseline, null, 2)}\n`);
  return await report(verdicts);
}

/**
 * @param {Side} side
 * @param {string} set
 * @param {{ scenarios: readonly Scenario[], whole: boolean, surface: string, signal: AbortSignal }} options
 * @returns {Promise<Report[]>}
 */
async function run(side, set, { surface, ...options }) {
  const common = { ...options, name: `${side}-${set}`, revision: set === "all" ? undefined : set };
  if (side === "client") return await runClientScenarios({ ...common, command: CLIENT_COMMAND });
  const server = await startProductServer(surface, options.signal);
  try {
    return await runServerScenarios({ ...common, url: server.url });
  } finally {
    await server.stop();
  }
}

/**
 * Prints the results. Returns true if everything is as expected.
 * @param {readonly Verdict[]} verdicts
 */
async function report(verdicts) {
  const judged = verdicts.map((verdict) =>
    isJudged(verdict) ? verdict : { ...verdict, unexpected: [], complaints: [] },
  );
  for (const { side, reports } of verdicts.filter((verdict) => !isJudged(verdict))) {
    const failed = reports.filter(hasFailed).map(({ scenario }) => scenario);
    console.log(`${side} failed: ${failed.join(", ") || "none"}`);
  }
  for (const { side, set, unexpected, complaints } of judged) {
    for (const failure of unexpected) console.log(await describe(`${side} ${set}`, failure));
    for (const complaint of complaints) console.log(`${side} ${set}: ${complaint}`);
  }
  console.log(`\n${table(judged)}`);
  return judged.every(({ unexpected, complaints }) => unexpected.length + complaints.length === 0);
}

/**
 * The complete suite covers every revision and draft, which is more than the server has to pass.
 * @param {Verdict} verdict
 */
function isJudged({ side, set }) {
  return set !== "all" || side === "client";
}

/**
 * Describes an unexpected failure, with the end of the client's output.
 * @param {string} where
 * @param {Report} failure
 */
async function describe(where, { scenario, broken, checks, folder }) {
  const stderr = join(folder, "stderr.txt");
  const said = existsSync(stderr) ? (await readFile(stderr, "utf8")).trim().split("\n").slice(-8) : [];
  const failed = checks.filter(({ status }) => status === "FAILURE");
  const why = broken ?? (failed.length === 0 ? "nothing was checked" : undefined);
  return [
    `${where}: ${scenario} failed${why === undefined ? "" : `: ${why}`}  (${relative(ROOT, folder)})`,
    ...failed.map(
      ({ id, errorMessage, description }) => `    ${id}: ${(errorMessage ?? description ?? "").slice(0, 300)}`,
    ),
    ...said.map((line) => `    | ${line.slice(0, 300)}`),
  ].join("\n");
}
