import { describe, expect, it } from "vitest";
import {
  collectionKey,
  contentKey,
  externalKey,
  fileKey,
  type MemoryGraph,
  parseKey,
  parseRelation,
  symbolKey,
  type Traversal,
  tagKey,
  toMermaid,
  traverse,
  versionKey,
} from "../src/index.js";
import { graphOf } from "./support.js";

async function sample(): Promise<MemoryGraph> {
  return await graphOf({
    "/p/a.ts": `import { b } from "./b.js"; import "node:fs"; export function a() { b(); log("x"); } function log(x) {}`,
    "/p/b.ts": `import { c } from "./c.js"; export function b() { c(); }`,
    "/p/c.ts": `import { a } from "./a.js"; export function c() { a(); }`,
  });
}

function nodeLines({ nodes }: Traversal): string[] {
  return nodes.map(({ distance, type, key }) => `${distance} ${type} ${key}`);
}

describe("a walk through the graph", () => {
  it("excludes the origin, finds each node's shortest distance and sorts by distance", async () => {
    const graph = await sample();
    const result = traverse("file:/p/a.ts", { relation: "IMPORTS", depth: 5 }, graph);
    expect(nodeLines(result)).toEqual(["1 file file:/p/b.ts", "1 external external:node:fs", "2 file file:/p/c.ts"]);
    expect(result.origin).toEqual({ key: "file:/p/a.ts", type: "file", name: "a.ts", path: "/p/a.ts" });
    expect(result.edges.map(({ from, to }) => `${from} ${to}`)).toEqual([
      "file:/p/a.ts file:/p/b.ts",
      "file:/p/a.ts external:node:fs",
      "file:/p/b.ts file:/p/c.ts",
      "file:/p/c.ts file:/p/a.ts",
    ]);
  });

  it("counts calls of a file's symbols as calls of the file, in both directions", async () => {
    const graph = await sample();
    const calls = traverse("file:/p/a.ts", { relation: "CALLS" }, graph);
    expect(nodeLines(calls)).toEqual(["1 function symbol:/p/b.ts#b", "1 function symbol:/p/a.ts#log"]);
    expect(calls.edges[0]).toEqual({
      from: "file:/p/a.ts",
      to: "symbol:/p/b.ts#b",
      relation: "CALLS",
      line: 1,
      resolved: true,
    });
    const callers = traverse("file:/p/a.ts", { relation: "CALLS", reverse: true }, graph);
    expect(nodeLines(callers)).toEqual(["1 function symbol:/p/c.ts#c", "1 function symbol:/p/a.ts#a"]);
    expect(callers.edges[0]).toMatchObject({ from: "symbol:/p/c.ts#c", to: "file:/p/a.ts" });
  });

  it("follows incoming edges and keeps their direction", async () => {
    const result = traverse("symbol:/p/a.ts#a", { relation: "CALLS", depth: 2, reverse: true }, await sample());
    expect(nodeLines(result)).toEqual(["1 function symbol:/p/c.ts#c", "2 function symbol:/p/b.ts#b"]);
    expect(result.edges[0]).toMatchObject({ from: "symbol:/p/c.ts#c", to: "symbol:/p/a.ts#a" });
  });

  it("stops at the limit, says so, and prefers resolved edges", async () => {
    const graph = await sample();
    const result = traverse("file:/p/a.ts", { relation: "IMPORTS", limit: 1 }, graph);
    expect(nodeLines(result)).toEqual(["1 file file:/p/b.ts"]);
    expect(result.truncated).toBe(true);
    expect(traverse("file:/p/a.ts", { relation: "IMPORTS", limit: 2 }, graph).truncated).toBe(false);
    const keys = new Set(["file:/p/a.ts", ...result.nodes.map(({ key }) => key)]);
    expect(result.edges.every(({ from, to }) => keys.has(from) && keys.has(to))).toBe(true);
  });

  it("rejects an invalid depth or limit", async () => {
    const graph = await sample();
    for (const options of [{ depth: 0 }, { depth: 6 }, { depth: 1.5 }, { limit: 0 }]) {
      expect(() => traverse("file:/p/a.ts", options, graph)).toThrowError(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
    }
  });

  it("accepts relations in any case", () => {
    expect(parseRelation("imports")).toBe("IMPORTS");
    expect(parseRelation("In-Collection")).toBe("IN_COLLECTION");
    expect(parseRelation("likes")).toBeUndefined();
  });
});

describe("a Mermaid chart", () => {
  it("shows nodes by name and edges by relation, dotted if the target is unresolved", async () => {
    const result = traverse("file:/p/a.ts", { relation: "IMPORTS" }, await sample());
    expect(toMermaid(result)).toBe(`flowchart LR
  n0[["a.ts"]]
  n1[["b.ts"]]
  n2{{"node:fs"}}
  n0 -->|IMPORTS| n1
  n0 -.->|IMPORTS| n2
`);
  });

  it("stays valid with any name", () => {
    const name = 'a"]; click n0 "javascript:alert(1)"\nend <b>|x|';
    const chart = toMermaid({
      origin: { key: "file:/x", type: "file", name },
      nodes: [{ key: "external:y", type: "external", name: "y".repeat(500), distance: 1 }],
      edges: [{ from: "file:/x", to: "external:y", relation: "IMPORTS", resolved: false }],
    });
    expect(chart.split("\n")).toHaveLength(5);
    expect(chart.split("\n")[1]).toBe(
      '  n0[["a#34;#93;; click n0 #34;javascript:alert(1)#34; end #60;b#62;#124;x#124;"]]',
    );
    expect(chart.split("\n")[2]?.length).toBeLessThan(100);
  });
});

describe("node keys", () => {
  it.each([
    [fileKey("/a/b#c.ts"), { space: "file", name: "b#c.ts", path: "/a/b#c.ts" }],
    [
      symbolKey("/a/b#c.ts", "Hub.start~2"),
      { space: "symbol", name: "start", path: "/a/b#c.ts", qualifiedName: "Hub.start~2" },
    ],
    [externalKey("node:fs#readFile"), { space: "external", name: "node:fs#readFile" }],
    [tagKey("a:b"), { space: "tag", name: "a:b" }],
    [collectionKey("default"), { space: "collection", name: "default" }],
    [contentKey("ab12"), { space: "content", name: "ab12", hash: "ab12" }],
    [versionKey("/a.ts", "ab12"), { space: "version", name: "a.ts", path: "/a.ts", hash: "ab12" }],
  ])("%s can be parsed", (key, expected) => {
    expect(parseKey(key)).toEqual(expected);
  });

  it("are distinguishable from other strings", () => {
    for (const text of ["", "file", "file:", "symbol:/a.ts", "symbol:#x", "http://x", ":x"])
      expect(parseKey(text)).toBeUndefined();
  });
});
