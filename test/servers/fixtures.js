// npm run fixtures: serves hello on two fixed ports for manual testing, until Ctrl-C. Options: --http-port N (7421),
// --sse-port N (7422); 0 lets the system choose.

import { once } from "node:events";
import { parseArgs } from "node:util";
import { serverPath, startServer } from "./start.js";

const { values: options } = parseArgs({
  options: {
    "http-port": { type: "string", default: "7421" },
    "sse-port": { type: "string", default: "7422" },
  },
});

const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
const http = await startServer("hello", ["--http", "--port", options["http-port"]]);
try {
  const sse = await startServer("hello", ["--sse", "--port", options["sse-port"]]);
  try {
    console.error(
      [
        `hello over Streamable HTTP: ${http.url}`,
        `  trunkline servers add hello-http ${http.url}`,
        `hello over HTTP+SSE: ${sse.url}`,
        `  trunkline servers add hello-sse ${sse.url}`,
        "hello over stdio:",
        `  trunkline servers add hello -- node ${serverPath("hello")}`,
        "Ctrl-C stops both servers.",
      ].join("\n"),
    );
    await stopped;
  } finally {
    await sse.close();
  }
} finally {
  await http.close();
}
