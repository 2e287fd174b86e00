// Measures the disk usage of a store of source code, relative to its text, without and with vectors, and which tables take
// it. `node bench/store/disk.js [--files 5000] [--tree <folder>] [--beir <folder>] [--texts 4000]`: without a folder, the
// tree consists of whole installed packages. With judged questions in BEIR's format, it also measures how many of the
// nearest texts are found with stored vectors, by the real model.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder } from "../../packages/embed/dist/index.js";
import { sqlite } from "../../packages/store/dist/engine/sqlite/driver.js";
import { openStore } from "../../packages/store/dist/index.js";
import { cosine, lengthOf, numbersOf, vectorBytes } from "../../packages/store/dist/search/vector-math.js";
import { report } from "../report.js";
import { cheapEmbedder } from "./cheap-embedder.js";
import { randomNumbers } from "./corpus.js";
import { readJudged } from "./judged.js";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "5000" },
    tree: { type: "string" },
    beir: { type: "string" },
    texts: { type: "string", default: "4000" },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
  },
});
const AIMS = { without: 1.5, with: 3, recall: 0.99 };
const NEAREST = 10;
const MOST_QUESTIONS = 200;
const MOST_BYTES = 200_000;
/** Tables with a smaller share of the disk are added up in one row. */
const LEAST_SHARE = 0.01;
const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

const home = mkdtempSync(join(tmpdir(), "trunkline-bench-disk-"));
const tree = join(home, "tree");
const path = join(home, "store");
const text = values.tree === undefined ? copyPackages(Number(values.files)) : copyFiles(values.tree);

await index({});
const without = diskOf();
await index({ embedder: cheapEmbedder() });
const withVectors = diskOf();
rmSync(home, { recursive: true, force: true });

report(
  "store-disk",
  [
    { what: `${text.files} files of source code`, figure: text.bytes / 2 ** 20, unit: "MiB" },
    sizeRow("without vectors", without, AIMS.without),
    sizeRow("with vectors", withVectors, AIMS.with),
    ...tableRows(withVectors),
    ...(values.beir === undefined ? [] : [await recallRow(values.beir)]),
  ],
  {
    title: "Disk usage of source code",
    workload: `${text.files} distinct files of JavaScript, TypeScript, Markdown and JSON, ${values.tree === undefined ? "from whole packages, " : ""}fully indexed, including history, search, patterns and the code graph. The store is closed before it is measured.`,
    notes: ["Vectors have 384 dimensions and come from a stand-in, which has the size of the real model's."],
  },
);

/** Copies randomly chosen packages (the same in every run) until there are enough files. @param {number} wanted */
function copyPackages(wanted) {
  const random = randomNumbers(1);
  const order = packageFolders()
    .map((folder) => ({ folder, at: random() }))
    .sort((a, b) => a.at - b.at);
  const copied = { files: 0, bytes: 0 };
  const known = new Set();
  for (const { folder } of order) copyFrom(folder, { root: PACKAGES, wanted, copied, known });
  return copied;
}

/** @param {string} root */
function copyFiles(root) {
  const copied = { files: 0, bytes: 0 };
  copyFrom(root, { root, wanted: Number.POSITIVE_INFINITY, copied, known: new Set() });
  return copied;
}

/** @param {string} folder @param {{ root: string, wanted: number, copied: { files: number, bytes: number }, known: Set<string> }} state */
function copyFrom(folder, state) {
  for (const entry of sorted(folder)) {
    if (state.copied.files >= state.wanted) return;
    const source = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isDirectory()) copyFrom(source, state);
    if (!entry.isFile() || !/\.([cm]?[jt]s|md|json)$/.test(entry.name) || statSync(source).size > MOST_BYTES) continue;
    const content = readFileSync(source);
    const hash = createHash("sha256").update(content).digest("hex");
    if (content.length === 0 || state.known.has(hash)) continue;
    state.known.add(hash);
    const target = join(tree, relative(state.root, source));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target);
    state.copied.files++;
    state.copied.bytes += content.length;
  }
}

