/** Which tools clients see. */
export type SurfaceKind = "composite" | "direct" | "both";

const COMPOSITE =
  'Trunkline puts a document store and every connected MCP server behind three tools. Begin with query {"steps": [{"op": "describe"}]}: it lists the operations; describe {"find": "…"} finds one by what it does, describe {"target": "…"} gives its parameters. Let steps work on each other\'s results with $prev instead of reading everything yourself. query only reads; execute writes. A long answer is cut and kept under its hash, on which get, grep and search work.';

const DIRECT =
  "Trunkline passes on the tools of every connected MCP server. A name is mcp__<server>__<tool>; what belongs to one server shares its prefix.";

const DIRECT_PLAIN = "Trunkline passes on the tools of every connected MCP server, under their own names.";

/** What a client's model is told at the handshake. */
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
