// What every benchmark shares: medians, a table for people, JSON for programs.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ what: string, figure: number, unit: string, beside?: string, ratio?: number, aim?: number }} Row
 */

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

/**
 * Prints the rows and writes `bench/results/<name>.json`. Ratios compare figures of the same run: machines are shared
 * and noisy, so that absolute times say little.
 * @param {string} name
 * @param {readonly Row[]} rows
 */
export function report(name, rows) {
  const machine = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
  const folder = fileURLToPath(new URL("./results/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    `${folder}${name}.json`,
    `${JSON.stringify({ name, date: new Date().toISOString(), machine, rows }, null, 2)}\n`,
  );
  console.log(`\n${name} (node ${machine.node}, ${machine.cores} cores)`);
  console.table(
    rows.map(({ what, figure, unit, beside, ratio, aim }) => ({
      what,
      figure: `${figure.toFixed(1)} ${unit}`,
      ...(ratio === undefined
        ? {}
        : {
            ratio: ratio.toFixed(2),
            to: beside,
            aim: aim === undefined ? "" : `<= ${aim}`,
            met: aim === undefined ? "" : ratio <= aim ? "yes" : "NO",
          }),
    })),
  );
}
