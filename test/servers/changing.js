// changing: a legacy server without an SDK whose definitions change while it runs. It reads {tools, prompts,
// instructions} from the file `--definitions` for every list, so a test changes them by writing the file. A call to any
// tool is appended to the file `--calls` and answers with the tool's name; a call to `announce` first sends
// notifications/tools/list_changed. Transports: stdio.

import { appendFileSync, readFileSync } from "node:fs";
import { readLines, writeLine } from "./line-rpc.js";
import { readOptions } from "./options.js";
import { agreeOnVersion, isMessage } from "./raw-tool-server.js";
import { text } from "./tool.js";

const options = readOptions({ definitions: { type: "string" }, calls: { type: "string" } });

await readLines((message) => {
  if (!isMessage(message) || message.method === undefined || message.id === undefined) return;
  const { id, method, params = {} } = message;
  const result = answer(method, params);
  if (result === undefined)
    writeLine({ jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } });
  else writeLine({ jsonrpc: "2.0", id, result });
});

/**
 * @param {string} method
 * @param {Record<string, unknown>} params
 */
function answer(method, params) {
  const { tools = [], prompts, instructions } = JSON.parse(readFileSync(String(options.definitions), "utf8"));
  switch (method) {
    case "initialize":
      return {
        protocolVersion: agreeOnVersion(params.protocolVersion),
        capabilities: { tools: { listChanged: true }, ...(prompts === undefined ? {} : { prompts: {} }) },
        serverInfo: { name: "changing", version: "1.0.0" },
        ...(instructions === undefined ? {} : { instructions }),
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools };
    case "prompts/list":
      return prompts === undefined ? undefined : { prompts };
    case "prompts/get":
      return { messages: [{ role: "user", content: { type: "text", text: `prompt ${params.name}` } }] };
    case "tools/call":
      if (options.calls !== undefined) appendFileSync(options.calls, `${params.name}\n`);
      if (params.name === "announce") writeLine({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return text(`called ${params.name}`);
    default:
      return undefined;
  }
}
