// Echo through `trunkline serve --surface direct`, stdio to stdio, compared with the same client connected directly to
// the same server. Options: --calls 4000.
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { report } from "../report.js";
import { COMMAND, entry, place, quantile } from "./product.js";

const { values } = parseArgs({ options: { calls: { type: "string", default: "4000" } } });
const calls = Number(values.calls);
const BLOCK = 100;
/** Warm-up calls: V8 needs about a thousand to finish optimizing a server. */
const WARM_UP = 1_500;

const upstream = entry("hello");
const where = place({ hello: upstream });
const env = /** @type {Record<string, string>} */ (where.env);

/** @param {string[]} args */
async function connect(args) {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: where.folder, env, stderr: "ignore" }),
  );
  return client;
}

const direct = await connect(upstream.args);
const through = await connect([COMMAND, "serve", "--surface", "direct", "--names", "plain", "--mcp", where.mcp]);
const sides = [
  { client: direct, times: /** @type {number[]} */ ([]) },
  { client: through, times: /** @type {number[]} */ ([]) },
];
const text = "x".repeat(100);
for (const { client } of sides) {
  const { tools } = await client.listTools();
  if (!tools.some(({ name }) => name === "repeat")) throw new Error("the tool is missing");
  for (let call = 0; call < WARM_UP; call++) await client.callTool({ name: "repeat", arguments: { text } });
}
// Alternate, so that other load on the machine affects both.
for (let done = 0; done < calls; done += BLOCK) {
  for (const { client, times } of sides) {
    for (let call = 0; call < BLOCK; call++) {
      const started = performance.now();
      const { content } = await client.callTool({ name: "repeat", arguments: { text } });
      times.push(performance.now() - started);
      if (content[0]?.type !== "text" || !content[0].text.includes(text)) throw new Error("not an echo");
    }
  }
}
for (const { client } of sides) await client.close();
where.remove();
const [alone, behind] = sides.map(({ times }) => quantile(times, 0.5));
if (alone === undefined || behind === undefined) throw new Error("nothing was measured");
report(
  "server-stdio",
  [
    { what: `echo, p50 of ${calls} calls, direct`, figure: alone * 1000, unit: "µs" },
    {
      what: "the same through serve --surface direct",
      figure: behind * 1000,
      unit: "µs",
      beside: "direct",
      ratio: behind / alone,
      aim: 2.5,
    },
  ],
  {
    title: "A call through the gateway over stdio",
    workload: `The same client, tool and text of 100 letters, directly and through serve, alternating every ${BLOCK} calls after ${WARM_UP} warm-up calls.`,
  },
);
