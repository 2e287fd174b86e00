import { describe, expect, it } from "vitest";
import { extractGraph, type FileFacts, MemoryGraph, resolveFile } from "../../../code-graph/src/index.js";
import { fixtureGraph } from "../../../code-graph/test/support.js";
import { decodeFacts, decodeLinks, encodeFacts, encodeLinks, readLinks } from "../../src/graph/file-codec.js";

const FIXTURES = [
  "typescript/hub.ts",
  "python/shop/orders.py",
  "go/server/server.go",
  "csharp/Orders.cs",
  "php/Orders.php",
];

/** Leaves out what is not stored: positions, signatures and the texts of links. */
function factsOnly(graph: FileFacts): unknown {
  return {
    path: graph.path,
    language: graph.language,
    symbols: graph.symbols.map(({ key, kind, name, qualifiedName, exported, type }) => ({
      key,
      kind,
      name,
      qualifiedName,
      exported,
      type,
    })),
    edges: graph.edges,
    imports: graph.imports,
    exports: graph.exports,
    links: graph.links.map(({ target, anchor, line }) => ({ target, anchor, line })),
    namespaces: graph.namespaces,
    mentions: graph.mentions,
    config: graph.config,
  };
}

async function graphs(): Promise<FileFacts[]> {
  return await Promise.all([
    ...FIXTURES.map((name) => fixtureGraph(name)),
    extractGraph({ path: "/p/notes.md", text: "# A b\n\n[x](other.md#part) and [y](https://example.com)\n\n# A b\n" }),
    extractGraph({ path: "/p/package.json", text: '{ "name": "p", "exports": { ".": "./a.js" } }' }),
    extractGraph({ path: "/p/image.png", text: "" }),
  ]);
}

describe("a stored document", () => {
  it("keeps everything that resolution reads", async () => {
    for (const graph of await graphs()) {
      const decoded = decodeFacts(encodeFacts(graph), graph.path);
      expect(factsOnly(decoded)).toEqual(factsOnly(graph));
    }
  });

  it("keeps its edges and what they depend on", async () => {
    const all = new MemoryGraph();
    for (const graph of await graphs()) {
      const { edges, dependsOn } = resolveFile(graph, all);
      const bytes = encodeLinks({ edges, dependsOn }, graph);
      expect(decodeLinks(bytes, graph)).toEqual({ edges, dependsOn });
      const reader = readLinks(bytes, graph);
      for (const key of new Set(edges.flatMap(({ from, to }) => [from, to]))) {
        expect(reader.of(key, false).map(({ edge }) => edge)).toEqual(edges.filter(({ from }) => from === key));
        expect(reader.of(key, true).map(({ edge }) => edge)).toEqual(edges.filter(({ to }) => to === key));
      }
      expect(reader.of("symbol:/elsewhere#x", false)).toEqual([]);
    }
  });

  it("is reported as damaged if its bytes are not a frame", () => {
    expect(() => decodeFacts(Buffer.from("not a frame"), "/a.ts")).toThrow(/damaged/);
  });
});
