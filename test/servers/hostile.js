// hostile: sends more, deeper and faster than any client wants. Every answer is written as raw text, so it can be of any
// size and shape. Tools (sizes in bytes, counts and levels as numbers):
// - echo {text, forged}: a small, ordinary answer, with `forged` as its `_meta`;
// - list {bytes, as: "text" | "structured"}: [{},{},…] of about that size;
// - big {bytes}: a text of that size; image {bytes}: an image of that size;
// - endless {}: an answer that never ends;
// - deep {levels, as: "text" | "structured"}: nested lists;
// - raw {json, as: "text" | "structured" | "result"}: that JSON as it is written, escapes included: of a text, of an
//   object, or of the whole result;
// - progress {count}, logs {count}, changes {count}: that many notifications, then an answer.
// With {held: true}, over stdio, the answer to a tool is written together with the next answer, right before it.
// Options: --tools N lists N more tools; --pages endless gives every page a new nextCursor; --schema-bytes N and
// --schema-levels N make one tool's schema large or deep; --id-last puts the id at the end of an answer; --stream
// answers with an event stream (over HTTP); --gzip compresses HTTP answers. Transports: stdio, --http, --sse.

import { once } from "node:events";
import { createGzip } from "node:zlib";
import { exitWhenInputCloses } from "./lifetime.js";
import { readLines } from "./line-rpc.js";
import { listen, readJson } from "./network.js";
import { readOptions, wholeNumber } from "./options.js";
import { agreeOnVersion } from "./raw-tool-server.js";

const options = readOptions({
  tools: { type: "string", default: "0" },
  pages: { type: "string", default: "one" },
  "schema-bytes": { type: "string", default: "0" },
  "schema-levels": { type: "string", default: "0" },
  "id-last": { type: "boolean", default: false },
  stream: { type: "boolean", default: false },
  gzip: { type: "boolean", default: false },
});

/** @typedef {(text: string) => Promise<boolean> | boolean} Write False once nobody reads. */
/** @typedef {{ params: Record<string, any>, write: Write, notify: (method: string, params: object) => Promise<boolean> | boolean }} Call */

const PIECE = 64 * 1024;

/** @param {string} unit @param {number} bytes @param {Write} write */
async function repeat(unit, bytes, write) {
  const piece = unit.repeat(Math.ceil(PIECE / unit.length));
  let left = Math.floor(bytes / unit.length);
  const perPiece = piece.length / unit.length;
  for (; left >= perPiece; left -= perPiece) if (!(await write(piece))) return;
  await write(unit.repeat(left));
}

/** @param {unknown} as @param {Write} write @param {(quote: (text: string) => string) => Promise<unknown>} body */
async function wrapped(as, write, body) {
  if (as === "structured") {
    await write('{"content":[],"structuredContent":{"items":');
    await body((text) => text);
    await write("}}");
  } else {
    await write('{"content":[{"type":"text","text":"');
    await body((text) => text.replaceAll('"', '\\"'));
    await write('"}]}');
  }
}

/** @type {Record<string, (call: Call) => Promise<void>>} */
const behaviours = {
  echo: async ({ params, write }) =>
    void (await write(
      JSON.stringify({ content: [{ type: "text", text: String(params.text) }], _meta: params.forged }),
    )),
  list: async ({ params, write }) =>
    await wrapped(params.as, write, async () => {
      await write("[");
      await repeat("{},", params.bytes, write);
      await write("{}]");
    }),
  big: async ({ params, write }) => {
    await write('{"content":[{"type":"text","text":"');
    await repeat("The quick brown fox jumps over the lazy dog. ", params.bytes, write);
    await write('"}]}');
  },
  image: async ({ params, write }) => {
    await write('{"content":[{"type":"text","text":"a picture"},{"type":"image","mimeType":"image/png","data":"');
    await repeat("aGVsbG8h", params.bytes, write);
    await write('"}]}');
  },
  endless: async ({ write }) => {
    await write('{"content":[{"type":"text","text":"');
    while (await write("x".repeat(PIECE)));
  },
  deep: async ({ params, write }) =>
    await wrapped(params.as, write, async () => {
      await repeat("[", params.levels, write);
      await repeat("]", params.levels, write);
    }),
  raw: async ({ params, write }) =>
    void (await write(
      params.as === "result"
        ? params.json
        : params.as === "structured"
          ? `{"content":[],"structuredContent":${params.json}}`
          : `{"content":[{"type":"text","text":${params.json}}]}`,
    )),
  progress: async ({ params, write, notify }) => {
    const { progressToken } = params.meta ?? {};
    for (let progress = 1; progress <= params.count; progress++) {
      if (progressToken !== undefined)
        await notify("notifications/progress", { progressToken, progress, total: params.count });
    }
    await write('{"content":[{"type":"text","text":"done"}]}');
  },
  logs: async ({ params, write, notify }) => {
    for (let line = 1; line <= params.count; line++) {
      await notify("notifications/message", { level: "info", data: `line ${line}` });
    }
    await write('{"content":[{"type":"text","text":"done"}]}');
  },
  changes: async ({ params, write, notify }) => {
    for (let change = 1; change <= params.count; change++) await notify("notifications/tools/list_changed", {});
    await write('{"content":[{"type":"text","text":"done"}]}');
  },
};

let lists = 0;
/** An answer that waits for the next one. */
let heldBack = "";

