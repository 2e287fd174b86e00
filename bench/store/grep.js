// grep against ripgrep on the same files: over files, without any index, which is what matching itself costs; and over a
// store that holds the files, with its index. All count matching lines; ripgrep has two threads, as grep has. `node bench/store/grep.js [--files 4000] [--rounds 5] [--folder <dir>]`
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { GrepPool, grep } from "../../packages/store/dist/grep/index.js";
import { openStore } from "../../packages/store/dist/index.js";
import { median, report, timeMs } from "../report.js";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "4000" },
    rounds: { type: "string", default: "5" },
    folder: { type: "string" },
  },
});
const PATTERNS = [
  ["literal", "parseHTTPRequest"],
  ["literal in many lines", "return"],
  ["literal and classes", "\\bconst\\s+\\w+\\s*=\\s*await\\b"],
  ["alternation", "TODO|FIXME|XXX"],
  ["literal, any case", "(?i)httprequest"],
  ["no literal", "[A-Z]{4,}_\\d+"],
  ["no literal, Unicode classes", "\\w+\\s*=\\s*\\d{3,}"],
  ["no literal, every line", "^\\s*\\w"],
];

if (spawnSync("rg", ["--version"]).status !== 0) {
  console.error("rg is not installed; it is what this is measured against.");
  process.exit(2);
}
const made = values.folder === undefined ? makeFiles(Number(values.files)) : undefined;
const folder = values.folder ?? /** @type {string} */ (made);
const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => statSync(join(folder, name)).isFile())
  .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const documents = names.map((path) => ({ path, hash: "", sizeBytes: statSync(join(folder, path)).size }));
const bytes = documents.reduce((sum, document) => sum + document.sizeBytes, 0);
const contents = names.map((name) => readFileSync(join(folder, name)));
const onDisk = sourceOf(documents);
const inMemory = sourceOf(
  documents.map((document, index) => ({ ...document, read: async () => /** @type {Buffer} */ (contents[index]) })),
);
const module = new URL("../../packages/store/test/grep/disk-reader.js", import.meta.url).href;
const readers = new GrepPool({ threads: 2, reader: { module, data: { folder } } });
const oneReader = new GrepPool({ threads: 1, reader: { module, data: { folder } } });
const matchers = new GrepPool({ threads: 2 });
const storeFolder = mkdtempSync(join(tmpdir(), "trunkline-bench-grep-store-"));
const store = await openStore({ path: storeFolder, cwd: folder });
await addAll();

/** @type {import("../report.js").Row[]} */
const rows = [{ what: `${names.length} files`, figure: bytes / 2 ** 20, unit: "MiB" }];
for (const [kind, pattern] of PATTERNS) {
  if (pattern === undefined) continue;
  /** @type {Record<"rg" | "disk" | "one" | "memory" | "store", number[]>} */
  const times = { rg: [], disk: [], one: [], memory: [], store: [] };
  /** @type {Set<number>} */
  const totals = new Set();
  const limits = { budgetMs: 120_000 };
  const params = { pattern, count: true };
  for (let round = 0; round < Number(values.rounds); round++) {
    times.rg.push(await timeMs(async () => totals.add(await rgTotal(pattern))));
    times.disk.push(
      await timeMs(async () => totals.add(totalOf(await grep(params, { source: onDisk, pool: readers, limits })))),
    );
    times.one.push(
      await timeMs(async () => totals.add(totalOf(await grep(params, { source: onDisk, pool: oneReader, limits })))),
    );
    times.memory.push(
      await timeMs(async () => totals.add(totalOf(await grep(params, { source: inMemory, pool: matchers, limits })))),
    );
    times.store.push(await timeMs(async () => totals.add(totalOf(await store.grep(params)))));
  }
  if (totals.size !== 1) throw new Error(`${pattern}: rg and grep differ: ${[...totals].join(", ")}`);
  const rg = median(times.rg);
  const beside = `rg -j2 ${pattern}`;
  rows.push({ what: beside, figure: rg, unit: "ms" });
  for (const [how, name] of /** @type {const} */ ([
    ["disk", "threads read"],
    ["one", "one thread reads"],
    ["memory", "main thread hands over"],
    ["store", "store.grep"],
  ])) {
    const figure = median(times[how]);
    rows.push({ what: `${kind}: ${name}`, figure, unit: "ms", beside, ratio: figure / rg });
  }
}
await Promise.all([readers.close(), oneReader.close(), matchers.close(), store.close()]);
rmSync(storeFolder, { recursive: true, force: true });
if (made !== undefined) rmSync(made, { recursive: true, force: true });
report("grep", rows);

/** Everything that ripgrep sees; .gitignore would leave some of it out of a folder. */
async function addAll() {
  for (let index = 0; index < names.length; index += 1000) {
    await store.add({ paths: names.slice(index, index + 1000) });
  }
  await store.indexed();
}

/** @param {readonly import("../../packages/store/dist/grep/index.js").GrepDocument[]} all */
function sourceOf(all) {
  return {
    async *documents() {
      for (let index = 0; index < all.length; index += 500) yield all.slice(index, index + 500);
    },
  };
}

/** @param {import("../../packages/store/dist/grep/index.js").GrepResult} result */
function totalOf(result) {
  if (!("total" in result) || result.truncated) throw new Error("the answer is not complete");
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

/** Files that look like source. @param {number} count */
function makeFiles(count) {
  const root = mkdtempSync(join(tmpdir(), "trunkline-bench-grep-"));
  let state = 1;
  /** @param {number} below */
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  const words =
    "value index request response parser config handler result stream buffer token error caf\u00e9 client server".split(
      " ",
    );
  const word = () => `${words[random(words.length)]}${random(4) === 0 ? random(900) : ""}`;
  const lines = [
    () => `  const ${word()} = await ${word()}(${word()}, { ${word()}: ${random(5000)} });`,
    () => `  if (${word()} === undefined) return ${word()}.${word()}(${word()});`,
    () => `// The ${word()} of a ${word()} is the ${word()} that ${word()} needs${random(40) === 0 ? " TODO" : ""}.`,
    () => `export function ${word()}(${word()}: string): ${word()} {`,
    () => "}",
    () => "",
    () => `  static readonly MAX_${words[random(words.length)]?.toUpperCase()}_${random(9)} = "${word()} ${word()}";`,
    () => `  ${random(300) === 0 ? "parseHTTPRequest" : word()}(${word()}).then((${word()}) => ${word()}.${word()});`,
  ];
  for (let number = 0; number < count; number++) {
    const file = join(root, `d${number % 40}`, `f${number}.ts`);
    if (number < 40) mkdirSync(dirname(file));
    writeFileSync(
      file,
      Array.from({ length: 20 + random(300) }, () => `${lines[random(lines.length)]?.()}\n`).join(""),
    );
  }
  return root;
}
