// docs/benchmarks.md, made of the results of the last runs.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BENCHMARKS } from "./plan.js";
import { aimText, meetsAim, RESULTS } from "./report.js";

/** @typedef {import("./report.js").Result} Result */
/** @typedef {import("./report.js").Row} Row */

const OPENING = `# Benchmarks

Written by \`npm run bench\`; do not edit. Run it yourself: it installs the other programs at the versions named below into
a folder of its own, and compares within one run.

Machines are shared and noisy. Absolute times say little; the ratio of two figures taken side by side says more. An aim is
what we promised; where it says **no**, we have not kept it yet.
`;

/** The results at hand, in the order of the plan. @returns {Result[]} */
export function readResults() {
  if (!existsSync(RESULTS)) return [];
  const files = readdirSync(RESULTS).filter((file) => file.endsWith(".json"));
  /** @type {Result[]} */
  const results = files.map((file) => JSON.parse(readFileSync(join(RESULTS, file), "utf8")));
  return results
    .filter(({ name }) => placeOf(name) !== -1)
    .sort((a, b) => placeOf(a.name) - placeOf(b.name) || (a.name < b.name ? -1 : 1));
}

/** @param {string} name */
function placeOf(name) {
  return BENCHMARKS.findIndex((benchmark) => name.startsWith(benchmark.name));
}

/** @param {readonly Result[]} results */
export function benchmarkPage(results) {
  const missing = BENCHMARKS.filter(({ name }) => !results.some((result) => result.name.startsWith(name)));
  const parts = [OPENING, machineText(results), behindText(results), ...results.map(section)];
  if (missing.length > 0) {
    parts.push(`## Not measured\n\nNo result of these is at hand: ${missing.map(({ name }) => name).join(", ")}.\n`);
  }
  return parts.join("\n");
}

/** @param {readonly Result[]} results */
function machineText(results) {
  const machines = results.map(({ machine }) => machineLine(machine));
  return [...new Set(machines)].map((line) => `Measured on ${line}.\n`).join("");
}

/** What a reader would else have to look for. @param {readonly Result[]} results */
function behindText(results) {
  const lines = results.flatMap(({ about, rows }) =>
    rows
      .filter((row) => row.isBehind === true || meetsAim(row) === false)
      .map((row) => {
        const aim = row.aim === undefined ? "" : `; the aim is ${aimText(row)}`;
        return `- ${about.title}: ${cell(row.what)}: ${precise(row.ratio ?? Number.NaN)} × ${cell(row.beside ?? "")}${aim}`;
      }),
  );
  const list = lines.length === 0 ? "Nowhere in these runs." : lines.join("\n");
  return `## Where we are behind\n\nAnother program is better at this, or an aim is not met:\n\n${list}\n`;
}

/** @param {import("./report.js").Machine} machine */
function machineLine({ node, platform, processor, cores, memoryGiB }) {
  return `${processor}, ${cores} cores, ${memoryGiB} GiB, ${platform}, Node ${node}`;
}

/** @param {Result} result */
function section({ name, date, machine, about, rows }) {
  const lines = [`## ${about.title}`, "", about.workload, ""];
  const versions = Object.entries(about.versions ?? {}).map(([program, version]) => `${program} ${version}`);
  if (versions.length > 0) lines.push(`Beside: ${versions.join(", ")}.`, "");
  for (const absent of about.absent ?? []) lines.push(`Not measured: **${absent.name}**, because ${absent.reason}`, "");
  if (rows.length > 0) lines.push(...table(rows), "");
  for (const note of about.notes ?? []) lines.push(`- ${note}`);
  if ((about.notes ?? []).length > 0) lines.push("");
  lines.push(`\`npm run bench -- ${commandName(name)}\`, ${date.slice(0, 10)}, load ${machine.load}.`, "");
  return lines.join("\n");
}

/** The benchmark that wrote this result. @param {string} name */
function commandName(name) {
  return BENCHMARKS[placeOf(name)]?.name ?? name;
}

/** A row that only one other stands beside is told there. @param {readonly Row[]} all @returns {Row[]} */
function folded(all) {
  const uses = (/** @type {string} */ what) => all.filter(({ beside }) => beside === what).length;
  return all
    .filter(({ what, ratio }) => ratio !== undefined || uses(what) !== 1)
    .map((row) => {
      const other = all.find(({ what, ratio }) => what === row.beside && ratio === undefined && uses(what) === 1);
      return other === undefined ? row : { ...row, beside: `${other.what}: ${figureText(other)}` };
    });
}

/** @param {readonly Row[]} all */
function table(all) {
  const rows = folded(all);
  if (rows.every(({ ratio }) => ratio === undefined)) {
    return ["| what | figure |", "|---|---:|", ...rows.map((row) => `| ${cell(row.what)} | ${figureText(row)} |`)];
  }
  return [
    "| what | figure | ratio | to | aim | met |",
    "|---|---:|---:|---|---|---|",
    ...rows.map(
      (row) =>
        `| ${cell(row.what)} | ${figureText(row)} | ${row.ratio === undefined ? "" : precise(row.ratio)} | ${cell(row.beside ?? "")} | ${aimText(row)} | ${metText(row)} |`,
    ),
  ];
}

/** @param {Row} row */
function metText(row) {
  const met = meetsAim(row);
  if (met === undefined) return "";
  return met ? "yes" : "**no**";
}

/** @param {Row} row */
function figureText({ figure, unit }) {
  return `${precise(figure)} ${unit}`.trim();
}

/** Three digits that mean something. @param {number} figure */
function precise(figure) {
  if (!Number.isFinite(figure)) return "never";
  if (Number.isInteger(figure) || Math.abs(figure) >= 1000) return Math.round(figure).toLocaleString("en");
  return String(Number(figure.toPrecision(3)));
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
