// Shared by all benchmarks: medians, a readable table, and JSON for programs and the page.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

/**
 * A figure; with `ratio` it is compared with another figure from the same run, with `ofLimit` also with the physical
 * limit. `aim` is the maximum ratio, or with `isAtLeast` the minimum. `isBehind`: the other program is better. `before`:
 * the ratio of another checkout in the same run.
 * @typedef {{ what: string, figure: number, unit: string, beside?: string, ratio?: number, ofLimit?: number, aim?:
 * number, isAtLeast?: boolean, isBehind?: boolean, before?: number }} Row
 *
 * Information for the reader: a heading, the workload, versions of the other programs, those that could not be measured
 * and why, and notes.
 * @typedef {{ title: string, workload: string, versions?: Record<string, string>, absent?: { name: string, reason:
 * string }[], notes?: string[] }} About
 *
 * @typedef {{ node: string, platform: string, processor: string, cores: number, memoryGiB: number, load: number }}
 * Machine
 * @typedef {{ name: string, date: string, machine: Machine, about: About, rows: Row[] }} Result
 */

/** Where results are written, one file per benchmark. */
export const RESULTS = fileURLToPath(new URL("./results/", import.meta.url));

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** @param {() => Promise<unknown>} work */
export async function timeMs(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Whether a row meets its aim; undefined if it has none. @param {Row} row */
export function meetsAim({ ratio, aim, isAtLeast = false }) {
  if (ratio === undefined || aim === undefined) return undefined;
  return isAtLeast ? ratio >= aim : ratio <= aim;
}

/** @param {Row} row */
export function aimText({ aim, isAtLeast = false }) {
  return aim === undefined ? "" : `at ${isAtLeast ? "least" : "most"} ${aim}`;
}

/**
 * Prints the rows and writes `bench/results/<name>.json`. Ratios compare figures of the same run: machines are shared
 * and noisy, so absolute times say little.
 * @param {string} name
 * @param {readonly Row[]} rows
 * @param {About} about
 */
export function report(name, rows, about) {
  const machine = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? Number.NaN) * 10) / 10,
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(
    `${RESULTS}${name}.json`,
    `${JSON.stringify({ name, date: new Date().toISOString(), machine, about, rows }, null, 2)}\n`,
  );
  console.log(`\n${about.title} (${name}; node ${machine.node}, ${machine.cores} cores, load ${machine.load})`);
  for (const absent of about.absent ?? []) console.log(`Not measured: ${absent.name}: ${absent.reason}`);
  console.table(
    rows.map((row) => ({
      what: row.what,
      figure: Number.isFinite(row.figure) ? `${row.figure.toFixed(1)} ${row.unit}` : "never",
      ...(row.ratio === undefined
        ? {}
        : {
            ratio: row.ratio.toFixed(2),
            to: row.beside,
            aim: aimText(row),
            met: { true: "yes", false: "NO", undefined: "" }[String(meetsAim(row))],
          }),
      ...(row.before === undefined ? {} : { before: row.before.toFixed(2) }),
      ...(row.ofLimit === undefined ? {} : { "× the limit": row.ofLimit.toFixed(2) }),
    })),
  );
}
