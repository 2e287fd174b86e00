// How good search is on judged questions: nDCG@10 and recall@10 by keyword, by meaning and by both. Any folder in BEIR's
// format (corpus.jsonl, queries.jsonl, qrels/test.tsv) can be given; the small set of prose beside this file is ours.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder, pullModel } from "../../packages/embed/dist/index.js";
import { openStore } from "../../packages/store/dist/index.js";
import { report } from "../report.js";

const { values } = parseArgs({
  options: {
    beir: { type: "string", default: fileURLToPath(new URL("prose", import.meta.url)) },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
  },
});
const folder = resolve(values.beir);
const methods = /** @type {const} */ (["keyword", "semantic", "hybrid"]);

/** @param {string} name @returns {{ _id: string, title?: string, text: string }[]} */
function readLines(name) {
  const lines = readFileSync(join(folder, name), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** What is right for each question, and how much. @returns {Map<string, Map<string, number>>} */
function readJudgements() {
  /** @type {Map<string, Map<string, number>>} */
  const judged = new Map();
  const [, ...lines] = readFileSync(join(folder, "qrels", "test.tsv"), "utf8")
    .trim()
    .split("\n");
  for (const line of lines) {
    const [query = "", document = "", grade] = line.split("\t");
    if (Number(grade) <= 0) continue;
    const right = judged.get(query) ?? new Map();
    judged.set(query, right.set(document, Number(grade)));
  }
  return judged;
}

/** @param {readonly number[]} grades */
function gain(grades) {
  return grades.reduce((sum, grade, at) => sum + grade / Math.log2(at + 2), 0);
}

const home = mkdtempSync(join(tmpdir(), "trunkline-bench-quality-"));
await pullModel({ home: values.home });
const embedder = await createEmbedder({ home: values.home });
const store = await openStore({ path: join(home, "store"), embedder });
const corpus = readLines("corpus.jsonl");
const started = performance.now();
const documents = join(home, "documents");
mkdirSync(documents);
for (const { _id, title, text } of corpus) {
  writeFileSync(join(documents, encodeURIComponent(_id)), title ? `# ${title}\n\n${text}` : text);
}
await store.add({ path: documents });
await store.indexed();
const indexingMs = performance.now() - started;

const judged = readJudgements();
const questions = readLines("queries.jsonl").filter(({ _id }) => judged.has(_id));
/** @type {Record<string, { ndcg: number, recall: number }>} */
const sums = Object.fromEntries(methods.map((type) => [type, { ndcg: 0, recall: 0 }]));
for (const { _id, text } of questions) {
  const right = /** @type {Map<string, number>} */ (judged.get(_id));
  const ideal = gain([...right.values()].sort((a, b) => b - a).slice(0, 10));
  for (const type of methods) {
    const found = await store.search({ query: text, type, limit: 10 });
    if (!("results" in found) || found.type !== type) throw new Error(`"${text}" was not searched by ${type}`);
    const grades = found.results.map(({ path }) => right.get(decodeURIComponent(basename(path))) ?? 0);
    const sum = /** @type {{ ndcg: number, recall: number }} */ (sums[type]);
    sum.ndcg += gain(grades) / ideal;
    sum.recall += grades.filter((grade) => grade > 0).length / right.size;
  }
}
await store.close();
await embedder.close();
rmSync(home, { recursive: true, force: true });

report(`store-quality-${basename(folder)}`, [
  ...methods.flatMap((type) => {
    const { ndcg = 0, recall = 0 } = sums[type] ?? {};
    return [
      { what: `${type}: nDCG@10`, figure: (100 * ndcg) / questions.length, unit: "%" },
      { what: `${type}: recall@10`, figure: (100 * recall) / questions.length, unit: "%" },
    ];
  }),
  { what: "questions", figure: questions.length, unit: "" },
  { what: `${corpus.length} documents added and embedded`, figure: indexingMs / 1000, unit: "s" },
]);
