// Search quality on judged questions, by keyword, by meaning and hybrid. `--beir` names a folder in BEIR's format and can
// be repeated; the default is our own small prose set next to this file, and CoSQA if it is next to the project. These
// give nDCG@10 and recall@10. `--repository fastify=<folder>` asks the questions in repositories/fastify.json about a
// folder with that source, and gives the recall and the mean reciprocal rank of files, for both halves of the questions.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder, pullModel } from "../../packages/embed/dist/index.js";
import { openStore } from "../../packages/store/dist/index.js";
import { report } from "../report.js";
import { readJudged, readRepositoryQuestions, reciprocalRank, scoresOf } from "./judged.js";

const METHODS = /** @type {const} */ (["keyword", "semantic", "hybrid"]);
const PROSE = fileURLToPath(new URL("prose", import.meta.url));
const COSQA = fileURLToPath(new URL("../../../shared/data/cosqa", import.meta.url));

const { values } = parseArgs({
  options: {
    beir: { type: "string", multiple: true, default: [PROSE, COSQA].filter((folder) => existsSync(folder)) },
    repository: { type: "string", multiple: true, default: [] },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
  },
});

await pullModel({ home: values.home });
for (const folder of values.beir) await withStore((store, home) => measure(store, resolve(folder), home));
for (const given of values.repository) {
  const [name = "", folder = ""] = given.split("=");
  await withStore((store) => measureRepository(store, name, resolve(folder)));
}

/** @typedef {import("../../packages/store/dist/index.js").Store} Store */

/** @param {(store: Store, home: string) => Promise<void>} run */
async function withStore(run) {
  const home = mkdtempSync(join(tmpdir(), "trunkline-bench-quality-"));
  const embedder = await createEmbedder({ home: values.home });
  const store = await openStore({ path: join(home, "store"), embedder });
  await run(store, home);
  await store.close();
  await embedder.close();
  rmSync(home, { recursive: true, force: true });
}

/**
 * Returns the paths of the ten best results. @param {Store} store @param {string} query @param {(typeof
 * METHODS)[number]} type
 */
async function pathsFor(store, query, type) {
  const found = await store.search({ query, type, limit: 10 });
  if (!("results" in found) || found.type !== type) throw new Error(`"${query}" was not searched by ${type}`);
  return found.results.map(({ path }) => path);
}

/** @param {Store} store @param {string} folder @param {string} home */
async function measure(store, folder, home) {
  const { corpus, questions } = readJudged(folder);
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
      const names = (await pathsFor(store, text, type)).map((path) => decodeURIComponent(basename(path)));
      const { ndcg, recall } = scoresOf(names, right);
      sum.ndcg += ndcg;
      sum.recall += recall;
    }
    rows.push({ what: `${type}: nDCG@10`, figure: (100 * sum.ndcg) / questions.length, unit: "%" });
    rows.push({ what: `${type}: recall@10`, figure: (100 * sum.recall) / questions.length, unit: "%" });
  }
  rows.push({ what: `${corpus.length} documents added and embedded`, figure: indexingMs / 1000, unit: "s" });
  report(`store-quality-${basename(folder)}`, rows, {
    title: `Search quality: ${basename(folder)}`,
    workload: `${questions.length} judged questions on ${corpus.length} documents in BEIR's format, each searched by keyword, by meaning and hybrid.`,
  });
}

/** @param {Store} store @param {string} name @param {string} folder */
async function measureRepository(store, name, folder) {
  const { source, questions } = readRepositoryQuestions(name);
  const missing = questions.flatMap(({ files }) => files).filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) throw new Error(`${folder} is not ${name} (${source}): it has no ${missing.join(", ")}`);
  await store.add({ path: folder });
  await store.indexed();

  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const type of METHODS) {
    for (const part of ["tune", "held"]) {
      const asked = questions.filter((question) => question.part === part);
      /** @type {number[]} */
      const ranks = [];
      for (const { ask, files } of asked) {
        const paths = await pathsFor(store, ask, type);
        ranks.push(
          reciprocalRank(
            paths.map((path) => relative(folder, path).split(sep).join("/")),
            files,
          ),
        );
      }
      const share = (/** @type {number} */ count) => (100 * count) / asked.length;
      const within = (/** @type {number} */ rank) => share(ranks.filter((reciprocal) => reciprocal >= 1 / rank).length);
      rows.push({ what: `${type}, ${part}: recall@1`, figure: within(1), unit: "%" });
      rows.push({ what: `${type}, ${part}: recall@5`, figure: within(5), unit: "%" });
      rows.push({
        what: `${type}, ${part}: mean reciprocal rank`,
        figure: share(ranks.reduce((sum, rank) => sum + rank, 0)),
        unit: "%",
      });
    }
  }
  report(`store-quality-${name}`, rows, {
    title: `Search quality: the files of ${name}`,
    workload: `${questions.length} questions about ${name} (${source}), each with the files that answer it; half of them (held) were not used for tuning.`,
  });
}
