// Two gateways on one database beside one, under the same load. Each call goes to an upstream server that answers one call
// at a time in 20 ms, and reads a document from the store: the processor is not the limit, and the database could be.
import { fileURLToPath } from "node:url";
import { initPostgresStore } from "../../packages/store-postgres/dist/index.js";
import { GatewayProcess, teamPlace } from "../../test/team/gateway-process.js";
import { TeamClient } from "../../test/team/team-client.js";
import { median, report } from "../report.js";
import { startCluster } from "./cluster.js";

const AIM = 1.5;
const CLIENTS = 16;
const ROUND_MS = 5_000;
const TURNS = fileURLToPath(new URL("turns.js", import.meta.url));

/** Calls from all clients for a while and returns the rate. @param {readonly GatewayProcess[]} gateways */
async function rateOf(gateways) {
  let calls = 0;
  const startedMs = performance.now();
  const work = async (/** @type {number} */ at) => {
    const client = new TeamClient(gateways[at % gateways.length]?.url ?? "");
    while (performance.now() - startedMs < ROUND_MS) {
      const text = `client ${at}, call ${calls}`;
      const operations = [
        { op: "get", params: { path: "shared.md", include_content: true } },
        { op: "turns.turn", params: { text } },
      ];
      const outcome = await client.call("execute", { operations });
      if (!outcome.ok || !outcome.text.includes(text)) throw new Error(`a wrong answer: ${outcome.text}`);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => work(at)));
  return calls / ((performance.now() - startedMs) / 1_000);
}

/** The rates of one gateway and of two, in alternating rounds. @param {{ url: string, rounds: number }} options */
export async function ratesOfGateways({ url, rounds }) {
  await initPostgresStore(url);
  const place = teamPlace(url, { turns: { command: process.execPath, args: [TURNS] } });
  const args = ["--surface", "both"];
  const gateways = await Promise.all(["one", "two"].map((name) => GatewayProcess.open(place, { name, args })));
  /** @type {{ one: number[], two: number[] }} */
  const rates = { one: [], two: [] };
  try {
    const add = { operations: [{ op: "add", params: { content: "what everyone reads", name: "shared.md" } }] };
    await new TeamClient(gateways[0]?.url ?? "").call("execute", add);
    // Start the upstream servers before measuring.
    for (const { url: own } of gateways) {
      await new TeamClient(own).call("execute", { operations: [{ op: "turns.turn", params: { text: "first" } }] });
    }
    for (let round = 0; round < rounds; round += 1) {
      rates.one.push(await rateOf(gateways.slice(0, 1)));
      rates.two.push(await rateOf(gateways));
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end()));
    place.remove();
  }
  return { one: median(rates.one), two: median(rates.two) };
}

/** @param {import("./run.js").TeamOptions} options */
export async function measure({ rounds }) {
  const cluster = await startCluster();
  try {
    const { one, two } = await ratesOfGateways({ url: cluster.createDatabase(), rounds });
    const beside = "calls per second: one gateway";
    report(
      "team-gateways",
      [
        { what: beside, figure: one, unit: "/s" },
        {
          what: "calls per second: two gateways on the same database",
          figure: two,
          unit: "/s",
          beside,
          ratio: two / one,
          aim: AIM,
          isAtLeast: true,
        },
      ],
      {
        title: "A team's gateways: two beside one",
        workload: `${CLIENTS} clients; each call reads a document from the store and calls an upstream server that answers one call at a time in 20 ms. Each gateway has its own server process. ${rounds} rounds of ${ROUND_MS / 1_000} s alternating between one gateway and two, medians.`,
        versions: { PostgreSQL: cluster.version },
      },
    );
  } finally {
    cluster.stop();
  }
}
