// Which dialect a file is written in: its key tells, never its name.
import { nearestNames } from "@trunkline/core";
import type { Dialect } from "./loaded-config.js";
import { type ConfigNode, kindOf, type MapNode, type Member, memberOf, type Position } from "./tree.js";

/** The dialects in the order in which they win within one file. */
const DIALECTS = ["servers", "mcpServers", "metadata.mcp"] as const satisfies readonly Dialect[];

/** What a file should look like, for messages. */
const EXPECTED_SHAPE =
  '{ "mcpServers": { "name": { "command": "…", "args": ["…"] } } }, the same under "servers", or metadata: { mcp: … } in YAML';

/** The entries under one key of a file. */
interface Section {
  readonly dialect: Dialect;
  readonly entries: readonly Member[];
}

/** What a file has of the three keys. */
interface Sections {
  readonly sections: readonly Section[];
  /** A key that is there and does not hold entries, or a file that is no object at all. */
  readonly malformed?: { readonly at: Position; readonly message: string };
  /** Why there is no section, where none of the keys is there. */
  readonly absent?: string;
}

/** Finds the entries of a file under each of the three keys. A key with nothing in it counts as there. */
export function findSections(root: ConfigNode): Sections {
  if (root.kind !== "map") {
    return { sections: [], malformed: { at: root.at, message: `it holds ${kindOf(root)}, not an object` } };
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

/** Of two members with one name the last counts; the reader of the file has remarked on it. */
function lastOfEach(node: MapNode): Member[] {
  return [...new Map(node.members.map((member) => [member.key, member])).values()];
}

/** Keys of other programs' files, which `trunkline import` reads. */
const FOREIGN_KEYS = new Set(["mcp", "context_servers", "mcp_servers", "mcp.servers", "amp.mcpServers"]);

function absenceOf(root: MapNode): string {
  const keys = root.members.map(({ key }) => key);
  const shape = `None of "servers", "mcpServers" and "metadata.mcp" is there. Expected: ${EXPECTED_SHAPE}.`;
  const foreign = keys.find((key) => FOREIGN_KEYS.has(key));
  if (foreign !== undefined)
    return `${shape} "${foreign}" is another program's key: \`trunkline import\` reads such files.`;
  for (const key of keys) {
    const near = key.length > 3 ? nearestNames(key, ["servers", "mcpServers"], 1)[0] : undefined;
    if (near !== undefined) return `${shape} Did you mean "${near}" instead of "${key}"?`;
  }
  const looksLikeEntry = keys.includes("command") || keys.includes("url");
  return looksLikeEntry ? `${shape} An entry needs a name and one of these keys around it.` : shape;
}
