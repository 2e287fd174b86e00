// The other gateways, each with the configuration its documentation recommends for serving stdio servers to an agent
// over HTTP.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAbsent, npmPeer, systemPeer } from "../peers/peers.js";
import { configuration, onlyCommand } from "./entries.js";
import { freePort, startProcess, temporaryFolder } from "./started.js";
import { callDirectly } from "./tool-call.js";

/** @typedef {import("./entries.js").Entry} Entry */
/** @typedef {import("../peers/peers.js").Peer} Peer */

/**
 * @typedef {object} Kind
 * @property {() => readonly (Peer | import("../peers/peers.js").Absent | undefined)[]} find
 * @property {boolean} holdsMany
 * @property {"streamable" | "sse"} transport
 * @property {string} prefix of its tools' names
 * @property {(start: { port: string, folder: string, servers: Record<string, Entry> }) => string[]} options
 */

/** An npm package, on this Node and on Node 24. @param {import("../peers/peers.js").PeerName} name */
const npm = (name) => () => [npmPeer(name), npmPeer(name, "node24")];

/** @type {Kind[]} */
const KINDS = [
  {
    find: npm("mcp-proxy"),
    holdsMany: false,
    transport: "streamable",
    prefix: "",
    options: ({ port, servers }) => [
      ...["--host", "127.0.0.1", "--port", port, "--server", "stream"],
      ...["--", ...onlyCommand(servers)],
    ],
  },
  {
    find: npm("supergateway"),
    holdsMany: false,
    transport: "streamable",
    prefix: "",
    options: ({ port, servers }) => [
      ...["--stdio", shellLine(onlyCommand(servers)), "--outputTransport", "streamableHttp", "--stateful"],
      ...["--port", port, "--logLevel", "none"],
    ],
  },
  {
    find: npm("mcp-hub"),
    holdsMany: true,
    transport: "sse",
    prefix: "upstream__",
    options: ({ port, folder, servers }) => ["--port", port, "--config", configuration(folder, servers)],
  },
  {
    // 0.9.0, the newest for Node 20, cannot serve.
    find: () => [npmPeer("mcporter", "node24")],
    holdsMany: true,
    transport: "streamable",
    prefix: "upstream__",
    options: ({ port, folder, servers }) => ["--config", keptAlive(folder, servers), "serve", "--http", port],
  },
  {
    find: npm("@1mcp/agent"),
    holdsMany: true,
    transport: "streamable",
    prefix: "upstream_1mcp_",
    options: ({ port, folder, servers }) => ["serve", "--port", port, "--config", configuration(folder, servers)],
  },
  {
    find: () => [systemPeer("agentgateway")],
    holdsMany: true,
    transport: "streamable",
    prefix: "",
    options: ({ port, folder, servers }) => ["-f", targets(folder, port, servers)],
  },
];

/** Writes the configuration of mcporter, which serves only servers it keeps running. @param {string} folder @param {Record<string, Entry>} servers */
function keptAlive(folder, servers) {
  const entries = Object.entries(servers).map(([name, entry]) => [name, { ...entry, lifecycle: "keep-alive" }]);
  return configuration(folder, Object.fromEntries(entries));
}

/** Writes the configuration of agentgateway; JSON is YAML. @param {string} folder @param {string} port @param {Record<string, Entry>} servers */
function targets(folder, port, servers) {
  const file = join(folder, "config.yaml");
  const all = Object.entries(servers).map(([name, entry]) =>
    "url" in entry ? { name, mcp: { host: entry.url } } : { name, stdio: { cmd: entry.command, args: entry.args } },
  );
  const routes = [{ backends: [{ mcp: { targets: all } }] }];
  writeFileSync(file, JSON.stringify({ binds: [{ port: Number(port), listeners: [{ routes }] }] }));
  return file;
}

/** @param {string[]} words */
function shellLine(words) {
  return words.map((word) => JSON.stringify(word)).join(" ");
}

/** @param {Kind} kind @param {Peer} peer @returns {import("./gateways.js").Gateway} */
function peerGateway({ holdsMany, transport, prefix, options }, { name, command, args, runtime }) {
  return {
    name,
    role: "peer",
    runtime,
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

/** Returns the other gateways, installed if missing; `absent` lists those that could not be installed. */
export function peerGateways() {
  /** @type {import("./gateways.js").Gateway[]} */
  const gateways = [];
  /** @type {Record<string, string>} */
  const versions = {};
  /** @type {import("../peers/peers.js").Absent[]} */
  const absent = [];
  for (const kind of KINDS) {
    for (const peer of kind.find()) {
      if (peer === undefined) continue;
      if (isAbsent(peer)) absent.push(peer);
      else {
        gateways.push(peerGateway(kind, peer));
        versions[peer.name] = peer.version;
      }
    }
  }
  return { gateways, versions, absent };
}
