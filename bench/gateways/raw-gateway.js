// The limit: the least a gateway in Node can do between HTTP and a stdio server. It parses and writes every message once
// each way and gives requests new ids, because clients share the server. It checks nothing, keeps no sessions and
// restarts nothing. Usage: raw-gateway.js <port> <command> [args...].
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const [port, command = "", ...args] = process.argv.slice(2);

/** @typedef {{ id?: string | number, [key: string]: unknown }} Message */

/** @type {Map<number, { id: string | number, response: import("node:http").ServerResponse }>} */
const waiting = new Map();
let ids = 0;

const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.once("SIGTERM", () => {
  server.kill();
  process.exit(0);
});
// Without the server, calls stay unanswered.
server.stdin.on("error", () => {});

/** @type {string[]} */
let held = [];
server.stdout.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
  const lines = chunk.split("\n");
  const rest = lines.pop() ?? "";
  if (lines.length > 0) {
    lines[0] = held.join("") + lines[0];
    held = [];
    for (const line of lines) answer(JSON.parse(line));
  }
  held.push(rest);
});

/** @param {Message} message */
function answer(message) {
  const asked = waiting.get(Number(message.id));
  if (asked === undefined) return;
  waiting.delete(Number(message.id));
  message.id = asked.id;
  const body = JSON.stringify(message);
  asked.response
    .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    .end(body);
}

createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  /** @type {string[]} */
  const chunks = [];
  request.setEncoding("utf8").on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    /** @type {Message} */
    const message = JSON.parse(chunks.join(""));
    if (message.id === undefined) response.writeHead(202).end();
    else {
      const id = ids++;
      waiting.set(id, { id: message.id, response });
      message.id = id;
    }
    server.stdin.write(`${JSON.stringify(message)}\n`);
  });
}).listen(Number(port), "127.0.0.1");
