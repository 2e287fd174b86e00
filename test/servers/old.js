// old: a server of revision 2024-11-05, written without an SDK. Tools: hello {name?}, echo {text}, env (the names of
// its environment variables as a JSON array, for leak tests). It supports ping, and answers -32601 to unknown methods
// such as server/discover. Options: --version-answer X answers initialize with that revision, known or not;
// --exit-on-unknown exits with code 1 on an unknown request, as some real servers do when a modern client probes them;
// --start-delay-ms N: reads nothing for N ms. Transports: stdio, --sse.

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { echo, hello } from "./greetings.js";
import { readLines, writeLine } from "./line-rpc.js";
import { listen, pathOf, readJson } from "./network.js";
import { readOptions, wholeNumber } from "./options.js";
import { answer } from "./raw-tool-server.js";
import { text } from "./tool.js";

const options = readOptions({
  "version-answer": { type: "string", default: "2024-11-05" },
  "exit-on-unknown": { type: "boolean", default: false },
  "start-delay-ms": { type: "string", default: "0" },
});

/** @type {import("./tool.js").PlainTool} */
const env = {
  name: "env",
  description: "Lists the names of its environment variables.",
  inputSchema: { type: "object" },
  run: () => text(JSON.stringify(Object.keys(process.env).sort())),
};

/** @type {import("./raw-tool-server.js").RawToolServer} */
const server = {
  name: "old",
  tools: [hello, echo, env],
  protocolVersion: () => options["version-answer"],
  onUnknownMethod: (method) => {
    if (!options["exit-on-unknown"]) return;
    console.error(`Error: unknown method ${method}`);
    process.exit(1);
  },
};

/** @type {Map<string, import("./network.js").ServerResponse>} open streams by session id */
const streams = new Map();

/** @type {import("./network.js").Handler} */
async function serveSse(request, response) {
  const path = pathOf(request);
  if (request.method === "GET" && path === "/sse") {
    const id = randomUUID();
    streams.set(id, response);
    response.on("close", () => streams.delete(id));
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
    return;
  }
  const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId") ?? "";
  const stream = streams.get(id);
  if (request.method !== "POST" || path !== "/messages" || stream === undefined)
    return void response.writeHead(404).end();
  const answered = await answer(server, await readJson(request));
  response.writeHead(202).end("Accepted");
  if (answered !== undefined) stream.write(`event: message\ndata: ${JSON.stringify(answered)}\n\n`);
}

await delay(wholeNumber(options["start-delay-ms"], "--start-delay-ms"));
if (options.sse) {
  await listen(options, "/sse", serveSse);
} else {
  await readLines(async (message) => {
    const answered = await answer(server, message);
    if (answered !== undefined) writeLine(answered);
  });
}
