// Detects a file's dialect by its key, never by its name.
import { nearestNames } from "@trunkline/core";
import type { Dialect } from "./loaded-config.js";
import { type ConfigNode, kindOf, type MapNode, type Member, memberOf, type Position } from "./tree.js";

/** The dialects in order of precedence within one file. */
const DIALECTS = ["servers", "mcpServers", "metadata.mcp"] as const satisfies readonly Dialect[];

/** The expected shape, for messages. */
const EXPECTED_SHAPE =
  '{ "mcpServers": { "name": { "command": "…", "args": ["…"] } } }, the same under "servers", or metadata: { mcp: … } in YAML';

interface Section {
  readonly dialect: Dialect;
  readonly entries: readonly Member[];
}

interface Sections {
  readonly sections: readonly Section[];
  /** Set if a key does not hold entries, or the file is not an object. */
  readonly malformed?: { readonly at: Position; readonly message: string };
  /** Why there is no section, if none of the keys is present. */
  readonly absent?: string;
}

/** Finds the entries under each of the three keys. An empty key counts as present. */
export function findSections(root: ConfigNode): Sections {
  if (root.kind !== "map") {
    return { sections: [], malformed: { at: root.at, message: `it contains ${kindOf(root)}, not an object` } };
  }
  const sections: Section[] = [];
  for (const dialect of DIALECTS) {
    const node = dialect === "metadata.mcp" ? memberOf(memberOf(root, "metadata"), "mcp") : memberOf(root, dialect);
    if (node === undefined) continue;
    const isNothing = node.kind === "scalar" && node.value === null;
    if (node.kind !== "map" && !isNothing) {
      return {
        sections,
        malformed: { at: node.at, message: `"${dialect}" is ${kindOf(node)}, not an object of servers` },
      };
    }
    sections.push({ dialect, entries: node.kind === "map" ? lastOfEach(node) : [] });
  }
  return sections.length > 0 ? { sections } : { sections, absent: absenceOf(root) };
}

/** If a name occurs twice, the last member counts; the parser has already reported it. */
function lastOfEach(node: MapNode): Member[] {
  return [...new Map(node.members.map((member) => [member.key, member])).values()];
}

/** Keys of other programs' files, which `trunkline import` reads. */
const FOREIGN_KEYS = new Set(["mcp", "context_servers", "mcp_servers", "mcp.servers", "amp.mcpServers"]);

function absenceOf(root: MapNode): string {
  const keys = root.members.map(({ key }) => key);
  const shape = `It has none of "servers", "mcpServers" and "metadata.mcp". Expected: ${EXPECTED_SHAPE}.`;
  const foreign = keys.find((key) => FOREIGN_KEYS.has(key));
  if (foreign !== undefined)
    return `${shape} "${foreign}" is another program's key: \`trunkline import\` reads such files.`;
  for (const key of keys) {
    const near = key.length > 3 ? nearestNames(key, ["servers", "mcpServers"], 1)[0] : undefined;
    if (near !== undefined) return `${shape} Did you mean "${near}" instead of "${key}"?`;
  }
  const looksLikeEntry = keys.includes("command") || keys.includes("url");
  return looksLikeEntry ? `${shape} An entry needs a name, under one of these keys.` : shape;
}
