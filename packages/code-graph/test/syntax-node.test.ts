import { describe, expect, it } from "vitest";
import type { GraphLanguage } from "../src/model/graph-model.js";
import { loadParser, type Node, parseSource } from "../src/reading/parser.js";

const SOURCES: readonly (readonly [GraphLanguage, string])[] = [
  [
    "typescript",
    "export class A<T> extends B { private readonly é = 1; m(x: T, ...y: string[]): void { x?.f(`a${y}`) } }\n",
  ],
  [
    "javascript",
    "const { a, b: [c] } = require('./x');\n// ü\nmodule.exports = function () { return (a) => a + c }; if ( {",
  ],
  ["python", "@d\nclass A(B, c=1):\n  def f(self, x: int = 2) -> str:\n    return x.y(z)\nfrom a import (b, c as d)\n"],
  ["go", 'package a\nimport ("b"; c "d")\nfunc (r *R) F(x, y int) (string, error) { return r.G(x) }\n'],
];

/** Returns everything that rules can ask of a node. */
function told(node: Node, depth = 0): unknown {
  const fields = ["name", "body", "parameters", "value", "object", "left", "type", "nothing"];
  const list = (nodes: readonly Node[]) => nodes.map((child) => child.id);
  return {
    at: [node.id, node.type, node.isNamed, node.hasError, node.startIndex, node.endIndex],
    lines: [node.startPosition, node.endPosition],
    near: [node.parent, node.firstNamedChild, node.lastNamedChild].map((other) => other?.id ?? null),
    fields: fields.map((name) => [node.childForFieldName(name)?.id ?? null, list(node.childrenForFieldName(name))]),
    named: [node.namedChildCount, list(node.namedChildren)],
    within: [list(node.descendantsOfType("identifier")), list(node.descendantsOfType(["class", "call", "nothing"]))],
    children: depth < 100 ? node.children.map((child) => told(child, depth + 1)) : [],
  };
}

describe("a node read from the parser's memory", () => {
  it.each(SOURCES)("returns the same as the library's own node (%s)", async (language, text) => {
    const parser = await loadParser(language);
    const library = parser.parse(text);
    // Parsing the same text again creates different nodes, so ids are numbered in order of appearance.
    const numbered = (root: Node) => {
      const numbers = new Map<unknown, number>();
      return JSON.stringify(told(root)).replace(/\d{5,}/g, (id) => {
        if (!numbers.has(id)) numbers.set(id, numbers.size);
        return `#${numbers.get(id)}`;
      });
    };
    try {
      const own = parseSource(parser, { text, deadline: Number.POSITIVE_INFINITY }, (root) => {
        expect(root).not.toBeInstanceOf(library?.rootNode.constructor as new () => unknown);
        return numbered(root);
      });
      expect(own).toBe(numbered(library?.rootNode as Node));
    } finally {
      library?.delete();
    }
  });
});
