// The content of a configuration file in any format, with the position of every value. The JSON and YAML readers both
// produce this; after that, the format no longer matters.

/** A position in a file, both numbers starting at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type ConfigNode = MapNode | ListNode | ScalarNode;

/** Names and values in file order. JSON can repeat a name; the readers report it. */
export interface MapNode {
  readonly kind: "map";
  readonly at: Position;
  readonly members: readonly Member[];
}

export interface Member {
  readonly key: string;
  readonly at: Position;
  readonly value: ConfigNode;
}

interface ListNode {
  readonly kind: "list";
  readonly at: Position;
  readonly items: readonly ConfigNode[];
}

/** A single value. `source` is a number or boolean as written, so `1.0` in YAML does not become `1`. */
interface ScalarNode {
  readonly kind: "scalar";
  readonly at: Position;
  readonly value: string | number | boolean | null;
  readonly source: string;
}

/** A remark about a readable file. */
export interface ParseRemark {
  readonly at: Position;
  readonly message: string;
}

/** The tree, or where and why parsing failed. */
export type ParseOutcome =
  | { readonly ok: true; readonly root: ConfigNode; readonly remarks: readonly ParseRemark[] }
  | { readonly ok: false; readonly at: Position; readonly reason: string };

/** Returns the value under `key`; if the name occurs twice, the last one, as in every JSON reader. */
export function memberOf(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  return node?.kind === "map" ? node.members.findLast((member) => member.key === key)?.value : undefined;
}

/** Returns the text of a string, or of a number or boolean as written; undefined for anything else. */
export function textOf(node: ConfigNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || node.value === null) return undefined;
  return typeof node.value === "string" ? node.value : node.source;
}

/** Names a value's kind, for messages. */
export function kindOf(node: ConfigNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "an object" : "a list";
  if (node.value === null) return "null";
  return typeof node.value === "string" ? "a string" : `a ${typeof node.value}`;
}

/** Returns a function that finds the line and column of an offset in a text. */
export function locator(text: string): (offset: number) => Position {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
