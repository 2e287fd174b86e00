// npm run soak: runs the product under faults for ten minutes, then checks for leftovers. See CONTRIBUTING.md. Options:
// --minutes N (10), --seconds N, --seed N, --small (few upstreams and clients), --no-result (writes no file).
import { parseArgs } from "node:util";
import { report } from "../bench/report.js";
import { hasFailed, shownChecks } from "./checks.js";
import { soak } from "./soak.js";
import { HEAP_AIM, halves, MEMORY_AIM } from "./verify-gateway.js";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seconds: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    small: { type: "boolean", default: false },
    "no-result": { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds ?? Number(values.minutes) * 60);
const seed = Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(seed)) {
  console.error("--minutes and --seconds take a number above 0, --seed takes a whole number.");
  process.exit(2);
}

const stop = new AbortController();
// The first signal ends the soak early but cleanly; a second one kills it as usual.
for (const name of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
  process.once(name, () => {
    console.log(`${name}: ending early, then verifying.`);
    stop.abort();
  });
}

console.log(`Soaking for ${seconds} seconds, seed ${seed}. Ctrl-C ends early and verifies the work so far.`);
const { tally, checks, memory, soakedSeconds } = await soak({
  seconds,
  seed,
  small: values.small,
  signal: stop.signal,
});
const failed = checks.filter(hasFailed);

if (!values["no-result"]) {
  const { before, after } = halves(memory.total);
  const { halfway = Number.NaN, end = Number.NaN } = memory.live;
  const levels = [
    { what: "memory of serve at the end", figure: after[1], was: before[1], aim: MEMORY_AIM },
    { what: "heap of serve at the end, after a garbage collection", figure: end, was: halfway, aim: HEAP_AIM },
  ];
  report(
    "soak",
    [
      ...tally.counts().map(([what, figure]) => ({ what, figure, unit: "" })),
      { what: "verifications that failed", figure: failed.length, unit: `of ${checks.length}` },
      ...levels
        .filter(({ figure, was }) => Number.isFinite(figure / was))
        .map(({ was, ...row }) => ({ ...row, unit: "MB", beside: "half-way", ratio: row.figure / was })),
    ],
    {
      title: "Soak",
      workload: `${soakedSeconds.toFixed(0)} seconds, seed ${seed}: servers that crash, hang, flood and expire, clients that vanish, a store with two writers and kill -9.`,
      notes: shownChecks(checks),
    },
  );
} else console.table(Object.fromEntries(tally.counts()));
console.log(`\n${shownChecks(checks).join("\n")}\n`);
console.log(failed.length === 0 ? "The soak is passed." : `The soak FAILED: ${failed.length} of ${checks.length}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
