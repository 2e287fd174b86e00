// What the tool list costs a client, in tokens (o200k_base), with 1, 4 and 70 upstream servers: the composite surface
// compared with the tools themselves. `--tools <file>` names a catalogue (see bench/catalogue.js); without one the
// servers are made up, with 12 tools each.
import { parseArgs } from "node:util";
import { silentLogger } from "@trunkline/core";
import { countTokens } from "../../packages/gateway/dist/budget/tokens.js";
import { createService } from "../../packages/gateway/dist/index.js";
import { storeOperations } from "../../packages/store/dist/contract/index.js";
import { catalogueFile, readServers } from "../catalogue.js";
import { benchExchange, hubOn, sleepingServer } from "../in-process.js";
import { report } from "../report.js";

const { values } = parseArgs({ options: { tools: { type: "string" } } });
const SERVERS = [1, 4, 70];
const AIM = 400;

/** @typedef {import("../catalogue.js").Listed} Listed */

const file = catalogueFile(values.tools);
const listed = file === undefined ? madeUp(70) : readServers(file);

/** @param {number} count @returns {Listed[]} */
function madeUp(count) {
  return Array.from({ length: count }, (_, index) => ({
    server: `server-${index}`,
    tools: Array.from({ length: 12 }, (_, tool) => ({
      name: `tool_${tool}`,
      description: `Does the ${tool}th thing that server ${index} can do, with a filter and a limit.`,
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string", description: "What to look for." },
          limit: { type: "integer", description: "Most results." },
        },
        required: ["query"],
      },
    })),
  }));
}

/** Fetches the tool list of a service with these upstream servers. @param {readonly Listed[]} behind */
async function compositeList(behind) {
  const hub = await hubOn(behind.map(({ server }) => sleepingServer(server)));
  const service = createService({
    info: { name: "bench", version: "0" },
    backends: { hub: async () => hub, store: () => Promise.reject(new Error("no store is needed")), storeOperations },
    logger: silentLogger,
    workspace: process.cwd(),
  });
  try {
    const list = await service.handle("tools/list", {}, benchExchange());
    return JSON.stringify(list);
  } finally {
    await service.close();
    await hub.close();
  }
}

/** @param {string} text */
async function tokensOf(text) {
  return (await countTokens(text, Number.POSITIVE_INFINITY)) ?? Number.NaN;
}

/** @param {readonly Listed[]} behind */
async function directTokens(behind) {
  const tools = behind.flatMap(({ server, tools }) =>
    tools.map((tool) => ({ ...tool, name: `${server}_${tool.name}` })),
  );
  return await tokensOf(JSON.stringify({ tools }));
}

/** @type {import("../report.js").Row[]} */
const rows = [];
for (const behind of SERVERS.map((count) => listed.slice(0, count))) {
  const servers = behind.length === 1 ? "1 server" : `${behind.length} servers`;
  const tokens = await tokensOf(await compositeList(behind));
  rows.push(
    { what: `the tools of ${servers} themselves`, figure: await directTokens(behind), unit: "tokens" },
    {
      what: `the composite surface in front of ${servers}`,
      figure: tokens,
      unit: "tokens",
      beside: `${AIM} tokens`,
      ratio: tokens / AIM,
      aim: 1,
    },
  );
}
report("server-surface-tokens", rows, {
  title: "The cost of the tool list",
  workload: "The result of tools/list in tokens (o200k_base), compared with the servers' own lists.",
  notes: [file === undefined ? "The servers are made up, with 12 tools each." : "The servers are from LiveMCPBench."],
});
