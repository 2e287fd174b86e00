// A client of `trunkline serve` over stdio that keeps what a real client gets at the handshake: the instructions and the
// tool list of its session.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { toolsFrom } from "@trunkline/agent";
import { COMMAND } from "../server/product.js";

/** @typedef {import("@trunkline/agent").Tool} Tool */
/** @typedef {Awaited<ReturnType<typeof openGateway>>} Gateway */
/** @typedef {{ id?: number, result?: Record<string, any>, error?: { message: string } }} Answer */

/** Clients put the name of the server in front of its tools' names. */
const SERVER = "trunkline";

/**
 * Starts the built command and opens a session.
 * @param {{ args: readonly string[], env: Record<string, string>, cwd: string, client?: string | undefined }} options `client` is
 * the name in `clientInfo`
 */
export async function openGateway({ args, env, cwd, client = "bench" }) {
  const child = spawn(process.execPath, [COMMAND, "serve", ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // A write to a gateway that is gone fails; the request reports it.
  child.stdin.on("error", () => {});
  /** @type {Map<number, (answer: Answer) => void>} */
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    /** @type {Answer} */
    const answer = JSON.parse(line);
    waiting.get(answer.id ?? -1)?.(answer);
  });
  const gone = { error: { message: "The gateway has exited." } };
  const exited = new Promise((/** @type {(value?: unknown) => void} */ resolve) => child.once("exit", () => resolve()));
  let ids = 0;

  /** @param {string} method @param {object} [params] @returns {Promise<Record<string, any>>} */
  async function request(method, params = {}) {
    const id = ++ids;
    const answered = new Promise((/** @type {(answer: Answer) => void} */ resolve) => {
      waiting.set(id, resolve);
      if (child.stdin.writable) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
    /** @type {Answer} */
    const answer = await Promise.race([answered, exited.then(() => gone)]);
    waiting.delete(id);
    if (answer.result === undefined) throw new Error(`${method}: ${answer.error?.message}`);
    return answer.result;
  }

  const { instructions } = await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: client, version: "1.0.0" },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  /** @type {{ tools: { name: string, description?: string, inputSchema: Record<string, unknown> }[] }} */
  const { tools: listed } = /** @type {any} */ (await request("tools/list"));
  const source = {
    tools: () => listed.map(({ name, ...tool }) => ({ ...tool, server: SERVER, tool: name })),
    /** @param {string} _server @param {string} name @param {Record<string, unknown>} args */
    async callTool(_server, name, args) {
      const raw = await request("tools/call", { name, arguments: args });
      return { raw, isError: raw.isError === true };
    },
  };
  return {
    instructions: String(instructions ?? ""),
    tools: toolsFrom(/** @type {any} */ (source), { names: ({ tool }) => `${SERVER}_${tool.replaceAll(".", "_")}` }),
    /** Runs one step of `query` and returns its value. @param {string} op @param {object} params */
    async query(op, params) {
      const { raw } = await source.callTool(SERVER, "query", { steps: [{ op, params }] });
      return raw.structuredContent;
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
