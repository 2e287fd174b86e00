// Search quality by keyword on both engines: the same judged questions, nDCG@10. The prose set is in the repository;
// CoSQA is used if it is next to the project.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { report } from "../report.js";
import { readJudged, scoresOf } from "../store/judged.js";
import { NAMES, withEngines } from "./stores.js";

const LEAST = 0.99;
const SETS = ["../store/prose", "../../../shared/data/cosqa"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** @param {import("./run.js").TeamOptions} _options */
export async function measure(_options) {
  await withEngines(async ({ home, version, open }) => {
    /** @type {import("../report.js").Row[]} */
    const rows = [];
    for (const set of SETS.filter((path) => existsSync(path))) {
      const { corpus, questions } = readJudged(set);
      const folder = join(home, basename(set));
      mkdirSync(folder);
      for (const { _id, title, text } of corpus) {
        writeFileSync(join(folder, encodeURIComponent(_id)), title ? `# ${title}\n\n${text}` : text);
      }
      /** @type {number[]} */
      const means = [];
      for (const name of NAMES) {
        const store = await open(name);
        await store.add({ path: folder });
        await store.indexed();
        let sum = 0;
        for (const { text, right } of questions) {
          const found = await store.search({ query: text, type: "keyword", limit: 10 });
          if (!("results" in found)) throw new Error("no results");
          const names = found.results.map(({ path }) => decodeURIComponent(basename(path)));
          sum += scoresOf(names, right).ndcg;
        }
        means.push((100 * sum) / questions.length);
        await store.close();
      }
      const [embedded = Number.NaN, postgres = Number.NaN] = means;
      const beside = `${basename(set)}, ${questions.length} questions: embedded nDCG@10`;
      rows.push({ what: beside, figure: embedded, unit: "%" });
      rows.push({
        ...{ what: `${basename(set)}: PostgreSQL nDCG@10`, figure: postgres, unit: "%", beside },
        ...{ ratio: postgres / embedded, aim: LEAST, isAtLeast: true },
      });
    }
    report("team-quality", rows, {
      title: "A team's store: search quality",
      workload: "Judged questions, searched by keyword on both engines.",
      versions: { PostgreSQL: version },
    });
  });
}