/** Lists the installed packages, without links to our own. */
function packageFolders() {
  return sorted(PACKAGES)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) =>
      name.startsWith("@")
        ? sorted(join(PACKAGES, name))
            .filter((entry) => entry.isDirectory())
            .map((entry) => join(PACKAGES, name, entry.name))
        : [join(PACKAGES, name)],
    );
}

/** @param {string} folder */
function sorted(folder) {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Adds the tree and waits until everything is indexed. @param {{ embedder?: import("@trunkline/core").Embedder }} options */
async function index(options) {
  const store = await openStore({ path, ...options });
  await store.add({ path: tree });
  await store.indexed();
  const { total } = await store.search({ query: "function", limit: 1 });
  if (total === 0) throw new Error("nothing was found");
  await store.close();
}

/** Returns the bytes of the store's folder, and of each table in both databases. */
function diskOf() {
  const bytes = readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
  /** @type {{ table: string, bytes: number }[]} */
  const tables = [];
  for (const name of ["content", "index"]) {
    const db = sqlite.open(join(path, `${name}.sqlite`), { readOnly: true, busyMs: 5_000 });
    const rows = /** @type {{ name: string, bytes: number }[]} */ (
      db.prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name", "objects").all([])
    );
    const free = Number(db.pragma("freelist_count")) * Number(db.pragma("page_size"));
    tables.push(...rows.map((row) => ({ table: `${name}: ${row.name}`, bytes: row.bytes })));
    tables.push({ table: `${name}: free pages`, bytes: free });
    db.close();
  }
  return { bytes, tables };
}

/** @param {string} what @param {{ bytes: number }} disk @param {number} aim */
function sizeRow(what, { bytes }, aim) {
  const ratio = bytes / text.bytes;
  return { what: `disk, ${what}`, figure: bytes / 2 ** 20, unit: "MiB", beside: "the text", ratio, aim };
}

/** @param {{ bytes: number, tables: { table: string, bytes: number }[] }} disk */
function tableRows({ bytes, tables }) {
  const isLarge = (/** @type {{ bytes: number }} */ table) => table.bytes >= bytes * LEAST_SHARE;
  const large = tables.filter(isLarge).sort((a, b) => b.bytes - a.bytes);
  const rest = tables.filter((table) => !isLarge(table)).reduce((sum, table) => sum + table.bytes, 0);
  return [...large, { table: "everything else", bytes: rest }].map((table) => ({
    what: table.table,
    figure: table.bytes / 2 ** 20,
    unit: "MiB",
  }));
}

/** Compares the nearest texts by stored vectors with those by the model's own. @param {string} folder */
async function recallRow(folder) {
  const { corpus, questions } = readJudged(folder);
  const model = await createEmbedder({ home: values.home });
  const floats = await embedAll(
    model,
    corpus.slice(0, Number(values.texts)).map((line) => line.text),
  );
  const queries = await embedAll(
    model,
    questions.slice(0, MOST_QUESTIONS).map((question) => question.text),
  );
  await model.close();
  const stored = floats.map((vector) => {
    const numbers = numbersOf(vectorBytes(vector), vector.length);
    if (numbers === undefined) throw new Error("a stored vector has another size");
    return numbers;
  });
  let same = 0;
  for (const query of queries) {
    const found = new Set(nearest(query, stored));
    same += nearest(query, floats).filter((at) => found.has(at)).length;
  }
  const ratio = same / (queries.length * NEAREST);
  return {
    what: `recall@${NEAREST} of stored vectors, ${floats.length} texts, ${queries.length} questions`,
    figure: ratio * 100,
    unit: "%",
    beside: "float vectors",
    ratio,
    aim: AIMS.recall,
    isAtLeast: true,
  };
}

/** @param {import("@trunkline/core").Embedder} model @param {readonly string[]} texts */
async function embedAll(model, texts) {
  /** @type {Float32Array[]} */
  const vectors = [];
  for (let at = 0; at < texts.length; at += 32) vectors.push(...(await model.embed(texts.slice(at, at + 32))));
  return vectors;
}

/** @param {Float32Array} query @param {readonly (Float32Array | Int8Array)[]} vectors */
function nearest(query, vectors) {
  const length = lengthOf(query);
  return vectors
    .map((vector, at) => ({ at, score: cosine(query, vector, length) }))
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, NEAREST)
    .map(({ at }) => at);
}
