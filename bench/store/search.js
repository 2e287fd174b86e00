// Search latency for the caller, keyword and hybrid, and the store's memory and disk usage, as one store grows. `node
// bench/store/search.js [--sizes 1000,10000,50000] [--rounds 60]`. Documents get vectors from a model that costs
// nothing, and names that keep the graph from parsing them, so that the build takes minutes; the cost of a query with
// the real model is a separate row. Each size is measured in a process of its own (`--measure`), whose memory is that of
// the store: this one holds the sources of the corpus.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder } from "../../packages/embed/dist/index.js";
import { openStore } from "../../packages/store/dist/index.js";
import { median, report, timeMs } from "../report.js";
import { cheapEmbedder } from "./cheap-embedder.js";
import { questions, writeCorpus } from "./corpus.js";

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,10000,50000" },
    rounds: { type: "string", default: "60" },
    measure: { type: "string" },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
  },
});
/**
 * What a process of its own measures.
 * @typedef {{ firstMs: number, keyword: number[], hybrid: number[], typos: number[], idleBytes: number, bytes: number }} Measured
 */
if (values.measure !== undefined) {
  console.log(JSON.stringify(await measure(values.measure)));
  process.exit();
}
const AIMS = { keyword: 10, hybrid: 15 };
const LINES = 60;
const sizes = values.sizes.split(",").map(Number);

const home = mkdtempSync(join(tmpdir(), "trunkline-bench-search-"));
const folder = join(home, "documents");
const path = join(home, "store");
const asked = questions({ count: Number(values.rounds) });
writeFileSync(join(home, "questions.json"), JSON.stringify(asked));
/** @type {import("../report.js").Row[]} */
const rows = [];
/** The figures tracked as the store grows. @type {Map<string, number[]>} */
const growing = new Map();
let bytes = 0;
let from = 0;
for (const size of sizes) {
  bytes += writeCorpus(folder, { files: size, from, lines: LINES, ending: ".txt" });
  from = size;
  const builtMs = await timeMs(build);
  console.error(`${size} documents built in ${(builtMs / 1000).toFixed(0)} s`);
  const args = [fileURLToPath(import.meta.url), "--measure", home];
  /** @type {Measured} */
  const measured = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  rows.push({ what: `${size} documents`, figure: bytes / 2 ** 20, unit: "MiB" });
  rows.push({ what: `${size}: added and indexed up to here`, figure: builtMs / 1000, unit: "s" });
  rows.push({ what: `${size}: first hybrid search after opening`, figure: measured.firstMs, unit: "ms" });
  for (const type of /** @type {const} */ (["keyword", "hybrid"])) {
    const times = measured[type];
    const beside = `${AIMS[type]} ms`;
    const figure = median(times);
    watch(`${type} search, p50`, figure);
    // The aim is set for the largest store, but applies to smaller ones too.
    rows.push({ what: `${type}, ${size}: p50`, figure, unit: "ms", beside, ratio: figure / AIMS[type], aim: 1 });
    rows.push({ what: `${type}, ${size}: p95`, figure: percentile(times, 0.95), unit: "ms" });
  }
  rows.push({ what: `keyword with a typo, ${size}: p50`, figure: median(measured.typos), unit: "ms" });
  const disk = diskBytes();
  watch("time to add and index", builtMs);
  watch("memory", measured.bytes);
  watch("disk", disk);
  rows.push({ what: `memory, ${size}`, figure: measured.bytes / 2 ** 20, unit: "MiB" });
  rows.push({
    what: `memory after its threads have ended, ${size}`,
    figure: measured.idleBytes / 2 ** 20,
    unit: "MiB",
  });
  rows.push({ what: `disk, ${size}`, figure: disk / 2 ** 20, unit: "MiB" });
}
rmSync(home, { recursive: true, force: true });
const times = (sizes.at(-1) ?? 1) / (sizes[0] ?? 1);
for (const [what, figures] of growing) {
  const figure = (figures.at(-1) ?? Number.NaN) / (figures[0] ?? Number.NaN);
  rows.push({ what: `${times} times as many documents: ${what}`, figure, unit: "×" });
}
rows.push(...(await modelRows()));
report("store-search", rows, {
  title: "Search as the store grows",
  workload: `${asked.length} questions of two to four words, by keyword and hybrid, at ${sizes.join(", ")} documents of at most ${LINES} lines; the memory of a process that opens the store and searches it, and the size of the store's folder.`,
  notes: [
    "Vectors come from a stand-in that costs nothing, so that the store can be built in minutes; the last row shows what the real model adds to a new question.",
  ],
});

/** @param {string} what @param {number} figure */
function watch(what, figure) {
  growing.set(what, [...(growing.get(what) ?? []), figure]);
}

async function build() {
  const store = await openStore({ path, embedder: cheapEmbedder() });
  await store.add({ path: folder });
  await store.indexed();
  await store.close();
}

/** Opens the store of an earlier step and searches it. @param {string} folder @returns {Promise<Measured>} */
async function measure(folder) {
  /** @type {string[]} */
  const queries = JSON.parse(readFileSync(join(folder, "questions.json"), "utf8"));
  const idleMs = 30_000;
  const store = await openStore({ path: join(folder, "store"), embedder: cheapEmbedder(), idleMs });
  /** @param {"keyword" | "hybrid"} type @param {(query: string) => string} change */
  const timesOf = async (type, change) => {
    /** @type {number[]} */
    const times = [];
    for (const query of queries) times.push(await timeMs(() => store.search({ query: change(query), type })));
    return times;
  };
  const firstMs = await timeMs(() => store.search({ query: "warm up" }));
  const keyword = await timesOf("keyword", (query) => query);
  const hybrid = await timesOf("hybrid", (query) => query);
  const typos = await timesOf("keyword", (query) => withTypo(query.split(" ")[0] ?? ""));
  const memory = process.memoryUsage.rss();
  // Longer than all threads stay idle, one after the other.
  await new Promise((resolve) => setTimeout(resolve, 2.5 * idleMs));
  const idleBytes = process.memoryUsage.rss();
  await store.close();
  return { firstMs, keyword, hybrid, typos, idleBytes, bytes: memory };
}

/** @param {string} word */
function withTypo(word) {
  return `${word.slice(0, 2)}${word.slice(3)}x`;
}

/** @param {readonly number[]} times @param {number} part */
function percentile(times, part) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN;
}

function diskBytes() {
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

/** Measures the cost that the real model adds to each new query. @returns {Promise<import("../report.js").Row[]>} */
async function modelRows() {
  try {
    const model = await createEmbedder({ home: values.home });
    /** @type {number[]} */
    const times = [];
    for (const question of asked) times.push(await timeMs(() => model.embed([question])));
    await model.close();
    return [{ what: "one query embedded by the real model: p50", figure: median(times), unit: "ms" }];
  } catch (error) {
    console.error(`The real model is not installed (get it with trunkline models pull): ${error}`);
    return [];
  }
}
