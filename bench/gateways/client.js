// A minimal MCP client, so that the gateway dominates the measurement: node:http with keep-alive. It speaks Streamable
// HTTP with a session, with JSON or event-stream responses, and HTTP+SSE for gateways that support nothing newer.
import { Agent, request } from "node:http";
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
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 128 });
  /** @type {Record<string, string>} */
  const headers = {};
  let ids = 0;
  return {
    ask: async (method, params = {}, timeoutMs = 60_000) => {
      const id = ids++;
      const sent = post(url, { id, method, params }, { agent, headers, timeoutMs });
      const { answer, session } = await sent;
      if (session !== undefined && method === "initialize") {
        headers["mcp-session-id"] = session;
        headers["mcp-protocol-version"] = REVISION;
      }
      return resultOf(answer);
    },
    notify: async (method) => {
      await post(url, { method }, { agent, headers, timeoutMs: 10_000 });
    },
    close: () => agent.destroy(),
  };
}

/** @param {string} url @returns {Promise<Connecting>} */
async function overEvents(url) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 128 });
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
  const target = new URL(await endpoint, url).href;
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
          post(target, { id, method, params }, { agent, headers: {}, timeoutMs }),
        ]);
        return resultOf(answer);
      } finally {
        waiting.delete(id);
        clearTimeout(timer);
      }
    },
    notify: async (method) => {
      await post(target, { method }, { agent, headers: {}, timeoutMs: 10_000 });
    },
    close: () => {
      stream.destroy();
      agent.destroy();
    },
  };
}

/** @param {Answer | undefined} answer */
function resultOf(answer) {
  if (answer?.result !== undefined) return answer.result;
  throw new NoAnswer("refused", answer?.error?.message ?? "an empty response");
}

/**
 * @param {string} url
 * @param {{ id?: number, method: string, params?: object }} message
 * @param {{ agent: Agent, headers: Record<string, string>, timeoutMs: number }} options
 * @returns {Promise<{ answer?: Answer, session?: string }>}
 */
function post(url, message, { agent, headers, timeoutMs }) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const { hostname, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname,
      port,
      path: `${pathname}${search}`,
      method: "POST",
      agent,
      timeout: timeoutMs,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        accept: "application/json, text/event-stream",
        ...headers,
      },
    });
    sent.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      // A server may close an idle connection just as it is reused.
      const isStale = sent.reusedSocket && error.code === "ECONNRESET";
      if (isStale) resolve(post(url, message, { agent, headers, timeoutMs }));
      else reject(error instanceof NoAnswer ? error : new NoAnswer("http", error.message));
    });
    sent.on("timeout", () => sent.destroy(new NoAnswer("timeout", `no response in ${timeoutMs} ms`)));
    sent.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const session = response.headers["mcp-session-id"];
      const found = typeof session === "string" ? { session } : {};
      response.setEncoding("utf8");
      response.on("error", (error) => reject(new NoAnswer("http", error.message)));
      // A response counts as soon as it has arrived, no matter when the stream ends.
      if (response.headers["content-type"]?.startsWith("text/event-stream")) {
        response.on(
          "data",
          eventReader((data) => {
            /** @type {Answer} */
            const answer = JSON.parse(data);
            if (answer.id === message.id) resolve({ answer, ...found });
          }),
        );
        response.on("end", () => reject(new NoAnswer("http", "the stream ended without a response")));
        return;
      }
      /** @type {string[]} */
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        const text = chunks.join("");
        if (status === 404) return reject(new NoAnswer("session", text));
        if (status >= 300) return reject(new NoAnswer("http", `${status} ${text}`));
        const isJson = response.headers["content-type"]?.startsWith("application/json") && text !== "";
        resolve(isJson ? { answer: JSON.parse(text), ...found } : found);
      });
    });
    sent.end(body);
  });
}
