// grep over an open store compared with ripgrep on the same files, alternating, warm, medians. Both count matching
// lines and must agree; ripgrep gets two threads, like grep. `node bench/store/grep.js [--files 50000] [--rounds 5]`
// `--folder` and `--store` reuse what an earlier run left with `--keep`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openStore } from "../../packages/store/dist/index.js";
import { isAbsent, systemPeer } from "../peers/peers.js";
import { median, report, timeMs } from "../report.js";
import { writeCorpus } from "./corpus.js";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "50000" },
    rounds: { type: "string", default: "5" },
    folder: { type: "string" },
    store: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});

/** Contains a literal of four letters or more. */
const LITERAL = [
  "parseHTTPRequest",
  "createServer",
  "addEventListener",
  "Permission is hereby granted",
  "sourceMappingURL",
  "\\bconst\\s+\\w+\\s*=\\s*await\\b",
  "import .* from ['\"]node:",
  "throw new \\w*Error\\(",
  "TODO|FIXME|HACK",
  "(?i)copyright \\(c\\)",
  "(?i)httprequest",
  "^export (default )?class ",
  "function\\*? +parse\\w+",
  "deprecated|obsolete",
  "Promise<\\w+\\[\\]>",
  "\\.prototype\\.\\w+ = function",
  "process\\.env\\.[A-Z_]+",
  "charCodeAt\\(\\d\\)",
  "return",
  "undefined;$",
];
/** Contains no such literal. */
const NO_LITERAL = [
  "[A-Z]{4,}_\\d+",
  "\\w+\\s*=\\s*\\d{3,}",
  "^\\s*\\w",
  "\\d+\\.\\d+\\.\\d+",
  "[a-f0-9]{32}",
  "^$",
  "\\b\\w{25,}\\b",
  "[\\u4e00-\\u9fff]",
  "\\p{Lu}{8,}",
  "^.{200,}$",
  "(\\w)\\s*=>\\s*[{(]",
  "\\s+$",
];

const ripgrep = systemPeer("rg");
const title = "grep compared with ripgrep";
if (isAbsent(ripgrep)) {
  report("store-grep", [], { title, workload: "", absent: [ripgrep] });
  process.exit();
}
const home = mkdtempSync(join(tmpdir(), "trunkline-bench-grep-"));
const folder = values.folder ?? join(home, "files");
if (values.folder === undefined) writeCorpus(folder, { files: Number(values.files) });
const storeFolder = values.store ?? join(home, "store");
if (!existsSync(storeFolder)) {
  const made = await openStore({ path: storeFolder, cwd: folder });
  await made.add({ path: folder });
  await made.indexed();
  await made.close();
}
const { files, bytes } = measure();

/** @type {import("../report.js").Row[]} */
const rows = [{ what: `${files} files`, figure: bytes / 2 ** 20, unit: "MiB" }];
// The other queries are warm: contents searched before are in memory. Here nothing is, and most files have the word.
rows.push(...(await coldRows("return", "createServer")));
const store = await openStore({ path: storeFolder, cwd: folder });
for (const [kind, patterns, aim] of /** @type {const} */ ([
  ["literal", LITERAL, 1],
  ["no literal", NO_LITERAL, 5],
])) {
  /** @type {number[]} */
  const ratios = [];
  for (const pattern of patterns) {
    const { rg, ours, lines } = await compare(pattern);
    const beside = `rg -j2 ${pattern}`;
    console.error(`${(ours / rg).toFixed(2)}  ${ours.toFixed(0)} / ${rg.toFixed(0)} ms  ${pattern}`);
    rows.push({ what: beside, figure: rg, unit: "ms" });
    const what = `${kind}, ${lines} lines: ${pattern}`;
    rows.push({ what, figure: ours, unit: "ms", beside, ratio: ours / rg, aim });
    ratios.push(ours / rg);
  }
  rows.push({
    what: `${kind}: patterns within the aim`,
    figure: ratios.filter((ratio) => ratio <= aim).length,
    unit: `of ${ratios.length}`,
  });
  rows.push({ what: `${kind}: median ratio`, figure: median(ratios), unit: "x" });
}
await store.close();
rows.push(...(await commandLineRows("createServer")));
if (values.keep) console.log(`--folder ${folder} --store ${storeFolder}`);
else rmSync(home, { recursive: true, force: true });
report("store-grep", rows, {
  title,
  workload: `${LITERAL.length} patterns that contain a literal and ${NO_LITERAL.length} that do not, on ${files} files, ${values.rounds} alternating rounds, medians. Both count the matching lines, and the run fails if the counts differ.`,
  versions: { ripgrep: ripgrep.version },
  notes: [
    "ripgrep starts a process and reads the files; the store is already open, and after its first query has contents in memory. The rows for the first query and for the command line show how much that matters.",
  ],
});

