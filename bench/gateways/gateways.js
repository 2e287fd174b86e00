// The gateways, each with the configuration its documentation recommends for serving stdio servers to an agent over
// HTTP.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAbsent, npmPeer } from "../peers/peers.js";
import { COMMAND } from "../server/product.js";
import { freePort, startProcess, temporaryFolder } from "./started.js";

/**
 * @typedef {{ command: string, args: string[] } | { type: "http", url: string }} Entry
 * @typedef {import("./client.js").Client} Client
 * @typedef {import("./started.js").Started} Started
 *
 * @typedef {object} Gateway
 * @property {string} name
 * @property {boolean} isOurs
 * @property {boolean} holdsMany whether one endpoint serves several servers
 * @property {(servers: Record<string, Entry>, options: StartOptions) => Promise<Started>} start
 * @property {(client: Client, tool: string, args: object, timeoutMs?: number) => Promise<string>} call calls a tool of
 * the server `upstream` and returns its text
 *
 * @typedef {{ tools: number, env?: Record<string, string>, names?: "plain" | "prefixed" }} StartOptions `tools`: how
 * many it must list to be ready
 */

/** The upstream server. @param {string[]} args @returns {Entry} */
export function upstream(...args) {
  const file = fileURLToPath(new URL("./upstream.js", import.meta.url));
  return { command: process.execPath, args: [file, ...args] };
}

/** How many tools the upstream server has. */
export const UPSTREAM_TOOLS = 4;

/** Returns the text of a tool's result. @param {Record<string, any>} result @returns {string} */
function textOf({ content, isError }) {
  const text = content?.[0]?.text;
  if (isError === true || typeof text !== "string") throw new ToolFailed(String(text));
  return text;
}

/** A tool result with `isError`. */
export class ToolFailed extends Error {}

/** @param {string} prefix @returns {Gateway["call"]} */
function callDirectly(prefix = "") {
  return async (client, tool, args, timeoutMs) =>
    textOf(await client.ask("tools/call", { name: `${prefix}${tool}`, arguments: args }, timeoutMs));
}

/** Builds the arguments of a composite call. @param {string} tool @param {object} args */
export function executeCall(tool, args) {
  return { name: "execute", arguments: { operations: [{ op: `upstream.${tool}`, params: args }] } };
}

/** @param {string} folder @param {Record<string, Entry>} servers */
function configuration(folder, servers) {
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return file;
}

/** @param {string[]} options @param {StartOptions & { servers: Record<string, Entry> }} start */
async function startOurs(options, { servers, tools, env = {} }) {
  const folder = temporaryFolder();
  const port = await freePort();
  const file = configuration(folder, servers);
  return await startProcess(
    {
      command: process.execPath,
      args: [COMMAND, "serve", "--http", "--no-token", "--port", String(port), "--mcp", file, ...options],
      url: `http://127.0.0.1:${port}/mcp`,
      transport: "streamable",
      folder,
      env: { TRUNKLINE_HOME: join(folder, "home"), TRUNKLINE_STORE: join(folder, "store"), ...env },
    },
    tools,
  );
}

/** @type {Gateway} */
export const direct = {
  name: "trunkline, direct",
  isOurs: true,
  holdsMany: true,
  start: (servers, options) =>
    startOurs(["--surface", "direct", "--names", options.names ?? "plain"], { ...options, servers }),
  call: callDirectly(),
};

/** @type {Gateway} */
export const composite = {
  name: "trunkline, composite",
  isOurs: true,
  holdsMany: true,
  start: (servers, options) => startOurs([], { ...options, servers, tools: 1 }),
  call: async (client, tool, args, timeoutMs) => {
    const result = await client.ask("tools/call", executeCall(tool, args), timeoutMs);
    const text = result.structuredContent?.results?.[0]?.result?.text;
    if (typeof text !== "string") throw new ToolFailed(textOf(result));
    return text;
  },
};

/**
 * The specifics of another program.
 * @typedef {object} Kind
 * @property {Parameters<typeof npmPeer>[0]} name
 * @property {boolean} holdsMany
 * @property {"streamable" | "sse"} transport
 * @property {string} prefix of its tools' names
 * @property {(start: { port: string, folder: string, servers: Record<string, Entry> }) => string[]} options
 */

