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
const isNew = !existsSync(storeFolder);
const store = await openStore({ path: storeFolder, cwd: folder });
if (isNew) {
  await store.add({ path: folder });
  await store.indexed();
}
const { files, bytes } = measure();

/** @type {import("../report.js").Row[]} */
const rows = [{ what: `${files} files`, figure: bytes / 2 ** 20, unit: "MiB" }];
// The other queries are warm: contents searched before are in memory. This one has to read everything.
const coldMs = await timeMs(() => storeTotal("return"));
rows.push({ what: "first query after opening, nothing in memory: return", figure: coldMs, unit: "ms" });
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
rows.push({ what: "one grep on the command line, including startup", figure: await commandLineMs(), unit: "ms" });
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
  const totals = new Set([await rgTotal(pattern), await storeTotal(pattern)]);
  for (let round = 0; round < Number(values.rounds); round++) {
    rg.push(await timeMs(async () => totals.add(await rgTotal(pattern))));
    ours.push(await timeMs(async () => totals.add(await storeTotal(pattern))));
  }
  if (totals.size !== 1) throw new Error(`${pattern}: rg and grep differ: ${[...totals].join(", ")}`);
  return { rg: median(rg), ours: median(ours), lines: [...totals][0] };
}

/** @param {string} pattern */
async function storeTotal(pattern) {
  const params = { pattern, count: true };
  let result = await store.grep(params);
  // On a busy machine a search can time out. The next call continues it, and its total includes the count so far.
  while (result.timedOut !== undefined) result = await store.grep({ ...params, cursor: result.cursor });
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

async function commandLineMs() {
  const program = fileURLToPath(new URL("../../packages/cli/bin/trunkline.cjs", import.meta.url));
  /** @type {number[]} */
  const times = [];
  for (let round = 0; round < 3; round++) {
    times.push(
      await timeMs(async () => {
        spawnSync(process.execPath, [program, "store", "grep", "createServer", "--store", storeFolder], {
          stdio: "ignore",
        });
      }),
    );
  }
  return median(times);
}

function measure() {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sizes = names.map((name) => statSync(join(folder, name))).filter((stat) => stat.isFile());
  return { files: sizes.length, bytes: sizes.reduce((sum, { size }) => sum + size, 0) };
}
