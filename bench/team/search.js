// Search latency for the caller on both engines, at the size that the contract names. The questions are asked of both
// engines in turns, so that a busy moment of the machine hits both.
import { join } from "node:path";
import { median, report, timeMs } from "../report.js";
import { cheapEmbedder } from "../store/cheap-embedder.js";
import { questions, writeCorpus } from "../store/corpus.js";
import { NAMES, withEngines } from "./stores.js";

const AIM = 3;
const DOCUMENTS = 100_000;
const LINES = 30;
const ASKED = 100;

/** @typedef {{ what: string, ask: (query: string) => Record<string, unknown>, aim?: number }} Kind */

/** @type {readonly Kind[]} */
const KINDS = [
  { what: "keyword search", ask: (query) => ({ query, type: "keyword" }), aim: AIM },
  { what: "hybrid search", ask: (query) => ({ query, type: "hybrid" }), aim: AIM },
  { what: "keyword search with a typo", ask: (query) => ({ query: withTypo(query), type: "keyword" }) },
  {
    what: "keyword search in one folder",
    ask: (query) => ({ query, type: "keyword", pathPattern: "**/part-1*/**" }),
  },
];

/** @param {import("./run.js").TeamOptions} options */
export async function measure({ documents = DOCUMENTS, rounds }) {
  await withEngines(async ({ home, version, open, run }) => {
    const folder = join(home, "documents");
    writeCorpus(folder, { files: documents, lines: LINES, ending: ".txt" });
    /** @type {Record<string, Awaited<ReturnType<typeof open>>>} */
    const stores = {};
    for (const name of NAMES) {
      const store = await open(name, cheapEmbedder());
      const builtMs = await timeMs(async () => {
        await store.add({ path: folder });
        await store.indexed();
      });
      console.error(`${name}: ${documents} documents built in ${(builtMs / 1000).toFixed(0)} s`);
      stores[name] = store;
    }
    // Statistics as autovacuum would have made them a minute later.
    run("ANALYZE");
    /** @type {import("../report.js").Row[]} */
    const rows = [];
    for (const { what, ask, aim } of KINDS) {
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
      for (const [label, part] of /** @type {const} */ ([
        ["asked the first time", "first"],
        ["asked again", "again"],
      ])) {
        const [embedded, postgres] = NAMES.map((name) => times[name]?.[part] ?? []);
        if (embedded === undefined || postgres === undefined || embedded.length === 0) continue;
        const beside = `${what}, ${label}: embedded p50`;
        rows.push({ what: beside, figure: median(embedded), unit: "ms" });
        rows.push({
          ...{ what: `${what}, ${label}: PostgreSQL p50`, figure: median(postgres), unit: "ms", beside },
          ratio: median(postgres) / median(embedded),
          ...(aim === undefined ? {} : { aim }),
        });
        rows.push({
          ...{ what: `${what}, ${label}: PostgreSQL p95`, figure: percentile(postgres, 0.95), unit: "ms" },
          ...{ beside: "embedded p95", ratio: percentile(postgres, 0.95) / percentile(embedded, 0.95) },
        });
      }
    }
    const sizes = run("SELECT pg_database_size(current_database())");
    rows.push({ what: `database with ${documents} documents`, figure: Number(sizes) / 2 ** 20, unit: "MiB" });
    for (const name of NAMES) await stores[name]?.close();
    report("team-search", rows, {
      title: "A team's store: search",
      workload: `${ASKED} questions of two to four words, asked of both engines in turns, at ${documents} documents of at most ${LINES} lines. The database is on the same machine.`,
      versions: { PostgreSQL: version },
      notes: [
        "Vectors come from a stand-in that costs nothing. This PostgreSQL has no pgvector: the gateway compares them.",
      ],
    });
  });
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
