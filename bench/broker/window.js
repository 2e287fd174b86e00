// An MCP client of one stdio process, without an SDK.
import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

const ANSWER_LIMIT_MS = 60_000;
const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};

/** @typedef {{ id?: number, result?: any, error?: { code: number, message: string, data?: any } }} Answer */

export class Window {
  #child;
  #ended;
  #lastId = 0;
  #rest = "";
  /** @type {Map<number, (answer: Answer | undefined) => void>} */ #waiting = new Map();
  #said = "";
  #hasEnded = false;

  /** @param {string} command @param {readonly string[]} args @param {{ cwd: string, env: NodeJS.ProcessEnv }} options */
  constructor(command, args, options) {
    this.#child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    const decoder = new StringDecoder();
    this.#child.stdin.on("error", () => {});
    this.#child.stdout.on("data", (chunk) => this.#read(decoder.write(chunk)));
    this.#child.stderr.setEncoding("utf8").on("data", (chunk) => {
      this.#said = `${this.#said}${chunk}`.slice(-2_000);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once("close", (code) => {
        this.#hasEnded = true;
        for (const resolveAnswer of this.#waiting.values()) resolveAnswer(undefined);
        this.#waiting.clear();
        resolve(code);
      });
    });
  }

  get pid() {
    return this.#child.pid ?? 0;
  }

  get hasEnded() {
    return this.#hasEnded;
  }

  /** Sends a request and returns the whole answer. @param {string} method @param {object} [params] @returns {Promise<Answer>} */
  async request(method, params = {}) {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise((/** @type {(answer: Answer | undefined) => void} */ resolve) => {
      this.#waiting.set(id, resolve);
    });
    this.#send({ jsonrpc: "2.0", id, method, params });
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer to ${method}. ${this.#said}`)), ANSWER_LIMIT_MS);
    });
    const answer = await Promise.race([answered, late]).finally(() => clearTimeout(timer));
    if (answer === undefined) throw new Error(`it ended. ${this.#said}`);
    return /** @type {Answer} */ (answer);
  }

  async initialize() {
    const { error } = await this.request("initialize", INITIALIZE);
    if (error !== undefined) throw new Error(error.message);
    this.notify("notifications/initialized");
  }

  /** @param {string} method @param {object} [params] */
  notify(method, params) {
    this.#send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
  }

  /** Starts a call and returns its id; the answer is dropped. @param {string} name @param {object} args */
  startCall(name, args) {
    this.#lastId += 1;
    this.#send({ jsonrpc: "2.0", id: this.#lastId, method: "tools/call", params: { name, arguments: args } });
    return this.#lastId;
  }

  /** Calls a tool and returns the text of its result. @param {string} name @param {object} args @returns {Promise<string>} */
  async call(name, args) {
    const { result, error } = await this.request("tools/call", { name, arguments: args });
    const text = result?.content?.[0]?.text;
    if (typeof text !== "string" || result.isError) throw new Error(error?.message ?? text ?? "no text");
    return text;
  }

  /** @param {object} message */
  #send(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** @param {string} text */
  #read(text) {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      /** @type {Answer} */
      const message = JSON.parse(line);
      if (message.id === undefined || "method" in message) continue;
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }

  /** Closes the window as an editor does, and waits until the process has ended. */
  async close() {
    this.#child.stdin.end();
    await this.#ended;
  }
}
