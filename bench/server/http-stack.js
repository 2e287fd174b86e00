// The server under load, in a separate process: the endpoint with a service that answers by itself (`echo`), or that
// forwards every call to one stdio server through the hub (`hub`). The difference is the cost of the client side.
import { silentLogger } from "@trunkline/core";
// biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own
import { listenHttp } from "@trunkline/gateway/http";

const call = process.argv[2] === "hub" ? await throughHub() : byItself;

/** @type {import("@trunkline/gateway").McpService} */
const service = {
  info: { name: "stack", version: "1.0.0" },
  capabilities: () => ({ tools: {} }),
  handle: async (_method, params, exchange) => await call(params, exchange),
  onEvent: () => () => {},
  subscribe: async () => async () => {},
  setLogLevel: async () => {},
  release: async () => {},
};
const endpoint = await listenHttp({ service, logger: silentLogger, host: "127.0.0.1", port: 0 });
console.error(`listening at ${endpoint.url} `);
process.once("SIGTERM", () => void endpoint.close().then(() => process.exit(0)));

/**
 * @param {Readonly<Record<string, any>>} params
 * @returns {Promise<Record<string, unknown>>}
 */
async function byItself({ arguments: args }) {
  return { content: [{ type: "text", text: String(args.text) }] };
}

/** @returns {Promise<(params: Readonly<Record<string, any>>, exchange: import("@trunkline/gateway").Exchange) => Promise<Readonly<Record<string, unknown>>>>} */
async function throughHub() {
  const { hubOn, stdioServer } = await import("../in-process.js");
  const hub = await hubOn([stdioServer("hello", "hello")]);
  return async ({ name, arguments: args }, { channel, signal }) => {
    const { raw } = await hub.callTool("hello", name, args, { signal, channel });
    return raw;
  };
}
