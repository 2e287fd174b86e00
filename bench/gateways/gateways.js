// The gateways: ours, the limit and the others.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { node24 } from "../peers/peers.js";
import { commandOf } from "../server/product.js";
import { configuration, onlyCommand } from "./entries.js";
import { peerGateways } from "./peer-gateways.js";
import { freePort, startProcess, temporaryFolder } from "./started.js";
import { callDirectly, ToolFailed, textOf } from "./tool-call.js";

/**
 * @typedef {import("./entries.js").Entry} Entry
 * @typedef {import("./client.js").Client} Client
 * @typedef {import("./started.js").Started} Started
 *
 * @typedef {object} Gateway
 * @property {string} name
 * @property {"ours" | "peer" | "limit"} role
 * @property {import("../peers/peers.js").Runtime} runtime
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

/** Builds the arguments of a composite call. @param {string} tool @param {object} args */
export function executeCall(tool, args) {
  return { name: "execute", arguments: { operations: [{ op: `upstream.${tool}`, params: args }] } };
}

/**
 * @param {string[]} options
 * @param {StartOptions & { servers: Record<string, Entry>, command: string, node: string }} start
 */
async function startOurs(options, { servers, tools, command, node, env = {} }) {
  const folder = temporaryFolder();
  const port = await freePort();
  const file = configuration(folder, servers);
  return await startProcess(
    {
      command: node,
      args: [command, "serve", "--http", "--no-token", "--port", String(port), "--mcp", file, ...options],
      url: `http://127.0.0.1:${port}/mcp`,
      transport: "streamable",
      folder,
      env: { TRUNKLINE_HOME: join(folder, "home"), TRUNKLINE_STORE: join(folder, "store"), ...env },
    },
    tools,
  );
}

/**
 * Trunkline with both of its surfaces. @param {{ name?: string, checkout?: string, node?: string, runtime?: Gateway["runtime"] }} [options] another
 * checkout or another Node, to compare with @returns {{ direct: Gateway, composite: Gateway }}
 */
export function ourGateways({ name = "trunkline", checkout, node = process.execPath, runtime = "any" } = {}) {
  const command = commandOf(checkout);
  return {
    direct: {
      name: `${name}, direct`,
      role: "ours",
      runtime,
      holdsMany: true,
      start: (servers, options) =>
        startOurs(["--surface", "direct", "--names", options.names ?? "plain"], { ...options, servers, command, node }),
      call: callDirectly(),
    },
    composite: {
      name: `${name}, composite`,
      role: "ours",
      runtime,
      holdsMany: true,
      start: (servers, options) => startOurs([], { ...options, servers, command, node, tools: 1 }),
      call: async (client, tool, args, timeoutMs) => {
        const result = await client.ask("tools/call", executeCall(tool, args), timeoutMs);
        const text = result.structuredContent?.results?.[0]?.result?.text;
        if (typeof text !== "string") throw new ToolFailed(textOf(result));
        return text;
      },
    },
  };
}

export const { direct, composite } = ourGateways();

/** @type {Gateway} */
export const limit = {
  name: "the limit, a raw gateway",
  role: "limit",
  runtime: "any",
  holdsMany: false,
  start: async (servers, { tools, env = {} }) => {
    const port = await freePort();
    const file = fileURLToPath(new URL("./raw-gateway.js", import.meta.url));
    return await startProcess(
      {
        command: process.execPath,
        args: [file, String(port), ...onlyCommand(servers)],
        url: `http://127.0.0.1:${port}/mcp`,
        transport: "streamable",
        folder: temporaryFolder(),
        env,
      },
      tools,
    );
  },
  call: callDirectly(),
};

/**
 * Returns our gateways, the limit and the others. @param {{ before?: string | undefined, only?: readonly string[] | undefined }} options
 * `before`: another checkout, to compare with; `only`: starts of names
 */
export function allGateways({ before, only }) {
  const { gateways, versions, absent } = peerGateways();
  const earlier =
    before === undefined ? [] : Object.values(ourGateways({ name: "trunkline before", checkout: before }));
  const node = node24();
  // The composite surface may need the store, whose compiled packages work with one major version of Node only.
  const newer =
    typeof node === "string" ? [ourGateways({ name: "trunkline on Node 24", node, runtime: "node24" }).direct] : [];
  const all = [direct, composite, ...newer, ...earlier, limit, ...gateways];
  const isChosen = (/** @type {string} */ name) => only?.some((start) => name.startsWith(start)) ?? true;
  return { gateways: all.filter(({ name }) => isChosen(name)), versions, absent };
}

/**
 * Starts all gateways in front of the server `upstream`. Those that fail to start are added to `absent`. @param {{ env?:
 * Record<string, string>, before?: string | undefined, only?: readonly string[] | undefined }} [options]
 */
export async function startAll({ env = {}, ...options } = {}) {
  const { gateways, versions, absent } = allGateways(options);
  /** @type {Running[]} */
  const running = [];
  for (const gateway of gateways) {
    try {
      const started = await gateway.start({ upstream: upstream() }, { tools: UPSTREAM_TOOLS, env });
      running.push({ gateway, started, client: await started.connect() });
    } catch (error) {
      if (gateway.role !== "peer" || !(error instanceof Error)) throw error;
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
  "mcp-proxy runs with its defaults and `--server stream` (no additional SSE endpoint); supergateway with `--outputTransport streamableHttp --stateful --logLevel none`, because without `--stateful` it starts a process for every request; mcp-hub serves its endpoint `/mcp` over HTTP+SSE only; mcporter keeps its server running (`lifecycle: keep-alive`) in its daemon, which is counted with it. The limit is a raw gateway of 60 lines: node:http in, newline-delimited JSON out, each message parsed and written once each way, no checks and no sessions. The same client calls all of them, each in one session, and each has the same small stdio server upstream.";
