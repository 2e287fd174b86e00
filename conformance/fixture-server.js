// The official suite's fixtures as a separate server: the upstream server when the suite runs through the product and,
// over HTTP, a check that the protocol layer alone satisfies the suite.
//
//   node conformance/fixture-server.js                 stdio
//   node conformance/fixture-server.js --http [--port N]
import { parseArgs } from "node:util";
// biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own, found in the folder above
import { createLogger } from "@trunkline/core";
import { createFixtureService } from "./fixture-service.js";

const { values } = parseArgs({
  options: { http: { type: "boolean", default: false }, port: { type: "string", default: "0" } },
});
const logger = createLogger({ level: "warn" });
const service = createFixtureService();
const stop = new AbortController();
for (const name of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(name, () => stop.abort());

if (values.http) {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own, found in the folder above
  const { listenHttp } = await import("@trunkline/gateway/http");
  const endpoint = await listenHttp({ service, logger, host: "127.0.0.1", port: Number(values.port) });
  console.error(`The fixture is listening at ${endpoint.url} now`);
  await new Promise((resolve) => stop.signal.addEventListener("abort", resolve, { once: true }));
  await endpoint.close();
} else {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own, found in the folder above
  const { serveOnStdio } = await import("@trunkline/gateway/stdio");
  await serveOnStdio({ service, logger, signal: stop.signal });
}
