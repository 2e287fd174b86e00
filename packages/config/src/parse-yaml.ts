import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type ParsedNode,
  Parser,
  parseDocument,
  visit,
} from "yaml";
import { MAX_LEVELS, TOO_DEEP } from "./nesting-limit.js";
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
  const deep = tooDeepAt(text);
  if (deep !== undefined) return { ok: false, at: locate(deep), reason: TOO_DEEP };
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
  const targets = targetsOf(document);
  const enter = (node: Node, at: Position) => {
    if (open.size === MAX_LEVELS) throw new Unusable(at, TOO_DEEP);
    open.add(node);
  };

  const convert = (node: unknown, fallback: Position): ConfigNode => {
    if (++count > MAX_NODES) throw new Unusable(fallback, UNRESOLVED);
    if (isAlias(node)) {
      const target = targets.get(node);
      if (target === undefined || open.has(target)) throw new Unusable(fallback, UNRESOLVED);
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
      enter(node, at);
      const members: Member[] = [];
      const own = new Set<string>();
      const repeated = new Set<string>();
      const merged: Member[] = [];
      for (const pair of node.items) {
        const key = convert(pair.key, at);
        const name = key.kind === "scalar" ? (typeof key.value === "string" ? key.value : key.source) : "";
        const value = convert(pair.value, key.at);
        if (name === "<<" && isScalar(pair.key) && pair.key.type === "PLAIN") {
          for (const from of value.kind === "list" ? value.items : [value]) {
            if (from.kind === "map") for (const member of from.members) merged.push(member);
          }
          continue;
        }
        if (own.has(name) && !repeated.has(name)) {
          repeated.add(name);
          remarks.push({ at: key.at, message: `"${name}" occurs twice; the last one is used` });
        }
        own.add(name);
        members.push({ key: name, at: key.at, value });
      }
      open.delete(node);
      for (const member of merged) {
        if (own.has(member.key)) continue;
        own.add(member.key);
        members.push(member);
      }
      return { kind: "map", at, members };
    }
    if (isSeq(node)) {
      enter(node, at);
      const items = node.items.map((item) => convert(item, at));
      open.delete(node);
      return { kind: "list", at, items };
    }
    return { kind: "scalar", at, value: null, source: "" };
  };

  try {
    return { ok: true, root: convert(document.contents, locate(0)), remarks };
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return { ok: false, at: error.at, reason: error.reason };
  }
}

const UNRESOLVED = "its aliases cannot be resolved";

/** Thrown to leave the recursion; caught in this file. */
class Unusable {
  readonly at: Position;
  readonly reason: string;
  constructor(at: Position, reason: string) {
    this.at = at;
    this.reason = reason;
  }
}

/** Finds what each alias stands for. An alias can find that by itself, but goes through the whole document for it. */
function targetsOf(document: ReturnType<typeof parseDocument>): Map<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node: (_key, node) => {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (isAlias(node) && target !== undefined) targets.set(node, target);
      else if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Returns about where a text is nested too deeply for the parser; undefined if it is not. Aliases are not followed. */
function tooDeepAt(text: string): number | undefined {
  // This half of the parser keeps its own stack, with an entry for the document and for the value of each level.
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme));
    if (parser.stack.length > MAX_LEVELS + 2) return parser.offset;
  }
  return undefined;
}
