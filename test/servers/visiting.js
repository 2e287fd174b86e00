// visiting: rejects calls until a page has been visited (error -32042 of revision 2025-11-25). Tools: guarded
// {announce?} is rejected with one page until that page has been fetched; then, unless announce is false, it sends
// notifications/elicitation/complete, and the call returns the number of attempts. impossible is always rejected. later
// asks for a visit and answers before the page has been fetched. Each attempt is logged. Options: only the common ones.
// Transport: stdio. Written without an SDK. Legacy era only.

import { once } from "node:events";
import { createServer } from "node:http";
import { readLines, writeLine } from "./line-rpc.js";

let tries = 0;
let isVisited = false;
let announces = true;

const pages = createServer((_request, response) => {
  isVisited = true;
  if (announces) {
    writeLine({ jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId: "visit-1" } });
  }
  response.end("thank you");
});
pages.listen(0, "127.0.0.1");
await once(pages, "listening");
const address = pages.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

const page = {
  mode: "url",
  message: "Please visit.",
  url: `http://127.0.0.1:${port}/visit`,
  elicitationId: "visit-1",
};

/** The call that asks for a visit and waits for the answer to that. */
let asking = 0;

/** @param {string} value */
function text(value) {
  return { content: [{ type: "text", text: value }] };
}

/** @param {any} message sent by a test's client */
function answer({ method, params = {} }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "visiting", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: ["guarded", "impossible", "later"].map((name) => ({ name, inputSchema: { type: "object" } })) };
    case "tools/call": {
      tries += 1;
      writeLine({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: `try ${tries}` } });
      announces = params.arguments?.announce !== false;
      if (isVisited && params.name === "guarded") return text(`tried ${tries} times`);
      throw { code: -32042, message: "a visit is needed", data: { elicitations: [page] } };
    }
    default:
      throw { code: -32601, message: `Method not found: ${method}` };
  }
}

await readLines((message) => {
  const { id, method, params } = /** @type {{ id?: number | string, method?: string, params?: any }} */ (message);
  if (id === "visit") writeLine({ jsonrpc: "2.0", id: asking, result: text("asked for a visit") });
  if (typeof id !== "number") return;
  if (method === "tools/call" && params.name === "later") {
    asking = id;
    return writeLine({ jsonrpc: "2.0", id: "visit", method: "elicitation/create", params: page });
  }
  try {
    writeLine({ jsonrpc: "2.0", id, result: answer(message) });
  } catch (error) {
    writeLine({ jsonrpc: "2.0", id, error });
  }
});
