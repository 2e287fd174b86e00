// The store of a team, on PostgreSQL, beside the embedded store, and several gateways on it. `node bench/team/run.js
// [--parts search,ingest] [--documents 100000] [--rounds 3] [--seconds 300]`. Each part starts its own server and writes its own result.
import { parseArgs } from "node:util";
import { report } from "../report.js";
import { hasPostgres } from "./cluster.js";

/**
 * The settings of a run. Documents that are not given are as many as each part needs.
 * @typedef {{ documents: number | undefined, rounds: number, seconds?: number | undefined }} TeamOptions
 */

/** The parts, in the order of the page. Each is a module that exports `measure`. @type {Record<string, () => Promise<{ measure: (options: TeamOptions) => Promise<void> }>>} */
const PARTS = {
  search: () => import("./search.js"),
  ingest: () => import("./ingest.js"),
  quality: () => import("./quality.js"),
  gateways: () => import("./gateways.js"),
  kills: () => import("./kills.js"),
  growth: () => import("./growth.js"),
};

const { values } = parseArgs({
  options: {
    parts: { type: "string", default: Object.keys(PARTS).join(",") },
    documents: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string" },
  },
});
const chosen = values.parts.split(",");
const unknown = chosen.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0) {
  console.error(`Unknown part: ${unknown.join(", ")}. Available: ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
if (hasPostgres()) {
  const documents = values.documents === undefined ? undefined : Number(values.documents);
  const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
  for (const name of chosen) {
    const part = await PARTS[name]?.();
    await part?.measure({ documents, rounds: Number(values.rounds), seconds });
  }
} else {
  const absent = [{ name: "PostgreSQL", reason: "its server is not installed." }];
  report("team-search", [], { title: "A team's store: search", workload: "", absent });
}
