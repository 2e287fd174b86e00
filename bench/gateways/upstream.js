// The upstream server of every gateway, written without an SDK to use few resources. Over stdio it has the tools
// `echo`, `big`, `pid` and `environment`; with --catalogue <file> --server <name> it has the tools of that server in
// the catalogue; with --catalogue <file> --http it serves all servers of the catalogue at once, each at /<name>, and
// with --http alone itself at /upstream; it writes its port to stdout.
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { echo } from "../../test/servers/greetings.js";
import { readLines, writeLine } from "../../test/servers/line-rpc.js";
import { agreeOnVersion, answer } from "../../test/servers/raw-tool-server.js";
import { countArgument, text } from "../../test/servers/tool.js";
import { readServers } from "../catalogue.js";
import { bigText } from "./big-text.js";

const { values } = parseArgs({
  options: { catalogue: { type: "string" }, server: { type: "string" }, http: { type: "boolean" } },
});

/** @typedef {import("../../test/servers/tool.js").PlainTool} PlainTool */
/** @typedef {import("../../test/servers/raw-tool-server.js").RawToolServer} RawToolServer */

/** @type {PlainTool[]} */
const ownTools = [
  echo,
  {
    name: "big",
    description: "Returns a long text.",
    inputSchema: {
      type: "object",
      properties: { bytes: { type: "integer" }, seed: { type: "integer" } },
      required: ["bytes", "seed"],
    },
    run: (args) => text(bigText(countArgument(args, "bytes"), countArgument(args, "seed"))),
  },
  {
    name: "pid",
    description: "Returns its process id.",
    inputSchema: { type: "object" },
    run: () => text(`process ${process.pid}`),
  },
  {
    name: "environment",
    description: "Lists its environment variables.",
    inputSchema: { type: "object" },
    run: () =>
      text(
        Object.entries(process.env)
          .map((pair) => pair.join("="))
          .join("\n"),
      ),
  },
];

/** @param {string} name @param {readonly PlainTool[]} tools @returns {RawToolServer} */
function server(name, tools) {
  return { name, tools, protocolVersion: agreeOnVersion };
}

/** @param {string} file @returns {Map<string, RawToolServer>} */
function serversOf(file) {
  return new Map(readServers(file).map(({ server: name, tools }) => [name, server(name, tools.map(uncalled))]));
}

/**
 * Wraps a catalogue tool, which is listed but never called. @param {import("../catalogue.js").Listed["tools"][number]}
 * tool @returns {PlainTool}
 */
function uncalled({ name, description, inputSchema }) {
  return {
    name,
    description,
    inputSchema: /** @type {PlainTool["inputSchema"]} as the protocol requires */ (inputSchema),
    run: () => text(""),
  };
}

/** @param {string | undefined} file */
function chosen(file) {
  if (file === undefined) return server("upstream", ownTools);
  const found = serversOf(file).get(values.server ?? "");
  if (found === undefined) throw new Error(`The catalogue has no server "${values.server}".`);
  return found;
}

/** @param {Map<string, RawToolServer>} servers */
function listen(servers) {
  const listening = createServer((request, response) => {
    const asked = servers.get(decodeURIComponent(request.url?.slice(1) ?? ""));
    if (asked === undefined || request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    request.setEncoding("utf8").on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      answer(asked, JSON.parse(body)).then((said) => {
        if (said === undefined) return response.writeHead(202).end();
        return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said));
      }, console.error);
    });
  });
  listening.listen(0, "127.0.0.1", () => {
    const address = listening.address();
    if (typeof address === "object" && address !== null) console.log(address.port);
  });
}

if (values.http) {
  listen(values.catalogue === undefined ? new Map([["upstream", chosen(undefined)]]) : serversOf(values.catalogue));
} else {
  const upstream = chosen(values.catalogue);
  await readLines(async (message) => {
    const said = await answer(upstream, message);
    if (said !== undefined) writeLine(said);
  });
}
