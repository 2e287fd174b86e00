// ledger: a server whose calls leave a trace in a file. Tools: echo {text} answers with the text and the process id; add
// {key} writes a line; look {key} and spend {key} write a line and answer once the file <journal>.go exists, of which
// only look may be repeated; remember {value} and recall keep a value in memory. Options: --journal FILE; --stubborn
// ignores SIGTERM and a closed input, and starts a child that does the same.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: { journal: { type: "string", default: "/dev/null" }, stubborn: { type: "boolean", default: false } },
});
const GO_CHECK_MS = 5;

let remembered = "nothing";

/** @param {string} line */
const write = (line) => appendFileSync(options.journal, `${line} ${process.pid}\n`);

const go = async () => {
  while (!existsSync(`${options.journal}.go`)) await new Promise((resolve) => setTimeout(resolve, GO_CHECK_MS));
};

/** @type {Record<string, { readOnly?: boolean, run: (args: Record<string, string>) => string | Promise<string> }>} */
const TOOLS = {
  echo: { readOnly: true, run: ({ text }) => `${text} ${process.pid}` },
  add: {
    run: ({ key }) => {
      write(`add ${key}`);
      return `added ${key}`;
    },
  },
  look: {
    readOnly: true,
    run: async ({ key }) => {
      write(`look ${key}`);
      await go();
      return `looked ${key}`;
    },
  },
  spend: {
    run: async ({ key }) => {
      write(`spend ${key}`);
      await go();
      return `spent ${key}`;
    },
  },
  remember: {
    run: ({ value }) => {
      remembered = value ?? "nothing";
      return "remembered";
    },
  },
  recall: { readOnly: true, run: () => remembered },
};

/** @param {{ method: string, params?: { name?: string, arguments?: Record<string, string>, protocolVersion?: string } }} request */
async function answer({ method, params = {} }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "ledger", version: "1.0.0" },
      };
    case "tools/list":
      return {
        tools: Object.entries(TOOLS).map(([name, { readOnly = false }]) => ({
          name,
          description: `The tool ${name}.`,
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: readOnly },
        })),
      };
    case "tools/call":
      return { content: [{ type: "text", text: await TOOLS[params.name ?? ""]?.run(params.arguments ?? {}) }] };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

if (options.stubborn) {
  process.on("SIGTERM", () => {});
  spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6)"], { stdio: "ignore" });
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const request = JSON.parse(line);
    if (request.id === undefined || request.method === undefined) return;
    const result = await answer(request);
    const outcome = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, ...outcome })}\n`);
  })
  .once("close", () => {
    if (!options.stubborn) process.exit(0);
  });
process.stdout.on("error", () => {});
