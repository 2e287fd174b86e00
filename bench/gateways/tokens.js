// What the tool list costs a model, in tokens (o200k_base), with 1, 4 and 70 real upstream servers. A gateway that
// supports only one server runs once per server, and an agent pays for the sum of the lists.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { countTokens } from "../../packages/gateway/dist/budget/tokens.js";
import { catalogueFile, readServers } from "../catalogue.js";
import { report } from "../report.js";
import { besideTheBest } from "./beside.js";
import { allGateways, upstream } from "./gateways.js";
import { tools as named, only } from "./options.js";

const COUNTS = [1, 4, 70];
/** How many lists are fetched through a single-server gateway, to check that it passes them on unchanged. */
const FETCHED = 4;

/** @typedef {import("./gateways.js").Gateway} Gateway */
/** @typedef {import("../catalogue.js").Listed} Listed */

const about = {
  title: "Gateways: the cost of the tool list",
  workload:
    "Each gateway's tool list as an agent receives it, in tokens of o200k_base, in front of the first 1, the first 4 and all 70 servers of a catalogue of real ones (527 tools from LiveMCPBench).",
};
const file = catalogueFile(named);
if (file === undefined) {
  const reason = "no catalogue was given with --tools <file>, and there is none next to the project.";
  report("gateways-tokens", [], { ...about, absent: [{ name: "the tool lists", reason }] });
} else await measure(file);

/** @param {string} catalogue */
async function measure(catalogue) {
  const listed = readServers(catalogue);
  const { gateways, versions, absent } = allGateways({ only });
  const servers = await serveAll(catalogue);
  try {
    const holdOne = gateways.filter(({ holdsMany }) => !holdsMany);
    for (const gateway of holdOne) await checkLists(gateway, { behind: listed.slice(0, FETCHED), catalogue });
    /** @type {import("../report.js").Row[]} */
    const rows = [];
    for (const count of COUNTS) {
      const behind = listed.slice(0, count);
      const figures = [];
      for (const gateway of gateways) {
        const lists = gateway.holdsMany
          ? [await listOfAll(gateway, { behind, port: servers.port })]
          : behind.map(({ tools }) => tools);
        figures.push({ ...gateway, figure: await tokensOf(lists) });
      }
      rows.push(
        ...besideTheBest(figures, {
          what: `${behind.length} ${behind.length === 1 ? "server" : "servers"}`,
          unit: "tokens",
          best: "least",
        }),
      );
    }
    report("gateways-tokens", rows, {
      ...about,
      versions,
      absent,
      notes: [
        `mcp-proxy, supergateway and the limit support one server each, so their figure is the sum over the servers. Their lists were fetched for the first ${FETCHED} servers and match the servers' own lists; for the others, the servers' own lists were counted.`,
        "With the composite surface the agent learns of a tool when it looks for it, with `describe`; what that costs over a task is measured in the benchmark of tasks.",
      ],
    });
  } finally {
    servers.stop();
  }
}

/** Serves all servers of the catalogue over HTTP, from one process. @param {string} catalogue */
async function serveAll(catalogue) {
  const script = fileURLToPath(new URL("./upstream.js", import.meta.url));
  const child = spawn(process.execPath, [script, "--catalogue", catalogue, "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { port: Number(line), stop: () => void child.kill() };
}

/** @param {Gateway} gateway @param {{ behind: readonly Listed[], port: number }} options */
async function listOfAll(gateway, { behind, port }) {
  const entries = behind.map(({ server }) => {
    const url = `http://127.0.0.1:${port}/${encodeURIComponent(server)}`;
    return [server, { type: /** @type {const} */ ("http"), url }];
  });
  const tools = behind.reduce((sum, { tools }) => sum + tools.length, 0);
  return await listOf(await gateway.start(Object.fromEntries(entries), { tools, names: "prefixed" }));
}

/**
 * Checks that a gateway passes the lists on unchanged. @param {Gateway} gateway @param {{ behind: readonly Listed[],
 * catalogue: string }} options
 */
async function checkLists(gateway, { behind, catalogue }) {
  for (const { server, tools } of behind) {
    const entry = upstream("--catalogue", catalogue, "--server", server);
    const fetched = await listOf(await gateway.start({ [server]: entry }, { tools: tools.length }));
    if (!isDeepStrictEqual(fetched, tools)) throw new Error(`${gateway.name} lists different tools than ${server} has`);
  }
}

/** @param {import("./gateways.js").Started} started @returns {Promise<object[]>} */
async function listOf(started) {
  try {
    const client = await started.connect();
    const { tools } = await client.ask("tools/list").finally(() => client.close());
    return tools;
  } finally {
    await started.stop();
  }
}

/** @param {readonly (readonly object[])[]} lists */
async function tokensOf(lists) {
  let sum = 0;
  for (const tools of lists) sum += (await countTokens(JSON.stringify({ tools }), Number.POSITIVE_INFINITY)) ?? 0;
  return sum;
}
