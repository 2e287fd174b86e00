// A minimal MCP client, so that the gateway dominates the measurement: an undici pool. It speaks Streamable HTTP with a
// session, with JSON or event-stream responses, and HTTP+SSE for gateways that support nothing newer.
import { request } from "node:http";
import { Pool } from "../undici.js";
import { eventReader } from "./events.js";

/** The newest revision with a handshake. All of the programs speak it, or negotiate an older one. */
const REVISION = "2025-06-18";

/**
 * @typedef {{ id?: number, result?: Record<string, any>, error?: { code: number, message: string } }} Answer
 * @typedef {object} Client
 * @property {(method: string, params?: object, timeoutMs?: number) => Promise<Record<string, any>>} ask
 * @property {() => void} close
 */

/** A failed request. `code` is `session` if a new session has to be opened. */
export class NoAnswer extends Error {
  /** @param {"session" | "http" | "refused" | "timeout"} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @param {string} url @param {"streamable" | "sse"} transport @returns {Promise<Client>} */
export async function connect(url, transport) {
  const client = transport === "sse" ? await overEvents(url) : overStreamable(url);
  try {
    await client.ask("initialize", {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    });
    await client.notify("notifications/initialized");
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** @typedef {Client & { notify: (method: string) => Promise<void> }} Connecting */

/** @param {string} url @returns {Connecting} */
function overStreamable(url) {
  const target = targetAt(url);
  /** @type {Record<string, string>} */
  const headers = {};
  let ids = 0;
  return {
    ask: async (method, params = {}, timeoutMs = 60_000) => {
      const id = ids++;
      const { answer, session } = await post(target, { id, method, params }, { headers, timeoutMs });
      if (session !== undefined && method === "initialize") {
        headers["mcp-session-id"] = session;
        headers["mcp-protocol-version"] = REVISION;
      }
      return resultOf(answer);
    },
    notify: async (method) => {
      await post(target, { method }, { headers, timeoutMs: 10_000 });
    },
    close: () => void target.pool.destroy(),
  };
}

/** @param {string} url @returns {Promise<Connecting>} */
async function overEvents(url) {
  /** @type {Map<number, (answer: Answer) => void>} */
  const waiting = new Map();
  const stream = request(url, { headers: { accept: "text/event-stream" } });
  const endpoint = new Promise((/** @type {(path: string) => void} */ resolve, reject) => {
    const read = eventReader((data, type) => {
      if (type === "endpoint") return resolve(data);
      /** @type {Answer} */
      const answer = JSON.parse(data);
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    });
    // Once there is an endpoint, a broken stream shows up as calls without a response.
    const broken = (/** @type {string} */ why) => reject(new NoAnswer("http", why));
    stream.on("error", (error) => broken(error.message));
    stream.on("response", (response) => {
      if (response.statusCode !== 200) broken(`${response.statusCode}`);
      response.setEncoding("utf8").on("data", read);
      response.on("error", (error) => broken(error.message)).on("end", () => broken("the stream ended"));
    });
    stream.end();
  });
  const target = targetAt(new URL(await endpoint, url).href);
  let ids = 0;
  return {
    ask: async (method, params = {}, timeoutMs = 60_000) => {
      const id = ids++;
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const answered = new Promise((/** @type {(answer: Answer) => void} */ resolve, reject) => {
        waiting.set(id, resolve);
        timer = setTimeout(() => reject(new NoAnswer("timeout", `no response in ${timeoutMs} ms`)), timeoutMs);
      });
      try {
        const [answer] = await Promise.all([
          answered,
          post(target, { id, method, params }, { headers: {}, timeoutMs }),
        ]);
        return resultOf(answer);
      } finally {
        waiting.delete(id);
        clearTimeout(timer);
      }
    },
    notify: async (method) => {
      await post(target, { method }, { headers: {}, timeoutMs: 10_000 });
    },
    close: () => {
      stream.destroy();
      void target.pool.destroy();
    },
  };
}

/** @param {Answer | undefined} answer */
function resultOf(answer) {
  if (answer?.result !== undefined) return answer.result;
  throw new NoAnswer("refused", answer?.error?.message ?? "an empty response");
}

/** @typedef {{ pool: import("undici").Pool, path: string }} Target */

/** @param {string} url @returns {Target} */
function targetAt(url) {
  const { origin, pathname, search } = new URL(url);
  return { pool: new Pool(origin, { pipelining: 1 }), path: `${pathname}${search}` };
}

/**
 * @param {Target} target
 * @param {{ id?: number, method: string, params?: object }} message
 * @param {{ headers: Record<string, string>, timeoutMs: number, isRetry?: boolean }} options
 * @returns {Promise<{ answer?: Answer, session?: string }>}
 */
async function post({ pool, path }, message, { headers, timeoutMs, isRetry = false }) {
  try {
    const response = await pool.request({
      path,
      method: "POST",
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    const session = response.headers["mcp-session-id"];
    const found = typeof session === "string" ? { session } : {};
    const type = String(response.headers["content-type"] ?? "");
    if (type.startsWith("text/event-stream")) return { answer: await eventFor(message.id, response.body), ...found };
    const text = await response.body.text();
    if (response.statusCode === 404) throw new NoAnswer("session", text);
    if (response.statusCode >= 300) throw new NoAnswer("http", `${response.statusCode} ${text}`);
    return type.startsWith("application/json") && text !== "" ? { answer: JSON.parse(text), ...found } : found;
  } catch (error) {
    if (error instanceof NoAnswer || !(error instanceof Error)) throw error;
    const code = "code" in error ? String(error.code) : "";
    // A server may close an idle connection just as it is reused.
    if (!isRetry && (code === "UND_ERR_SOCKET" || code === "ECONNRESET"))
      return await post({ pool, path }, message, { headers, timeoutMs, isRetry: true });
    const isLate = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT";
    throw isLate ? new NoAnswer("timeout", `no response in ${timeoutMs} ms`) : new NoAnswer("http", error.message);
  }
}

/**
 * Reads a stream until it brings this answer, no matter when the stream ends. @param {number | undefined} id @param
 * {import("node:stream").Readable} body @returns {Promise<Answer>}
 */
function eventFor(id, body) {
  return new Promise((resolve, reject) => {
    const read = eventReader((data) => {
      /** @type {Answer} */
      const answer = JSON.parse(data);
      if (answer.id === id) resolve(answer);
    });
    body.setEncoding("utf8").on("data", read);
    body.once("error", reject);
    body.once("end", () => reject(new NoAnswer("http", "the stream ended without a response")));
  });
}
