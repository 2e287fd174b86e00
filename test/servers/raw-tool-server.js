// An MCP server for the revisions with a handshake, written without an SDK: takes a JSON-RPC message and returns its
// response.

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
 * @property {(method: string) => void} [onUnknownMethod] called before a request gets a -32601 error
 */

/**
 * @param {unknown} value
 * @returns {value is Message}
 */
export function isMessage(value) {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

/**
 * Responds to a message; returns undefined for notifications, responses and anything that is not JSON-RPC.
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
 * Returns the client's revision if it has a handshake, otherwise the newest one that does, as the specification
 * requires.
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
    arguments: /** @type {Record<string, unknown>} checked above */ (args),
  };
}
