// expiring: Streamable HTTP with sessions that expire: after some calls the session id gets a 404 until a new
// initialize. Tools: count (calls in this session, including this one), sessions (sessions initialised so far).
// Options: --after N (3): the session accepts N calls and expires on the next request. Transports: HTTP, with or
// without --http. Written without an SDK. Legacy era only, because the modern one has no sessions.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { listen, pathOf, readJson, sendJson, sendRpcError } from "./network.js";
import { readOptions, wholeNumber } from "./options.js";
import { agreeOnVersion, answer, isMessage } from "./raw-tool-server.js";
import { text } from "./tool.js";

const options = readOptions({ after: { type: "string", default: "3" } });
const callsPerSession = wholeNumber(options.after, "--after");

/** @typedef {{ calls: number }} Session */

/** @type {Map<string, Session>} */
const sessions = new Map();
let initialisedCount = 0;
/** @type {AsyncLocalStorage<Session>} the session of the current call */
const currentSession = new AsyncLocalStorage();

/** @type {import("./raw-tool-server.js").RawToolServer} */
const server = {
  name: "expiring",
  protocolVersion: agreeOnVersion,
  tools: [
    {
      name: "count",
      description: "Tells how many calls this session has made.",
      inputSchema: { type: "object" },
      run: () => text(String(currentSession.getStore()?.calls)),
    },
    {
      name: "sessions",
      description: "Tells how many sessions have been initialised.",
      inputSchema: { type: "object" },
      run: () => text(String(initialisedCount)),
    },
  ],
};

/** @type {import("./network.js").Handler} */
async function handle(request, response) {
  if (pathOf(request) !== "/mcp") return void response.writeHead(404).end();
  const message = request.method === "POST" ? await readJson(request) : undefined;

  if (isMessage(message) && message.method === "initialize") {
    const id = randomUUID();
    sessions.set(id, { calls: 0 });
    initialisedCount += 1;
    return sendJson(response, 200, await answer(server, message), { "mcp-session-id": id });
  }

  const id = request.headers["mcp-session-id"];
  if (typeof id !== "string") {
    return sendRpcError(response, 400, { code: -32000, message: "Bad Request: Mcp-Session-Id header is required" });
  }
  const session = sessions.get(id);
  if (session === undefined) return sendRpcError(response, 404, { code: -32001, message: "Session not found" });
  if (request.method === "DELETE") {
    sessions.delete(id);
    return void response.writeHead(200).end();
  }
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST, DELETE" }).end();

  if (isMessage(message) && message.method === "tools/call") {
    session.calls += 1;
    if (session.calls >= callsPerSession) sessions.delete(id);
  }
  const answered = await currentSession.run(session, () => answer(server, message));
  if (answered === undefined) return void response.writeHead(202).end();
  sendJson(response, 200, answered);
}

await listen(options, "/mcp", handle);
