// garbled: sends correct messages in awkward ways that a careful client still understands. Tools: echo {text}, unicode
// (a text with characters of two, three and four bytes). stdio: lines of plain text, colours, JSON that is not JSON-RPC
// and empty lines before and between the messages; a notification before each response; responses end in LF and CRLF
// alternately. --http: each response is an event stream with a comment, a notification before and one after the
// response, data over several lines, mixed LF and CRLF, with every multi-byte character split across two TCP writes.
// Options: --json-array answers with one JSON array [notification, response] (the batches of 2025-03-26). Written
// without an SDK. Legacy era only. Transports: stdio, --http.

import { setTimeout as delay } from "node:timers/promises";
import { echo } from "./greetings.js";
import { readLines, writeLine } from "./line-rpc.js";
import { listen, pathOf, readJson, sendJson } from "./network.js";
import { readOptions } from "./options.js";
import { agreeOnVersion, answer } from "./raw-tool-server.js";
import { text } from "./tool.js";

/** @typedef {import("./raw-tool-server.js").Answer} Answer */

const options = readOptions({ "json-array": { type: "boolean", default: false } });

/** @type {import("./raw-tool-server.js").RawToolServer} */
const server = {
  name: "garbled",
  protocolVersion: agreeOnVersion,
  tools: [
    echo,
    {
      name: "unicode",
      description: "Answers a text with characters of two, three and four bytes.",
      inputSchema: { type: "object" },
      run: () => text("Grüße, 世界 👋"),
    },
  ],
};

/** @param {string} data */
function notification(data) {
  return { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } };
}

let answeredCount = 0;

/** @param {Answer} answered */
function writeGarbled(answered) {
  answeredCount += 1;
  if (options["json-array"]) return writeLine([notification("working, grüßend"), answered]);
  process.stdout.write("\u001b[33mwarn\u001b[0m a coloured line between messages\n");
  writeLine(notification("working, grüßend"));
  process.stdout.write("\n");
  process.stdout.write(`${JSON.stringify(answered)}${answeredCount % 2 === 0 ? "\r\n" : "\n"}`);
  process.stdout.write('{"level":"info","msg":"answered"}\n');
}

/**
 * Formats one event of the stream. Pretty-printed JSON spreads its data over several lines.
 *
 * @param {unknown} message
 * @param {"\n" | "\r\n"} lineEnd
 */
function event(message, lineEnd) {
  const data = JSON.stringify(message, null, 1).split("\n");
  return ["event: message", ...data.map((line) => `data: ${line}`), "", ""].join(lineEnd);
}

/**
 * Splits a text after the first byte of each multi-byte character.
 *
 * @param {string} value
 */
function cutInsideCharacters(value) {
  const bytes = Buffer.from(value, "utf8");
  const isLeadByte = (/** @type {number} */ byte) => byte >= 0b1100_0000;
  const cuts = [...bytes.keys()].filter((index) => isLeadByte(bytes[index] ?? 0)).map((index) => index + 1);
  return [0, ...cuts].map((start, index) => bytes.subarray(start, cuts[index]));
}

/** @type {import("./network.js").Handler} */
async function serveHttp(request, response) {
  if (pathOf(request) !== "/mcp") return void response.writeHead(404).end();
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  const answered = await answer(server, await readJson(request));
  if (answered === undefined) return void response.writeHead(202).end();
  if (options["json-array"]) return sendJson(response, 200, [notification("working, grüßend"), answered]);

  response.socket?.setNoDelay(true);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const body = [
    ": a comment\r\n\r\n",
    event(notification("working, grüßend"), "\r\n"),
    ":\nretry: 3000\n\n",
    event(answered, "\n"),
    event(notification("done, grüßend"), "\r\n"),
  ].join("");
  for (const piece of cutInsideCharacters(body)) {
    await new Promise((resolve) => response.write(piece, resolve));
    // Without a pause, the system may merge two writes into one packet, and the reader would never see the split.
    await delay(2);
  }
  response.end();
}

if (options.http) {
  await listen(options, "/mcp", serveHttp);
} else {
  process.stdout.write('garbled server starting…\n\n{"level":"info","msg":"ready"}\n\u001b[32mready\u001b[0m\n');
  await readLines(async (message) => {
    const answered = await answer(server, message);
    if (answered !== undefined) writeGarbled(answered);
  });
}