/** @param {{ cursor?: string }} params @param {Write} write */
async function listTools(params, write) {
  lists++;
  const own = Object.keys(behaviours).map((name) => ({
    name,
    description: `Lists so far: ${lists}.`,
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  }));
  await write('{"tools":[');
  if (params.cursor === undefined) await write(JSON.stringify(own).slice(1, -1));
  const separator = params.cursor === undefined ? "," : "";
  const more = wholeNumber(options.tools, "--tools");
  const schemaBytes = wholeNumber(options["schema-bytes"], "--schema-bytes");
  const schemaLevels = wholeNumber(options["schema-levels"], "--schema-levels");
  const before = Number(params.cursor ?? 0) * more;
  for (let number = 1; number <= more; number++) {
    const tool = {
      name: `tool_${before + number}`,
      description: `Tool number ${before + number}.`,
      inputSchema: { type: "object" },
    };
    await write(`${number === 1 ? separator : ","}${JSON.stringify(tool)}`);
  }
  if (schemaBytes > 0) {
    await write(`${separator}{"name":"wide","inputSchema":{"type":"object","description":"`);
    await repeat("wide ", schemaBytes, write);
    await write('"}}');
  }
  if (schemaLevels > 0) {
    await write(`${separator}{"name":"nested","inputSchema":`);
    await repeat('{"properties":', schemaLevels * '{"properties":'.length, write);
    await write("{}");
    await repeat("}", schemaLevels, write);
    await write("}");
  }
  const page = Number(params.cursor ?? 0) + 1;
  await write(options.pages === "endless" ? `],"nextCursor":"${page}"}` : "]}");
}

/**
 * Answers a request; `write` receives the raw text of one message.
 *
 * @param {any} message
 * @param {Write} write
 * @param {Call["notify"]} notify
 */
async function answer({ id, method, params = {} }, write, notify) {
  const head = options["id-last"] ? '{"result":' : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  const tail = options["id-last"] ? `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}` : "}";
  const behaviour = behaviours[params.name];
  if (method === "tools/call" && behaviour !== undefined) {
    let begun = false;
    /** @type {Write} */
    const inside = async (text) => {
      const first = begun ? "" : head;
      begun = true;
      return await write(first + text);
    };
    if (params.arguments?.held === true) {
      /** @type {string[]} */
      const texts = [];
      /** @type {Write} */
      const hold = (text) => texts.push(text) > 0;
      await behaviour({ params: { ...params.arguments }, write: hold, notify });
      heldBack = `${head}${texts.join("")}${tail}\n`;
      return;
    }
    await behaviour({ params: { ...params.arguments, meta: params._meta }, write: inside, notify });
    await write(tail);
  } else if (method === "tools/list") {
    await write(head);
    await listTools(params, write);
    await write(tail);
  } else if (method === "initialize") {
    const result = {
      protocolVersion: agreeOnVersion(params.protocolVersion),
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: "hostile", version: "1.0.0" },
    };
    await write(JSON.stringify({ jsonrpc: "2.0", id, result }));
  } else if (method === "ping" || method === "logging/setLevel") {
    await write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
  } else {
    await write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }));
  }
}

/**
 * Writes to a stream, waiting while its reader is slow.
 *
 * @param {import("node:stream").Writable} stream
 * @returns {Write}
 */
function writerTo(stream) {
  return (text) => {
    if (stream.destroyed) return false;
    if (stream.write(text)) return true;
    return Promise.race([once(stream, "drain"), once(stream, "close")]).then(() => !stream.destroyed);
  };
}

/** @param {string} method @param {object} params */
function notification(method, params) {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

if (options.http || options.sse) {
  /** @type {Write | undefined} the stream of an HTTP+SSE client */
  let stream;
  await listen(options, options.sse ? "/sse" : "/mcp", async (request, response) => {
    response.on("error", () => {});
    if (request.method === "GET" && options.sse) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      stream = writerTo(response);
      await stream("event: endpoint\ndata: /messages\n\n");
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = /** @type {any} a message of the client */ (await readJson(request));
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(202).end();
      return;
    }
    if (options.sse) {
      response.writeHead(202).end();
      const write = stream ?? (() => false);
      /** @type {Call["notify"]} */
      const notify = (method, params) => write(`event: message\ndata: ${notification(method, params)}\n\n`);
      let begun = false;
      await answer(
        message,
        async (text) => {
          const first = begun ? "" : "event: message\ndata: ";
          begun = true;
          return await write(first + text);
        },
        notify,
      );
      await write("\n\n");
      return;
    }
    const isStream = options.stream && message.method === "tools/call";
    response.writeHead(200, {
      "content-type": isStream ? "text/event-stream" : "application/json",
      ...(options.gzip ? { "content-encoding": "gzip" } : {}),
    });
    const body = options.gzip ? createGzip() : response;
    if (body !== response) body.pipe(response);
    response.on("close", () => body.destroy());
    const write = writerTo(body);
    let begun = false;
    await answer(
      message,
      async (text) => {
        const first = begun || !isStream ? "" : "data: ";
        begun = true;
        return await write(first + text);
      },
      (method, params) => (isStream ? write(`data: ${notification(method, params)}\n\n`) : true),
    );
    if (isStream) await write("\n\n");
    body.end();
  });
} else {
  exitWhenInputCloses();
  const write = writerTo(process.stdout);
  await readLines(async (message) => {
    const { id, method } = /** @type {any} a request of the client */ (message);
    if (id === undefined || method === undefined) return;
    let before = heldBack;
    heldBack = "";
    /** @type {Write} */
    const after = (text) => {
      const all = before + text;
      before = "";
      return write(all);
    };
    await answer(/** @type {any} */ (message), after, (name, params) => write(`${notification(name, params)}\n`));
    if (heldBack === "") await after("\n");
  });
}
