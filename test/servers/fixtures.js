// npm run fixtures: servers on fixed ports, to try things by hand, until Ctrl-C. compose.yaml runs the same in a container.
// Options: --host ADDRESS (127.0.0.1); --any-port: the system chooses the ports.

import { once } from "node:events";
import { parseArgs } from "node:util";
import { serverPath, startServer } from "./start.js";

/**
 * @typedef {object} Fixture
 * @property {string} server
 * @property {readonly string[]} args
 * @property {number} port
 * @property {string} about
 * @property {(url: string) => string} command how to try it
 */

/** @type {readonly Fixture[]} */
const FIXTURES = [
  {
    ...{ server: "hello", args: ["--http"], port: 7421, about: "hello over Streamable HTTP" },
    command: (url) => `trunkline servers add hello-http ${url}`,
  },
  {
    ...{ server: "hello", args: ["--sse"], port: 7422, about: "hello over HTTP+SSE" },
    command: (url) => `trunkline servers add hello-sse ${url} --transport sse`,
  },
  {
    ...{ server: "oauth", args: ["--http"], port: 7423, about: "hello behind a sign-in" },
    command: (url) => `trunkline servers add hello-sign-in ${url} && trunkline auth login hello-sign-in`,
  },
  {
    ...{ server: "http-echo", args: ["--http"], port: 7424, about: "plain HTTP that echoes the request (not MCP)" },
    command: (url) => `curl --data hi ${url}`,
  },
];

const { values: options } = parseArgs({
  options: { host: { type: "string", default: "127.0.0.1" }, "any-port": { type: "boolean", default: false } },
});

const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
const starting = await Promise.allSettled(
  FIXTURES.map(async ({ server, args, port }) => {
    const chosen = options["any-port"] ? "0" : String(port);
    return await startServer(server, [...args, "--host", options.host, "--port", chosen]);
  }),
);
const servers = starting.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
try {
  const failed = starting.findIndex(({ status }) => status === "rejected");
  if (failed === -1) {
    console.error(servers.flatMap(({ url }, index) => describe(index, url)).join("\n"));
    console.error(
      `hello over stdio\n  trunkline servers add hello -- node ${serverPath("hello")}\nCtrl-C stops them all.`,
    );
    await stopped;
  } else {
    const { reason } = /** @type {PromiseRejectedResult} */ (starting[failed]);
    const isTaken = String(reason).includes("EADDRINUSE");
    const port = FIXTURES[failed]?.port;
    console.error(isTaken ? `Port ${port} is in use. Stop what is running there, or use --any-port.` : reason);
    process.exitCode = 1;
  }
} finally {
  await Promise.all(servers.map((server) => server.close()));
}

/** @param {number} index @param {string} url */
function describe(index, url) {
  const fixture = FIXTURES[index];
  // In a container, the servers listen on every address and are published on this one.
  const reachable = url.replace("//0.0.0.0:", "//127.0.0.1:");
  return fixture === undefined ? [] : [`${fixture.about}: ${reachable}`, `  ${fixture.command(reachable)}`];
}
