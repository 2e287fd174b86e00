// For benchmarks that use the libraries instead of the command: server definitions, a hub for them, and an exchange.
import { openHub } from "@trunkline/client";
import { serverPath } from "../test/servers/start.js";

/** @typedef {import("@trunkline/client").ServerDefinition} ServerDefinition */

const common = /** @type {const} */ ({
  scope: "explicit",
  dialect: "servers",
  file: "bench.json",
  disabled: false,
  lazy: false,
  connectTimeoutMs: 120_000,
  callTimeoutMs: 60_000,
  trusted: true,
});

/**
 * Defines a test server over stdio. @param {string} name @param {string} server @param {string[]} args @returns
 * {ServerDefinition}
 */
export function stdioServer(name, server, args = []) {
  return { ...common, name, type: "stdio", command: process.execPath, args: [serverPath(server), ...args], env: {} };
}

/** Defines a server at a URL. @param {string} name @param {string} url @returns {ServerDefinition} */
export function httpServer(name, url) {
  return { ...common, name, type: "http", url, headers: {} };
}

/** Defines a server that is listed but never started. @param {string} name @returns {ServerDefinition} */
export function sleepingServer(name) {
  return { ...common, lazy: true, name, type: "stdio", command: "never-started", args: [], env: {} };
}

/** Returns the configuration of a hub for these servers. @param {readonly ServerDefinition[]} servers */
export function hubConfig(servers) {
  return {
    path: "bench.json",
    exists: true,
    files: [],
    workspaceFolder: process.cwd(),
    servers,
    rejected: [],
    diagnostics: [],
    secrets: [],
  };
}

/** Opens a hub for these servers. @param {readonly ServerDefinition[]} servers */
export async function hubOn(servers) {
  return await openHub(hubConfig(servers), { env: process.env });
}

/** Creates a request from one client over stdio. @returns {import("@trunkline/gateway").Exchange} */
export function benchExchange() {
  return {
    caller: {
      id: "bench",
      name: "bench",
      era: "legacy",
      revision: "2025-11-25",
      endpoint: "stdio",
      principal: "local",
      lasting: true,
      capabilities: {},
    },
    channel: {},
    signal: new AbortController().signal,
    meta: {},
  };
}
