// Search latency for the caller on both engines, at the size that the contract names. The questions are asked of both
// engines in turns, so that a busy moment of the machine hits both.
import { join } from "node:path";
import { report, timeMs } from "../report.js";
import { cheapEmbedder } from "../store/cheap-embedder.js";
import { questions, writeCorpus } from "../store/corpus.js";
import { NAMES, withEngines } from "./stores.js";

const AIM = 3;
const DOCUMENTS = 100_000;
/** Embedding takes most of the time of a build, so search by meaning is measured with fewer documents. */
const EMBEDDED_SHARE = 0.1;
const LINES = 20;
const ASKED = 100;

/** @typedef {{ what: string, ask: (query: string) => Record<string, unknown>, aim?: number }} Kind */
/** @typedef {import("../report.js").Row} Row */
/** @typedef {import("./stores.js").Engine["store"]} AnyStore */

/** @type {readonly Kind[]} */
const BY_KEYWORD = [
  { what: "keyword search", ask: (query) => ({ query, type: "keyword" }), aim: AIM },
  { what: "keyword search with a typo", ask: (query) => ({ query: withTypo(query), type: "keyword" }) },
  {
    what: "keyword search in some folders",
    ask: (query) => ({ query, type: "keyword", pathPattern: "**/part-1*/**" }),
  },
];
/** @type {readonly Kind[]} */
const BY_MEANING = [{ what: "hybrid search", ask: (query) => ({ query, type: "hybrid" }), aim: AIM }];

/** @param {import("./run.js").TeamOptions} options */
export async function measure({ documents = DOCUMENTS, rounds }) {
  const some = Math.ceil(documents * EMBEDDED_SHARE);
  await withEngines(async (place) => {
    const rows = [
      ...(await measureKinds(place, { documents, kinds: BY_KEYWORD, rounds })),
      ...(await measureKinds(place, { documents: some, kinds: BY_MEANING, rounds, embedder: cheapEmbedder() })),
    ];
    report("team-search", rows, {
      title: "A team's store: search",
      workload: `${ASKED} questions of two to four words, asked of both engines in turns: by keyword at ${documents} documents of at most ${LINES} lines, by meaning as well at ${some}. The database is on the same machine. A question asked again finds words and texts in memory.`,
      versions: { PostgreSQL: place.version },
      notes: [
        "All searches in some folders have the same filter, which both engines compute once.",
        "Vectors come from a stand-in that costs nothing. This PostgreSQL has no pgvector: the gateway compares them.",
      ],
    });
  });
}

/**
 * Builds a store in each engine and asks both.
 * @param {import("./stores.js").Place} place
 * @param {{ documents: number, kinds: readonly Kind[], rounds: number, embedder?: import("./stores.js").Embedder }} options
 */
async function measureKinds({ home, open, run }, { documents, kinds, rounds, embedder }) {
  const folder = join(home, `documents-${documents}`);
  writeCorpus(folder, { files: documents, lines: LINES, ending: ".txt" });
  /** @type {Record<string, AnyStore>} */
  const stores = {};
  for (const name of NAMES) {
    const store = await open(name, embedder);
    const addMs = await timeMs(() => store.add({ path: folder }));
    const indexMs = await timeMs(() => store.indexed());
    const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(0)} s`;
    console.error(`${name}: ${documents} documents added in ${seconds(addMs)}, indexed in ${seconds(indexMs)}`);
    stores[name] = store;
  }
  // Statistics as autovacuum would have made them a minute later.
  run("ANALYZE");
  /** @type {Row[]} */
  const rows = [];
  for (const kind of kinds) rows.push(...(await measureKind(stores, kind, rounds)));
  const size = Number(run("SELECT pg_database_size(current_database())"));
  rows.push({ what: `database with ${documents} documents`, figure: size / 2 ** 20, unit: "MiB" });
  for (const name of NAMES) await stores[name]?.close();
  return rows;
}

/** @param {Record<string, AnyStore>} stores @param {Kind} kind @param {number} rounds */
async function measureKind(stores, { what, ask, aim }, rounds) {
  const asked = questions({ count: ASKED });
  /** @type {Record<string, { first: number[], again: number[] }>} */
  const times = { embedded: { first: [], again: [] }, postgres: { first: [], again: [] } };
  for (let round = 0; round < rounds; round++) {
    for (const query of asked) {
      for (const name of NAMES) {
        const ms = await timeMs(() => stores[name]?.search(/** @type {never} */ (ask(query))) ?? Promise.reject());
        times[name]?.[round === 0 ? "first" : "again"].push(ms);
      }
    }
  }
  /** @type {Row[]} */
  const rows = [];
  for (const [label, part] of /** @type {const} */ ([
    ["asked the first time", "first"],
    ["asked again", "again"],
  ])) {
    const [embedded = [], postgres = []] = NAMES.map((name) => times[name]?.[part]);
    if (embedded.length === 0) continue;
    for (const [rank, share] of /** @type {const} */ ([
      ["p50", 0.5],
      ["p95", 0.95],
    ])) {
      const beside = `${what}, ${label}: embedded ${rank}`;
      const [theirs, ours] = [percentile(embedded, share), percentile(postgres, share)];
      rows.push({ what: beside, figure: theirs, unit: "ms" });
      rows.push({
        ...{ what: `${what}, ${label}: PostgreSQL ${rank}`, figure: ours, unit: "ms", beside, ratio: ours / theirs },
        ...(aim === undefined || rank !== "p50" ? {} : { aim }),
      });
    }
  }
  return rows;
}

/** @param {string} query */
function withTypo(query) {
  const [word = ""] = query.split(" ");
  return `${word.slice(0, 2)}${word.slice(3)}x`;
}

/** @param {readonly number[]} times @param {number} part */
function percentile(times, part) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN;
}
