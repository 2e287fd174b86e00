import { describe, expect, it } from "vitest";
import { extractGraph, GRAPH_LANGUAGES, languageOf } from "../src/index.js";
import { LANGUAGE_CASES } from "./language-cases.js";
import { edgeLines, fixtureGraph, importLines, symbolLines } from "./support.js";

describe("the graph of one file", () => {
  it.each(LANGUAGE_CASES)("is read from $fixture", async (expected) => {
    const graph = await fixtureGraph(expected.fixture);
    expect(graph.syntaxErrors).toBe(false);
    expect(graph.incomplete).toBeUndefined();
    expect(graph.language).toBe(expected.language);
    expect(symbolLines(graph)).toEqual(expected.symbols);
    expect(importLines(graph)).toEqual(expected.imports);
    expect(edgeLines(graph, "CALLS")).toEqual(expected.calls);
    expect(edgeLines(graph, "INHERITS")).toEqual(expected.inherits);
    expect(edgeLines(graph, "IMPLEMENTS")).toEqual(expected.implements);
  });

  it.each(LANGUAGE_CASES)(
    "of $fixture has each symbol defined by the file and contained at most once",
    async ({ fixture }) => {
      const graph = await fixtureGraph(fixture);
      const keys = graph.symbols.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      const defined = graph.edges.filter(({ relation }) => relation === "DEFINES").map(({ to }) => to);
      expect(defined.sort()).toEqual([...keys].sort());
      const contained = graph.edges.filter(({ relation }) => relation === "CONTAINS").map(({ to }) => to);
      expect(new Set(contained).size).toBe(contained.length);
    },
  );

  it("has a case for every language with a grammar", () => {
    const prose = ["markdown", "html"];
    const covered = new Set(LANGUAGE_CASES.map(({ language }) => language));
    expect(GRAPH_LANGUAGES.filter((language) => !covered.has(language))).toEqual(prose);
  });

  it("reports position, signature and visibility", async () => {
    const graph = await fixtureGraph("typescript/hub.ts");
    const start = graph.symbols.find(({ qualifiedName }) => qualifiedName === "Hub.start");
    expect(start).toEqual({
      key: "symbol:/fixtures/typescript/hub.ts#Hub.start",
      kind: "method",
      name: "start",
      qualifiedName: "Hub.start",
      startLine: 49,
      startColumn: 3,
      endLine: 60,
      endColumn: 4,
      signature: "async start(signal?: AbortSignal): Promise<void>",
      exported: true,
    });
    const exported = graph.symbols.filter((symbol) => symbol.exported === true && !symbol.qualifiedName.includes("."));
    expect(exported.map(({ name }) => name)).toEqual([
      "MAX",
      "Member",
      "State",
      "Level",
      "Hub",
      "createHub",
      "helpers",
    ]);
  });

  it("counts columns in UTF-16 units, even after non-ASCII characters", async () => {
    const graph = await extractGraph({ path: "/a.ts", text: 'const 名 = "𝒳";  function ünï() { return 名; }\n' });
    expect(symbolLines(graph)).toEqual(["variable 名", "function ünï"]);
    expect(graph.symbols[1]).toMatchObject({ startLine: 1, startColumn: 18 });
  });

  it("numbers overloads, and merges the signatures of one TypeScript function", async () => {
    const java = await extractGraph({
      path: "/A.java",
      text: "class A { void f(int a) {} void f(String a) {} void f() {} }",
    });
    expect(symbolLines(java)).toEqual(["class A", "method A.f", "method A.f~2", "method A.f~3"]);
    const typescript = await extractGraph({
      path: "/a.ts",
      text: "class A { f(a: string): void; f(a: number): void; f(a: unknown) {} }",
    });
    expect(symbolLines(typescript)).toEqual(["class A", "method A.f"]);
  });

  it("accepts words reserved only in C++ as names in C", async () => {
    const graph = await extractGraph({
      path: "/a.c",
      text: "struct class { int new; };\nint template(int this) { return this + delete(this); }\nint delete(int private) { return private; }\n",
    });
    expect(symbolLines(graph)).toEqual(["struct class", "property class.new", "function template", "function delete"]);
    expect(edgeLines(graph, "CALLS")).toEqual(["template -> delete"]);
    expect(graph.syntaxErrors).toBe(false);
  });

  it.each([
    ["/a/x.ts", "", "typescript"],
    ["/a/x.d.mts", "", "typescript"],
    ["/a/X.JSX", "", "javascript"],
    ["/a/x.h", "int f(void);\n", "c"],
    ["/a/x.h", "namespace a {\nint f();\n}\n", "cpp"],
    ["/a/Rakefile", "", "ruby"],
    ["/a/run", "#!/usr/bin/env python3\n", "python"],
    ["/a/run", "hello", undefined],
    ["/a/.ts", "", undefined],
    ["/a/x.toString", "", undefined],
  ])("knows the language of %s with the text %j", (path, text, expected) => {
    expect(languageOf(path, text)).toBe(expected);
  });
});
