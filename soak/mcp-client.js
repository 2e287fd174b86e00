// Gateway clients without an SDK, so they can misbehave. They support both eras of the protocol.
import { Agent, request as httpRequest } from "node:http";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const clientInfo = { name: "soak", version: "1" };

/**
 * @typedef {{ url: string, headers?: Record<string, string>, body: unknown, agent?: Agent, signal?: AbortSignal }} Post
 * @typedef {{ id?: number, result?: Record<string, unknown>, error?: { code: number, message: string } }} Answer
 */

/** Sends a POST and returns the request, so the caller can interfere with it. @param {Post} options */
export function startPost({ url, headers = {}, body, agent, signal }) {
  const sent = httpRequest(url, {
    method: "POST",
    ...(agent === undefined ? {} : { agent }),
    ...(signal === undefined ? {} : { signal }),
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
  });
  sent.end(JSON.stringify(body));
  return sent;
}

/**
 * Sends a POST and reads the whole response. @param {Post} options @returns {Promise<{ status: number, text: string,
 * session: string | undefined }>}
 */
export function post(options) {
  return new Promise((resolve, reject) => {
    const sent = startPost(options);
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, text, session: response.headers["mcp-session-id"]?.toString() });
      });
    });
  });
}

/**
 * Finds the response to the request with this id in a JSON or event-stream body.
 * @param {{ text: string, status: number }} response
 * @param {number} id
 * @returns {Answer}
 */
export function answerIn({ text: body, status }, id) {
  // The first event of a stream can be empty and only have an id.
  const texts = body.startsWith("{") ? [body] : [...body.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data);
  const answers = texts.map((text) => /** @type {Answer} the gateway sends JSON-RPC */ (JSON.parse(text)));
  const found = answers.find((answer) => answer.id === id && !("method" in answer));
  if (found === undefined) throw new Error(`no response to ${id}, but HTTP ${status}: ${body.slice(0, 200)}`);
  return found;
}

/** Returns the text of a result. @param {Record<string, unknown> | undefined} result */
export function textOf(result) {
  const [first] = /** @type {{ text?: string }[]} as in a tool result */ (result?.content ?? []);
  return first?.text ?? "";
}

/** One client. `open` performs the handshake if the era has one. */
export class McpClient {
  #url;
  #agent;
  #lastId = 0;
  /** @type {Record<string, string>} */
  #headers = {};
  isModern;

  /** @param {string} url @param {{ modern: boolean, agent?: Agent }} options */
  constructor(url, { modern, agent }) {
    this.#url = url;
    this.#agent = agent;
    this.isModern = modern;
  }

  /** @param {AbortSignal} [signal] */
  async open(signal) {
    if (this.isModern) return;
    const id = ++this.#lastId;
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
    const { session = "", ...response } = await post(this.#post({ id, method: "initialize", params }, signal));
    const { error } = answerIn(response, id);
    if (error !== undefined) throw new Error(error.message);
    this.#headers = { "mcp-session-id": session, "mcp-protocol-version": LEGACY };
    await post(this.#post({ method: "notifications/initialized" }, signal));
  }

  /** The headers for a GET or DELETE of the session. */
  get sessionHeaders() {
    return { accept: "text/event-stream", ...this.#headers };
  }

  /**
   * Builds a request to send with `startPost`. @param {string} method @param {Record<string, unknown>} params @param
   * {AbortSignal} [signal]
   */
  request(method, params, signal) {
    const id = ++this.#lastId;
    if (!this.isModern) return { id, ...this.#post({ id, method, params }, signal) };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": clientInfo,
    };
    const sent = this.#post({ id, method, params: { ...params, _meta } }, signal);
    /** @type {Record<string, string>} */
    const named = typeof params.name === "string" ? { "mcp-name": params.name } : {};
    return { id, ...sent, headers: { "mcp-protocol-version": MODERN, "mcp-method": method, ...named } };
  }

  /**
   * Calls a tool. Rejects if no response arrives. @param {string} name @param {Record<string, unknown>} args @param
   * {AbortSignal} [signal]
   */
  async call(name, args, signal) {
    const request = this.request("tools/call", { name, arguments: args }, signal);
    return answerIn(await post(request), request.id);
  }

  async close() {
    const session = this.#headers["mcp-session-id"];
    if (session === undefined) return;
    await new Promise((resolve, reject) => {
      const sent = httpRequest(this.#url, { method: "DELETE", agent: this.#agent, headers: this.#headers });
      sent.on("error", reject).on("response", (response) => response.resume().on("end", resolve));
      sent.end();
    });
  }

  /** @param {Record<string, unknown>} message @param {AbortSignal} [signal] @returns {Post} */
  #post(message, signal) {
    return {
      url: this.#url,
      headers: this.#headers,
      body: { jsonrpc: "2.0", ...message },
      ...(this.#agent === undefined ? {} : { agent: this.#agent }),
      ...(signal === undefined ? {} : { signal }),
    };
  }
}
