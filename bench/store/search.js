// How long a search takes at the caller, by keyword and by both, as the store grows. Ratios are those of hybrid to keyword.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder, pullModel } from "../../packages/embed/dist/index.js";
import { openStore } from "../../packages/store/dist/index.js";
import { median, report, timeMs } from "../report.js";

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,10000" },
    rounds: { type: "string", default: "100" },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
  },
});

// Words with the frequencies of language, so that some are in every text and most are rare.
const syllables = [
  "ka",
  "lo",
  "mi",
  "ter",
  "an",
  "su",
  "re",
  "vo",
  "den",
  "il",
  "pra",
  "chi",
  "on",
  "gel",
  "far",
  "tu",
];
const vocabulary = Array.from({ length: 4096 }, (_, n) =>
  [n >> 8, n >> 4, n].map((part) => syllables[part & 15]).join(""),
);
let state = 42;
/** The same numbers in every run. */
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
function word() {
  return vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? "kakaka";
}
/** @param {number} words */
function text(words) {
  return Array.from({ length: words }, word).join(" ");
}

await pullModel({ home: values.home });
const model = await createEmbedder({ home: values.home });
// What is measured is search: documents get vectors of random numbers at once, questions get real ones.
const embedder = {
  model: "bench",
  dimensions: model.dimensions,
  /** @param {readonly string[]} texts @param {{ signal?: AbortSignal }} [options] */
  embed: async (texts, options) =>
    texts.length === 1
      ? model.embed(texts, options)
      : texts.map(() => Float32Array.from({ length: 384 }, () => random() - 0.5)),
  [Symbol.asyncDispose]: async () => {},
};

/** @type {import("../report.js").Row[]} */
const rows = [];
for (const size of values.sizes.split(",").map(Number)) {
  const home = mkdtempSync(join(tmpdir(), "trunkline-bench-search-"));
  const store = await openStore({ path: join(home, "store"), embedder });
  const documents = join(home, "documents");
  mkdirSync(documents);
  for (let n = 0; n < size; n++) writeFileSync(join(documents, `${n}.md`), text(120));
  await store.add({ path: documents });
  await store.indexed();
  /** @type {Record<"keyword" | "hybrid" | "typo", number[]>} */
  const times = { keyword: [], hybrid: [], typo: [] };
  await store.search({ query: "warm up" });
  for (let round = 0; round < Number(values.rounds); round++) {
    const query = `${word()} ${word()} ${word()}`;
    times.keyword.push(await timeMs(() => store.search({ query, type: "keyword" })));
    times.hybrid.push(await timeMs(() => store.search({ query, type: "hybrid" })));
    times.typo.push(await timeMs(() => store.search({ query: `x${word()}`, type: "keyword" })));
  }
  const keyword = median(times.keyword);
  const beside = `keyword, ${size} documents: p50`;
  rows.push(
    { what: beside, figure: keyword, unit: "ms" },
    {
      what: `hybrid, ${size} documents: p50`,
      figure: median(times.hybrid),
      unit: "ms",
      beside,
      ratio: median(times.hybrid) / keyword,
    },
    {
      what: `keyword with a typo, ${size} documents: p50`,
      figure: median(times.typo),
      unit: "ms",
      beside,
      ratio: median(times.typo) / keyword,
    },
  );
  await store.close();
  rmSync(home, { recursive: true, force: true });
}
await model.close();
report("store-search", rows);
