// Search quality on judged questions: nDCG@10 and recall@10 by keyword, by meaning and hybrid. `--beir` names a folder
// in BEIR's format and can be repeated; the default is our own small prose set next to this file, and CoSQA if it is
// next to the project.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder, pullModel } from "../../packages/embed/dist/index.js";
import { openStore } from "../../packages/store/dist/index.js";
import { report } from "../report.js";
import { readJudged, scoresOf } from "./judged.js";

const METHODS = /** @type {const} */ (["keyword", "semantic", "hybrid"]);
const PROSE = fileURLToPath(new URL("prose", import.meta.url));
const COSQA = fileURLToPath(new URL("../../../shared/data/cosqa", import.meta.url));

const { values } = parseArgs({
  options: {
    beir: { type: "string", multiple: true, default: [PROSE, COSQA].filter((folder) => existsSync(folder)) },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
  },
});

await pullModel({ home: values.home });
for (const folder of values.beir) await measure(resolve(folder));

/** @param {string} folder */
async function measure(folder) {
  const { corpus, questions } = readJudged(folder);
  const home = mkdtempSync(join(tmpdir(), "trunkline-bench-quality-"));
  const embedder = await createEmbedder({ home: values.home });
  const store = await openStore({ path: join(home, "store"), embedder });
  const started = performance.now();
  const documents = join(home, "documents");
  mkdirSync(documents);
  for (const { _id, title, text } of corpus) {
    writeFileSync(join(documents, encodeURIComponent(_id)), title ? `# ${title}\n\n${text}` : text);
  }
  await store.add({ path: documents });
  await store.indexed();
  const indexingMs = performance.now() - started;

  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const type of METHODS) {
    const sum = { ndcg: 0, recall: 0 };
    for (const { text, right } of questions) {
      const found = await store.search({ query: text, type, limit: 10 });
      if (!("results" in found) || found.type !== type) throw new Error(`"${text}" was not searched by ${type}`);
      const names = found.results.map(({ path }) => decodeURIComponent(basename(path)));
      const { ndcg, recall } = scoresOf(names, right);
      sum.ndcg += ndcg;
      sum.recall += recall;
    }
    rows.push({ what: `${type}: nDCG@10`, figure: (100 * sum.ndcg) / questions.length, unit: "%" });
    rows.push({ what: `${type}: recall@10`, figure: (100 * sum.recall) / questions.length, unit: "%" });
  }
  rows.push({ what: `${corpus.length} documents added and embedded`, figure: indexingMs / 1000, unit: "s" });
  await store.close();
  await embedder.close();
  rmSync(home, { recursive: true, force: true });
  report(`store-quality-${basename(folder)}`, rows, {
    title: `Search quality: ${basename(folder)}`,
    workload: `${questions.length} judged questions on ${corpus.length} documents in BEIR's format, each searched by keyword, by meaning and hybrid.`,
  });
}