/** @type {Kind[]} */
const OTHERS = [
  {
    name: "mcp-proxy",
    holdsMany: false,
    transport: "streamable",
    prefix: "",
    options: ({ port, servers }) => [
      ...["--host", "127.0.0.1", "--port", port, "--server", "stream"],
      ...["--", ...onlyCommand(servers)],
    ],
  },
  {
    name: "supergateway",
    holdsMany: false,
    transport: "streamable",
    prefix: "",
    options: ({ port, servers }) => [
      ...["--stdio", shellLine(onlyCommand(servers)), "--outputTransport", "streamableHttp", "--stateful"],
      ...["--port", port, "--logLevel", "none"],
    ],
  },
  {
    name: "mcp-hub",
    holdsMany: true,
    transport: "sse",
    prefix: "upstream__",
    options: ({ port, folder, servers }) => ["--port", port, "--config", configuration(folder, servers)],
  },
];

/** @param {Record<string, Entry>} servers @returns {string[]} */
function onlyCommand(servers) {
  const [entry] = Object.values(servers);
  if (entry === undefined || !("command" in entry))
    throw new Error("This gateway takes exactly one server, which must be a command.");
  return [entry.command, ...entry.args];
}

/** @param {string[]} words */
function shellLine(words) {
  return words.map((word) => JSON.stringify(word)).join(" ");
}

/** @param {Kind} kind @param {import("../peers/peers.js").Peer} peer @returns {Gateway} */
function otherGateway({ name, holdsMany, transport, prefix, options }, { command, args }) {
  return {
    name,
    isOurs: false,
    holdsMany,
    start: async (servers, { tools, env = {} }) => {
      const folder = temporaryFolder();
      const port = String(await freePort());
      const url = `http://127.0.0.1:${port}/mcp`;
      const all = [...args, ...options({ port, folder, servers })];
      return await startProcess({ command, args: all, url, transport, folder, env }, tools);
    },
    call: callDirectly(prefix),
  };
}

/**
 * Returns our gateways and the others, which are installed if missing; `absent` lists those that could not be
 * installed.
 */
export function allGateways() {
  /** @type {Gateway[]} */
  const gateways = [direct, composite];
  /** @type {Record<string, string>} */
  const versions = {};
  /** @type {import("../peers/peers.js").Absent[]} */
  const absent = [];
  for (const kind of OTHERS) {
    const peer = npmPeer(kind.name);
    if (isAbsent(peer)) absent.push(peer);
    else {
      gateways.push(otherGateway(kind, peer));
      versions[peer.name] = peer.version;
    }
  }
  return { gateways, versions, absent };
}

/**
 * Starts all gateways in front of the server `upstream`. Those that fail to start are added to `absent`. @param
 * {Record<string, string>} [env]
 */
export async function startAll(env = {}) {
  const { gateways, versions, absent } = allGateways();
  /** @type {Running[]} */
  const running = [];
  for (const gateway of gateways) {
    try {
      const started = await gateway.start({ upstream: upstream() }, { tools: UPSTREAM_TOOLS, env });
      running.push({ gateway, started, client: await started.connect() });
    } catch (error) {
      if (gateway.isOurs || !(error instanceof Error)) throw error;
      absent.push({ name: gateway.name, reason: error.message });
    }
  }
  const stop = async () => {
    for (const { client, started } of running) {
      client.close();
      await started.stop();
    }
  };
  return { running, versions, absent, stop };
}

/**
 * @typedef {{ gateway: Gateway, started: Started, client: Client }} Running `client` is replaced when its session is
 * lost
 */

/** The configuration of each gateway, for the notes of every table. */
export const CONFIGURATIONS =
  "mcp-proxy runs with its defaults and `--server stream` (no additional SSE endpoint); supergateway with `--outputTransport streamableHttp --stateful --logLevel none`, because without `--stateful` it starts a process for every request; mcp-hub serves its endpoint `/mcp` over HTTP+SSE only. The same client calls all of them, each in one session, and each has the same small stdio server upstream.";
