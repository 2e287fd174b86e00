// Clients of a team's gateways, in both eras. They repeat what the protocol allows to repeat, as agents do.
import { setTimeout as delay } from "node:timers/promises";
import { TOKEN } from "./gateway-process.js";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const clientInfo = { name: "team", version: "1" };

/**
 * @typedef {{ content?: { text?: string }[], isError?: boolean, [key: string]: unknown }} Result
 * @typedef {{ status: number, headers: Headers, message?: { result?: Result, error?: { message: string, data?: { retryable?: boolean, code?: string } } } }} Answer
 */

export class TeamClient {
  #url;
  #isModern;
  #lastId = 0;
  #headers;
  /** @type {string | undefined} */
  session;
  /** How many requests were sent again. */
  repeated = 0;
  /** How often a new session was opened. */
  reopened = 0;

  /** @param {string} url @param {{ modern?: boolean, headers?: Record<string, string> }} options */
  constructor(url, { modern = true, headers = {} } = {}) {
    this.#url = url;
    this.#isModern = modern;
    this.#headers = headers;
  }

  /** Sends one request, once. @param {string} method @param {Record<string, unknown>} params @param {AbortSignal} [signal] @returns {Promise<Answer>} */
  async request(method, params, signal) {
    if (!this.#isModern && this.session === undefined) await this.#open();
    const id = ++this.#lastId;
    const body = { jsonrpc: "2.0", id, method, params: this.#isModern ? { ...params, _meta: meta() } : params };
    const response = await this.#post(body, this.#headersOf(method, params), signal);
    return { status: response.status, headers: response.headers, ...answerIn(await response.text(), id) };
  }

  /** Sends a request and returns the response as it is. @param {string} method @param {Record<string, unknown>} params @param {AbortSignal} [signal] */
  async stream(method, params, signal) {
    if (!this.#isModern && this.session === undefined) await this.#open();
    const body = {
      jsonrpc: "2.0",
      id: ++this.#lastId,
      method,
      params: this.#isModern ? { ...params, _meta: { ...meta(), progressToken: "p" } } : params,
    };
    return await this.#post(body, this.#headersOf(method, params), signal);
  }

  /**
   * Calls a tool that may be repeated. After an answer that says that the call did not run, a lost connection or an error
   * that is marked as retryable, it calls again, up to `attempts` times.
   *
   * @param {string} name
   * @param {Record<string, unknown>} args
   * @param {{ attempts?: number, signal?: AbortSignal }} options
   */
  async call(name, args, { attempts = 1, signal } = {}) {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#try(name, args, signal);
      if (!outcome.again || attempt >= attempts) return outcome;
      this.repeated += 1;
      await delay(Math.min(50 * 2 ** attempt, 1_000));
    }
  }

  /** @param {string} name @param {Record<string, unknown>} args @param {AbortSignal} [signal] */
  async #try(name, args, signal) {
    try {
      const { status, message } = await this.request("tools/call", { name, arguments: args }, signal);
      if (status === 404 && !this.#isModern) {
        this.session = undefined;
        this.reopened += 1;
        return { ok: false, again: true, status, text: "the session is gone" };
      }
      const { result, error } = message ?? {};
      const text = result?.content?.[0]?.text ?? error?.message ?? `HTTP ${status}`;
      const ok = result !== undefined && result.isError !== true;
      const isAllowed = error?.data?.retryable === true || text.includes('"code":"STORE_UNAVAILABLE"');
      const again = !ok && (isAllowed || [502, 503, 504].includes(status));
      return { ok, again, status, text, result, error };
    } catch (error) {
      if (signal?.aborted) throw error;
      return { ok: false, again: true, status: 0, text: String(error) };
    }
  }

  async close() {
    if (this.session === undefined) return;
    const headers = { ...this.#headersOf("", {}), authorization: `Bearer ${TOKEN}`, ...this.#headers };
    await fetch(this.#url, { method: "DELETE", headers });
    this.session = undefined;
  }

  async #open() {
    const id = ++this.#lastId;
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
    const response = await this.#post({ jsonrpc: "2.0", id, method: "initialize", params }, {});
    const text = await response.text();
    const session = response.headers.get("mcp-session-id");
    if (session === null) throw new Error(`no session, but HTTP ${response.status}: ${text.slice(0, 200)}`);
    this.session = session;
    const done = { jsonrpc: "2.0", method: "notifications/initialized" };
    await (await this.#post(done, this.#headersOf("", {}))).text();
  }

  /** @param {string} method @param {Record<string, unknown>} params @returns {Record<string, string>} */
  #headersOf(method, params) {
    if (!this.#isModern) return { "mcp-session-id": this.session ?? "", "mcp-protocol-version": LEGACY };
    /** @type {Record<string, string>} */
    const named = typeof params.name === "string" ? { "mcp-name": params.name } : {};
    return { "mcp-protocol-version": MODERN, "mcp-method": method, ...named };
  }

  /** @param {unknown} body @param {Record<string, string>} headers @param {AbortSignal} [signal] */
  async #post(body, headers, signal) {
    return await fetch(this.#url, {
      method: "POST",
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${TOKEN}`,
        ...headers,
        ...this.#headers,
      },
    });
  }
}

function meta() {
  return {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
}

/** Finds the response in a JSON or event-stream body. @param {string} body @param {number} id @returns {Pick<Answer, "message">} */
function answerIn(body, id) {
  const texts = body.startsWith("{") ? [body] : [...body.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data);
  const found = texts.map((text) => JSON.parse(text)).find((message) => message.id === id && !("method" in message));
  const refused = texts.length === 1 && body.startsWith("{") ? JSON.parse(body) : undefined;
  const message = found ?? refused;
  return message === undefined ? {} : { message };
}
