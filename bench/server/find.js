// How well `describe {find}` finds the right tool: recall@1 and recall@5 over the questions next to this file, by
// keyword only and with the model. `--tools` names a catalogue (see bench/catalogue.js), `--questions` another list of
// questions. You may look at `tuned` questions while changing the ranking; `held` ones only show whether that helped.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { silentLogger } from "../../packages/core/dist/index.js";
import { createEmbedder, pullModel } from "../../packages/embed/dist/index.js";
import { Ranker } from "../../packages/server/dist/find/operation-ranker.js";
import { catalogueFile, readCatalogue } from "../catalogue.js";
import { report } from "../report.js";

const { values } = parseArgs({
  options: {
    tools: { type: "string" },
    questions: { type: "string", default: fileURLToPath(new URL("find-questions.json", import.meta.url)) },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
    misses: { type: "boolean", default: false },
  },
});
const file = catalogueFile(values.tools);
const title = "Finding the right tool for a question";
if (file === undefined) {
  const reason = "the catalogue for these questions is missing; name it with --tools.";
  report("server-find", [], { title, workload: "", absent: [{ name: "describe {find}", reason }] });
  process.exit();
}

/** @type {{ question: string, right: string[], set?: string }[]} */
const questions = JSON.parse(readFileSync(values.questions, "utf8"));
const candidates = readCatalogue(file).map(({ server, tool, description, inputSchema: schema }) => ({
  name: `${server}.${tool}`,
  server,
  tool,
  description,
  schema,
}));

await pullModel({ home: values.home });
const embedder = await createEmbedder({ home: values.home });
const folder = fileURLToPath(new URL("../../node_modules/.cache/trunkline-find", import.meta.url));
const common = { logger: silentLogger, waitMs: 600_000 };
const rankers = {
  keyword: new Ranker(common),
  hybrid: new Ranker({ ...common, folder, embedder: async () => embedder }),
};
/** @type {import("../report.js").Row[]} */
const rows = [];
const sets = [...new Set(questions.map(({ set = "all" }) => set))];
for (const [method, ranker] of Object.entries(rankers)) {
  const first = performance.now();
  await ranker.rank("warm up", candidates);
  const openMs = performance.now() - first;
  /** @type {Record<string, { at1: number, at5: number, count: number }>} */
  const sums = Object.fromEntries(["all", ...sets].map((set) => [set, { at1: 0, at5: 0, count: 0 }]));
  const started = performance.now();
  for (const { question, right, set = "all" } of questions) {
    const { ranked } = await ranker.rank(question, candidates);
    const names = ranked.slice(0, 5).map(({ candidate }) => candidate.name);
    const place = names.findIndex((name) => right.includes(name));
    if (values.misses && place === -1 && set !== "held") {
      console.log(`${method}: ${question}\n  right: ${right.join(", ")}\n  found: ${names.join(", ")}`);
    }
    for (const name of new Set(["all", set])) {
      const sum = /** @type {{ at1: number, at5: number, count: number }} */ (sums[name]);
      sum.count++;
      if (place === 0) sum.at1++;
      if (place !== -1) sum.at5++;
    }
  }
  const questionMs = (performance.now() - started) / questions.length;
  for (const [set, { at1, at5, count }] of Object.entries(sums)) {
    rows.push({ what: `${method}, ${count} questions (${set}): recall@1`, figure: (100 * at1) / count, unit: "%" });
    rows.push({ what: `${method}, ${count} questions (${set}): recall@5`, figure: (100 * at5) / count, unit: "%" });
  }
  rows.push({ what: `${method}: first question, ${candidates.length} tools`, figure: openMs, unit: "ms" });
  rows.push({ what: `${method}: each question`, figure: questionMs, unit: "ms" });
  await ranker.close();
}
await embedder[Symbol.asyncDispose]();
report("server-find", rows, {
  title,
  workload: `${questions.length} questions on ${candidates.length} tools, asked with \`describe {find}\`. Questions marked held were not looked at while choosing the ranking.`,
});
