import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { wordsOf } from "./json-fault.js";
import { TOO_DEEP, tooDeepAt } from "./nesting-limit.js";
import { type ConfigNode, locator, type Member, type ParseOutcome, type ParseRemark, type Position } from "./tree.js";

/** Parses JSON with comments and trailing commas. A bad escape such as `"\${TOKEN}"` is accepted as text. */
export function parseJson(text: string): ParseOutcome {
  const deep = tooDeepAt(text);
  if (deep !== undefined) return { ok: false, at: locator(text)(deep), reason: TOO_DEEP };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const locate = locator(text);
  const badEscapes = new Set<number>();
  for (const { error, offset } of errors) {
    if (printParseErrorCode(error) === "InvalidEscapeCharacter") badEscapes.add(offset);
    else return { ok: false, at: locate(offset), reason: `it is not valid JSON (${wordsOf(error)})` };
  }
  if (root === undefined) return { ok: false, at: { line: 1, column: 1 }, reason: "it is empty" };
  const remarks: ParseRemark[] = [];
  return { ok: true, root: convert(root, { text, locate, badEscapes, remarks }), remarks };
}

/** Whether a text starts like JSON or a JSON comment. */
export function looksLikeJson(text: string): boolean {
  return /^\s*(?:[{[]|\/[/*])/.test(text);
}

interface Reading {
  readonly text: string;
  readonly locate: (offset: number) => Position;
  readonly badEscapes: ReadonlySet<number>;
  readonly remarks: ParseRemark[];
}

function convert(node: Node, reading: Reading): ConfigNode {
  const at = reading.locate(node.offset);
  if (node.type === "object") {
    const members: Member[] = [];
    const names = new Set<string>();
    const repeated = new Set<string>();
    for (const { children: [key, value] = [] } of node.children ?? []) {
      if (key === undefined || value === undefined) continue;
      const name = stringOf(key, reading);
      if (names.has(name) && !repeated.has(name)) {
        repeated.add(name);
        reading.remarks.push({
          at: reading.locate(key.offset),
          message: `"${name}" occurs twice; the last one is used`,
        });
      }
      names.add(name);
      members.push({ key: name, at: reading.locate(key.offset), value: convert(value, reading) });
    }
    return { kind: "map", at, members };
  }
  if (node.type === "array") {
    return { kind: "list", at, items: (node.children ?? []).map((child) => convert(child, reading)) };
  }
  const value = node.type === "string" ? stringOf(node, reading) : (node.value as number | boolean | null);
  return { kind: "scalar", at, value, source: reading.text.slice(node.offset, node.offset + node.length) };
}

/**
 * Decodes a string. The library drops the character after a bad escape, so strings with one are decoded again from the
 * file.
 */
function stringOf(node: Node, reading: Reading): string {
  if (!reading.badEscapes.has(node.offset)) return String(node.value);
  const raw = reading.text.slice(node.offset, node.offset + node.length);
  let other = false;
  const sound = raw.replace(/\\(["\\/bfnrtu]|.)/gs, (whole, char: string) => {
    if (/["\\/bfnrtu]/.test(char)) return whole;
    if (char !== "$") other = true;
    return `\\\\${char}`;
  });
  // People write `\$` for a dollar that must not be expanded; any other bad escape is more likely a mistake.
  if (other) {
    reading.remarks.push({
      at: reading.locate(node.offset),
      message: "a bad escape was kept as text; write \\\\ for \\",
    });
  }
  return String(JSON.parse(sound));
}