/** @param {string} pattern */
async function compare(pattern) {
  /** @type {number[]} */
  const rg = [];
  /** @type {number[]} */
  const ours = [];
  const totals = new Set([await rgTotal(pattern), await storeTotal(store, pattern)]);
  for (let round = 0; round < Number(values.rounds); round++) {
    rg.push(await timeMs(async () => totals.add(await rgTotal(pattern))));
    ours.push(await timeMs(async () => totals.add(await storeTotal(store, pattern))));
  }
  if (totals.size !== 1) throw new Error(`${pattern}: rg and grep differ: ${[...totals].join(", ")}`);
  return { rg: median(rg), ours: median(ours), lines: [...totals][0] };
}

/** The first query after opening. @param {...string} patterns */
async function coldRows(...patterns) {
  /** @type {import("../report.js").Row[]} */
  const found = [];
  for (const pattern of patterns) {
    /** @type {number[]} */
    const rg = [];
    /** @type {number[]} */
    const ours = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      rg.push(await timeMs(() => rgTotal(pattern)));
      const opened = await openStore({ path: storeFolder, cwd: folder });
      ours.push(await timeMs(() => storeTotal(opened, pattern)));
      await opened.close();
    }
    found.push(
      comparedWith(`rg -j2 ${pattern}`, { what: `first query after opening: ${pattern}`, rg, ours, aim: 1.5 }),
    );
  }
  return found;
}

/** One grep on the command line without the broker. @param {string} pattern */
async function commandLineRows(pattern) {
  const program = fileURLToPath(new URL("../../packages/cli/bin/trunkline.cjs", import.meta.url));
  const args = [program, "store", "grep", pattern, "--store", storeFolder];
  const env = { ...process.env, TRUNKLINE_BROKER: "off" };
  /** @type {number[]} */
  const rg = [];
  /** @type {number[]} */
  const ours = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    rg.push(await timeMs(() => rgTotal(pattern)));
    ours.push(await timeMs(async () => spawnSync(process.execPath, args, { stdio: "ignore", env })));
  }
  return [comparedWith(`rg -j2 ${pattern}`, { what: `trunkline store grep ${pattern}, no broker`, rg, ours, aim: 2 })];
}

/** @param {string} beside @param {{ what: string, rg: number[], ours: number[], aim: number }} times */
function comparedWith(beside, { what, rg, ours, aim }) {
  const [figure, peer] = [median(ours), median(rg)];
  return { what, figure, unit: "ms", beside: `${beside}: ${peer.toFixed(0)} ms`, ratio: figure / peer, aim };
}

/** @param {import("../../packages/store/dist/index.js").Store} searched @param {string} pattern */
async function storeTotal(searched, pattern) {
  const params = { pattern, count: true };
  let result = await searched.grep(params);
  // On a busy machine a search can time out. The next call continues it, and its total includes the count so far.
  while (result.timedOut !== undefined) result = await searched.grep({ ...params, cursor: result.cursor });
  // Files are counted even if there are more than fit into one answer.
  if (!("total" in result)) throw new Error("the answer has no total");
  return result.total;
}

/** @param {string} pattern @returns {Promise<number>} */
function rgTotal(pattern) {
  return new Promise((resolve, reject) => {
    const child = spawn("rg", ["-j2", "-c", "--no-filename", "--no-ignore", "--hidden", "-e", pattern, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    child.once("error", reject).once("close", () => {
      resolve(text.split("\n").reduce((sum, line) => sum + Number(line), 0));
    });
  });
}

function measure() {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sizes = names.map((name) => statSync(join(folder, name))).filter((stat) => stat.isFile());
  return { files: sizes.length, bytes: sizes.reduce((sum, { size }) => sum + size, 0) };
}
