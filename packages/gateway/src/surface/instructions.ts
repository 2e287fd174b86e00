import type { ToolNaming } from "./direct-surface.js";
import type { SurfaceShape } from "./surface-decision.js";

/** Which tools clients see; `auto` decides for each client. */
export type SurfaceKind = "auto" | "composite" | "direct" | "both";

const COMPOSITE =
  'Trunkline puts a document store and every connected MCP server behind three tools. Start with query {"steps": [{"op": "describe"}]}: it lists the operations; describe {"find": "…"} finds one by what it does, describe {"target": "…"} shows its parameters. Let steps use each other\'s results with $prev instead of reading everything yourself. query only reads; execute writes. A long answer is truncated and stored under its hash, which get, grep and search accept.';

const DIRECT: Readonly<Record<ToolNaming, string>> = {
  prefixed:
    "Trunkline exposes the tools of every connected MCP server. Names have the form mcp__<server>__<tool>, so the tools of one server share a prefix.",
  wire: "Trunkline exposes the tools of every connected MCP server. Names have the form <server>_<tool>, so the tools of one server share a prefix.",
  plain: "Trunkline exposes the tools of every connected MCP server, under their own names.",
};

const BESIDE =
  "query and execute run several of them in one call, as server.tool, and reach a document store. A truncated answer has a hash, which get, grep and search accept.";

const LEAN =
  'The definitions are short; query {"steps": [{"op": "describe", "params": {"target": "server.tool"}}]} shows a full one.';

const FAVOURITES = "The other listed tools are those used most here: call them directly.";

/** Instructions for the client's model, sent at the handshake. */
export function instructionsFor(surface: Exclude<SurfaceKind, "auto">, names: ToolNaming): string {
  switch (surface) {
    case "composite":
      return COMPOSITE;
    case "direct":
      return DIRECT[names];
    case "both":
      return `${COMPOSITE} ${DIRECT[names]}`;
  }
}

const FINDING =
  'query reads and execute writes, in a document store and with every tool of the connected MCP servers. Find a tool with query {"steps": [{"op": "describe", "params": {"find": "what it does"}}]}, then run it as {"op": "server.tool", "params": {…}}. A truncated answer has a hash, which get, grep and search accept.';

/** These servers have never been connected, so there is nothing to find yet. */
const UNLISTED = 'The tools of these servers are not listed; describe {"target": "server"} lists them.';

/** The instructions for a client whose tools `auto` has decided. `servers` says what there is to find besides. */
export function autoInstructions(shape: SurfaceShape, names: ToolNaming, servers: string): string {
  switch (shape) {
    case "composite":
      return withServers(FINDING, servers);
    case "favourites":
      return withServers(`${FINDING} ${FAVOURITES}`, servers);
    case "direct":
      return `${DIRECT[names]} ${BESIDE}`;
    case "lean":
      return withServers(`${DIRECT[names]} ${LEAN} ${BESIDE}${servers === "" ? "" : ` ${UNLISTED}`}`, servers);
  }
}

function withServers(text: string, servers: string): string {
  return servers === "" ? text : `${text}\n${servers}`;
}
