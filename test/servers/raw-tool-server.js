// An MCP server of the revisions with a handshake, written without an SDK: one JSON-RPC message in, its answer out.

import { callTool, describeTools } from "./tool.js";

/**
 * @typedef {{ jsonrpc: "2.0", id?: string | number | null, method?: string, params?: Record<string, unknown> }} Message
 * @typedef {{ jsonrpc: "2.0", id: string | number | null } & ({ result: unknown } | { error: { code: number, message: string } })} Answer
 */

/**
 * @typedef {object} RawToolServer
 * @property {string} name
 * @property {readonly import("./tool.js").PlainTool[]} tools
 * @property {(asked: unknown) => unknown} protocolVersion the revision to answer initialize with
 * @property {(method: string) => void} [onUnknownMethod] called before a request is answered -32601
 */

/**
 * @param {unknown} value
 * @returns {value is Message}
 */
export function isMessage(value) {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

/**
 * The answer to a message; undefined for notifications, responses and whatever is no JSON-RPC.
 *
 * @param {RawToolServer} server
 * @param {unknown} message
 * @returns {Promise<Answer | undefined>}
 */
export async function answer(server, message) {
  if (!isMessage(message) || message.method === undefined || message.id === undefined) return undefined;
  const { id, method, params = {} } = message;
  switch (method) {
    case "initialize":
      return result(id, {
        protocolVersion: server.protocolVersion(params.protocolVersion),
        capabilities: { tools: {} },
        serverInfo: { name: server.name, version: "1.0.0" },
      });
    case "ping":
      return result(id, {});
    case "tools/list":
      return result(id, { tools: describeTools(server.tools) });
    case "tools/call":
      return result(id, await callTool(server.tools, callOf(params), undefined));
    default:
      server.onUnknownMethod?.(method);
      return { jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } };
  }
}

/**
 * The client's revision if it is one with a handshake, else the newest of those: what the specification asks for.
 *
 * @param {unknown} asked
 */
export function agreeOnVersion(asked) {
  const known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
  return known.find((version) => version === asked) ?? known.at(-1);
}

/**
 * @param {string | number | null} id
 * @param {unknown} value
 * @returns {Answer}
 */
function result(id, value) {
  return { jsonrpc: "2.0", id, result: value };
}

/** @param {Record<string, unknown>} params */
function callOf(params) {
  const args = typeof params.arguments === "object" && params.arguments !== null ? params.arguments : {};
  return {
    name: String(params.name),
    arguments: /** @type {Record<string, unknown>} an object, as just checked */ (args),
  };
}
