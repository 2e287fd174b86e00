// What every benchmark shares: medians, a table for people, JSON for programs and for the page.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

/**
 * A figure; with `ratio` it stands beside another one of the same run. An aim is the most a ratio may be. `isBehind`: the
 * other program is better at this.
 * @typedef {{ what: string, figure: number, unit: string, beside?: string, ratio?: number, aim?: number, isBehind?: boolean }} Row
 *
 * What a reader has to know: a heading, what was done, versions of the other programs, those that could not be measured and
 * why, and remarks.
 * @typedef {{ title: string, workload: string, versions?: Record<string, string>, absent?: { name: string, reason: string }[], notes?: string[] }} About
 *
 * @typedef {{ node: string, platform: string, processor: string, cores: number, memoryGiB: number, load: number }} Machine
 * @typedef {{ name: string, date: string, machine: Machine, about: About, rows: Row[] }} Result
 */

/** Where results are written, one file for each benchmark. */
export const RESULTS = fileURLToPath(new URL("./results/", import.meta.url));

/** The middle of a list of numbers. @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** How long the work takes. @param {() => Promise<unknown>} work */
export async function timeMs(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Whether a row meets its aim; undefined without one. @param {Row} row */
export function meetsAim({ ratio, aim }) {
  return ratio === undefined || aim === undefined ? undefined : ratio <= aim;
}

/** An aim in words. @param {Row} row */
export function aimText({ aim }) {
  return aim === undefined ? "" : `at most ${aim}`;
}

/**
 * Prints the rows and writes `bench/results/<name>.json`. Ratios compare figures of the same run: machines are shared
 * and noisy, so that absolute times say little.
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
    })),
  );
}
