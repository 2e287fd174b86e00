// What a configuration file holds, whichever notation it is written in, with the place of every value. The readers of
// JSON and YAML end here; nothing after this knows which one it was.

/** A place in a file, both numbers from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A value in a file. */
export type ConfigNode = MapNode | ListNode | ScalarNode;

/** Names with values, in the order of the file. A name may occur twice in JSON: the readers report it. */
export interface MapNode {
  readonly kind: "map";
  readonly at: Position;
  readonly members: readonly Member[];
}

/** One name and its value. */
export interface Member {
  readonly key: string;
  readonly at: Position;
  readonly value: ConfigNode;
}

/** Values in order. */
interface ListNode {
  readonly kind: "list";
  readonly at: Position;
  readonly items: readonly ConfigNode[];
}

/** A single value. `source` is a number or boolean as it was written, so that `1.0` in YAML does not become `1`. */
interface ScalarNode {
  readonly kind: "scalar";
  readonly at: Position;
  readonly value: string | number | boolean | null;
  readonly source: string;
}

/** Something to say about a file that could be read. */
export interface ParseRemark {
  readonly at: Position;
  readonly message: string;
}

/** What a reader made of a text: the tree, or where and why it could not be read. */
export type ParseOutcome =
  | { readonly ok: true; readonly root: ConfigNode; readonly remarks: readonly ParseRemark[] }
  | { readonly ok: false; readonly at: Position; readonly reason: string };

/** The value under `key`; where the name occurs twice, the last one, as every JSON reader has it. */
export function memberOf(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  return node?.kind === "map" ? node.members.findLast((member) => member.key === key)?.value : undefined;
}

/** The text of a string, or of a number or boolean as it was written; undefined for everything else. */
export function textOf(node: ConfigNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || node.value === null) return undefined;
  return typeof node.value === "string" ? node.value : node.source;
}

/** How a message calls the kind of a value. */
export function kindOf(node: ConfigNode): string {
  if (node.kind !== "scalar") return node.kind === "map" ? "an object" : "a list";
  if (node.value === null) return "null";
  return typeof node.value === "string" ? "a text" : `a ${typeof node.value}`;
}

/** Finds line and column of offsets in one text. */
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
