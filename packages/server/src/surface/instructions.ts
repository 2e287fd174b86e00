/** Which tools clients see. */
export type SurfaceKind = "composite" | "direct" | "both";

const COMPOSITE =
  'Trunkline puts a document store and every connected MCP server behind three tools. Start with query {"steps": [{"op": "describe"}]}: it lists the operations; describe {"find": "…"} finds one by what it does, describe {"target": "…"} shows its parameters. Let steps use each other\'s results with $prev instead of reading everything yourself. query only reads; execute writes. A long answer is truncated and stored under its hash, which get, grep and search accept.';

const DIRECT =
  "Trunkline exposes the tools of every connected MCP server. Names have the form mcp__<server>__<tool>, so the tools of one server share a prefix.";

const DIRECT_PLAIN = "Trunkline exposes the tools of every connected MCP server, under their own names.";

/** Instructions for the client's model, sent at the handshake. */
export function instructionsFor(surface: SurfaceKind, names: "prefixed" | "plain"): string {
  const direct = names === "plain" ? DIRECT_PLAIN : DIRECT;
  switch (surface) {
    case "composite":
      return COMPOSITE;
    case "direct":
      return direct;
    case "both":
      return `${COMPOSITE} ${direct}`;
  }
}
