// Speed of the embedded model: chunks of about 200 tokens, and queries. Compared with only tokenizing the same chunks,
// and with a round trip of an almost empty text through the worker.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createEmbedder, pullModel } from "@trunkline/embed";
import { createTokenizer } from "../packages/embed/dist/inference/wordpiece.js";
import { median, report, timeMs } from "./report.js";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, chunks: { type: "string", default: "60" } },
});
const rounds = Number(values.rounds);
const count = Number(values.chunks);
const home = fileURLToPath(new URL("../node_modules/.cache/trunkline-models", import.meta.url));
const QUERIES = 100;

const { path } = await pullModel({ home });
const tokenizer = createTokenizer(JSON.parse(readFileSync(join(path, "tokenizer.json"), "utf8")));
const chunks = chunksOf(
  readFileSync(new URL("../GLOSSARY.md", import.meta.url), "utf8").replaceAll(/[ -]{2,}/g, " "),
  count,
);
const queries = Array.from({ length: QUERIES }, (_, index) => `how to parse request number ${index}`);
const tokens = median(chunks.map((chunk) => tokenizer.encode(chunk, 1024).length));

/** @type {Record<"open" | "tokenize" | "chunks" | "one" | "query" | "trip", number[]>} */
const times = { open: [], tokenize: [], chunks: [], one: [], query: [], trip: [] };
for (let round = 0; round < rounds; round++) {
  // Interleave the measurements, so that load on the machine affects all of them equally.
  const opening = performance.now();
  const embedder = await createEmbedder({ home });
  times.open.push(performance.now() - opening);
  await embedder.embed(chunks.slice(0, 3));
  times.tokenize.push(await timeMs(async () => chunks.map((chunk) => tokenizer.encode(chunk, 256))));
  times.chunks.push(await timeMs(() => embedder.embed(chunks)));
  times.query.push(await timeMs(() => eachAlone(queries, embedder)));
  times.trip.push(await timeMs(() => eachAlone(Array(QUERIES).fill(""), embedder)));
  const single = await createEmbedder({ home, threads: 1 });
  await single.embed(chunks.slice(0, 3));
  times.one.push(await timeMs(() => single.embed(chunks)));
  await Promise.all([embedder.close(), single.close()]);
}

const perChunk = median(times.chunks) / count;
const tokenizing = median(times.tokenize) / count;
const perQuery = median(times.query) / QUERIES;
const trip = median(times.trip) / QUERIES;
const onlyTokenized = `the same chunks, tokenized only (median ${tokens} tokens)`;
report(
  "embed",
  [
    { what: onlyTokenized, figure: tokenizing, unit: "ms" },
    { what: "embedding a chunk", figure: perChunk, unit: "ms", beside: onlyTokenized, ratio: perChunk / tokenizing },
    { what: "chunks embedded", figure: 1000 / perChunk, unit: "per second" },
    {
      what: "embedding a chunk on one core",
      figure: median(times.one) / count,
      unit: "ms",
      beside: "embedding a chunk",
      ratio: median(times.one) / count / perChunk,
    },
    { what: "round trip of an empty text", figure: trip, unit: "ms" },
    { what: "a query", figure: perQuery, unit: "ms", beside: "round trip of an empty text", ratio: perQuery / trip },
    { what: "opening the model", figure: median(times.open), unit: "ms" },
  ],
  {
    title: "The embedding model",
    workload: `${count} chunks of about 200 tokens and ${QUERIES} queries, ${rounds} rounds, medians.`,
  },
);

/** @param {readonly string[]} texts @param {import("@trunkline/embed").LocalEmbedder} embedder */
async function eachAlone(texts, embedder) {
  for (const text of texts) await embedder.embed([text]);
}

/**
 * Cuts pieces of about 200 tokens by cycling through the text, no two the same. @param {string} text @param {number}
 * wanted
 */
function chunksOf(text, wanted) {
  const words = text.split(/\s+/);
  return Array.from({ length: wanted }, (_, index) => {
    let chunk = "";
    for (let at = index * 37; tokenizer.encode(chunk, 1024).length < 200; at++) chunk += ` ${words[at % words.length]}`;
    return chunk;
  });
}
