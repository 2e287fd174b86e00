import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type ParsedNode, parseDocument } from "yaml";
import { type ConfigNode, locator, type Member, type ParseOutcome, type ParseRemark, type Position } from "./tree.js";

/** More values than any configuration has. Without a limit, a few aliases of aliases would fill the memory. */
const MAX_NODES = 50_000;

/**
 * Parses YAML 1.2 with merge keys. A bad escape such as `"\${TOKEN}"` is accepted as text. `start` is the text's
 * position in the file.
 */
export function parseYaml(text: string, start = { whole: text, offset: 0 }): ParseOutcome {
  const locateWhole = locator(start.whole);
  const locate = (offset: number) => locateWhole(offset + start.offset);
  const document = parseDocument(text, { lineCounter: new LineCounter(), prettyErrors: false, uniqueKeys: false });
  const remarks: ParseRemark[] = [];
  for (const error of document.errors) {
    const at = locate(error.pos[0]);
    if (error.code !== "BAD_DQ_ESCAPE") return { ok: false, at, reason: `it is not valid YAML (${error.message})` };
    if (!text.startsWith("\\$", error.pos[0])) {
      remarks.push({ at, message: "a bad escape was kept as text; write \\\\ for \\" });
    }
  }
  if (document.contents === null) return { ok: false, at: locate(0), reason: "it is empty" };
  let count = 0;
  const open = new Set<Node>();

  const convert = (node: unknown, fallback: Position): ConfigNode => {
    if (++count > MAX_NODES) throw new TooLarge(fallback);
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (target === undefined || open.has(target)) throw new TooLarge(fallback);
      return convert(target, fallback);
    }
    const range = (node as ParsedNode | null)?.range;
    const at = range ? locate(range[0]) : fallback;
    if (isScalar(node)) {
      const value = node.value;
      const known = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      const source = node.source ?? String(value ?? "");
      return { kind: "scalar", at, value: known ? value : value === null ? null : source, source };
    }
    if (isMap(node)) {
      open.add(node);
      const members: Member[] = [];
      const merged: Member[] = [];
      for (const pair of node.items) {
        const key = convert(pair.key, at);
        const name = key.kind === "scalar" ? (typeof key.value === "string" ? key.value : key.source) : "";
        const value = convert(pair.value, key.at);
        if (name === "<<" && isScalar(pair.key) && pair.key.type === "PLAIN") {
          for (const from of value.kind === "list" ? value.items : [value]) {
            if (from.kind === "map") merged.push(...from.members);
          }
          continue;
        }
        if (members.some((member) => member.key === name)) {
          remarks.push({ at: key.at, message: `"${name}" occurs twice; the last one is used` });
        }
        members.push({ key: name, at: key.at, value });
      }
      open.delete(node);
      const own = new Set(members.map(({ key }) => key));
      for (const member of merged) {
        if (own.has(member.key)) continue;
        own.add(member.key);
        members.push(member);
      }
      return { kind: "map", at, members };
    }
    if (isSeq(node)) {
      open.add(node);
      const items = node.items.map((item) => convert(item, at));
      open.delete(node);
      return { kind: "list", at, items };
    }
    return { kind: "scalar", at, value: null, source: "" };
  };

  try {
    return { ok: true, root: convert(document.contents, locate(0)), remarks };
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { ok: false, at: error.at, reason: "its aliases cannot be resolved" };
  }
}

/** Thrown to leave the recursion; caught in this file. */
class TooLarge {
  readonly at: Position;
  constructor(at: Position) {
    this.at = at;
  }
}
