// Times of an echo through `trunkline serve --surface direct`, stdio to stdio, beside the same client connected directly
// to the same server.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { COMMAND, entry, place, quantile } from "./product.js";

export const BLOCK = 100;
/** Warm-up calls through each: with fewer, the gateway is still being optimized while the server alone is not. */
export const WARM_UP = 6_000;

/** Returns both medians in milliseconds. @param {{ calls: number, command?: string }} options */
export async function stdioTimes({ calls, command = COMMAND }) {
  const upstream = entry("hello");
  const where = place({ hello: upstream });
  const env = /** @type {Record<string, string>} */ (where.env);
  /** @param {string[]} args */
  const connect = async (args) => {
    const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: where.folder, env, stderr: "ignore" }),
    );
    return client;
  };
  const sides = [
    { client: await connect(upstream.args), times: /** @type {number[]} */ ([]) },
    {
      client: await connect([command, "serve", "--surface", "direct", "--names", "plain", "--mcp", where.mcp]),
      times: /** @type {number[]} */ ([]),
    },
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
  const [aloneMs, throughMs] = sides.map(({ times }) => quantile(times, 0.5));
  if (aloneMs === undefined || throughMs === undefined) throw new Error("nothing was measured");
  return { aloneMs, throughMs };
}
