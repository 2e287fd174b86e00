import { describe, expect, it } from "vitest";
import { affectedBy, extractGraph, interfaceHash, MemoryGraph, providedKeys, resolveFile } from "../src/index.js";
import { graphOf, resolvedLines } from "./support.js";

const read = async (path: string, text: string) => await extractGraph({ path, text });

describe("a change resolves only what depends on it", () => {
  it("and leaves other files alone if nothing they can see has changed", async () => {
    const graph = await graphOf({
      "/p/a.ts": `import { b } from "./b.js"; b();`,
      "/p/b.ts": "export function b() { one(); }",
      "/p/c.ts": "export const c = 1;",
    });
    expect(graph.put([await read("/p/b.ts", "// moved\nexport function b() { two(); }")])).toEqual(["/p/b.ts"]);
    expect(graph.put([await read("/p/b.ts", "export function renamed() {}")])).toEqual(["/p/a.ts", "/p/b.ts"]);
    expect(resolvedLines(graph, "/p/a.ts", "CALLS")).toEqual(["file -> external:b"]);
    expect(graph.put([await read("/p/b.ts", "export function b() {}")])).toEqual(["/p/a.ts", "/p/b.ts"]);
    expect(resolvedLines(graph, "/p/a.ts", "CALLS")).toEqual(["file -> symbol:/p/b.ts#b"]);
  });

  it("when a missing file is added", async () => {
    const graph = await graphOf({
      "/p/a.ts": `import { b } from "./b"; b();`,
      "/p/c.ts": `import "./d";`,
    });
    expect(resolvedLines(graph, "/p/a.ts", "IMPORTS")).toEqual(["file -> external:./b"]);
    expect(graph.put([await read("/p/b/index.ts", "export function b() {}")])).toEqual(["/p/a.ts", "/p/b/index.ts"]);
    expect(resolvedLines(graph, "/p/a.ts", "CALLS")).toEqual(["file -> symbol:/p/b/index.ts#b"]);
    // Add a file that takes precedence.
    expect(graph.put([await read("/p/b.ts", "export function b() {}")])).toEqual(["/p/a.ts", "/p/b.ts"]);
    expect(resolvedLines(graph, "/p/a.ts", "CALLS")).toEqual(["file -> symbol:/p/b.ts#b"]);
  });

  it("when a file is removed, through every file that re-exported its names", async () => {
    const graph = await graphOf({
      "/p/a.ts": `import { deep } from "./index.js"; deep();`,
      "/p/index.ts": `export * from "./deep.js";`,
      "/p/deep.ts": "export function deep() {}",
      "/p/other.ts": `import { index } from "./elsewhere.js"; index();`,
    });
    expect(resolvedLines(graph, "/p/a.ts", "CALLS")).toEqual(["file -> symbol:/p/deep.ts#deep"]);
    expect(graph.remove(["/p/deep.ts"])).toEqual(["/p/a.ts", "/p/index.ts"]);
    expect(resolvedLines(graph, "/p/a.ts", "CALLS")).toEqual(["file -> external:deep"]);
    expect(resolvedLines(graph, "/p/index.ts", "IMPORTS")).toEqual(["file -> external:./deep.js"]);
    expect([...graph.edges("symbol:/p/deep.ts#deep", { reverse: true })]).toEqual([]);
  });

  it("when the base class of a base class changes", async () => {
    const graph = await graphOf({
      "/p/a.py": "from b import B\n\ndef run(b: B):\n    b.save()\n",
      "/p/b.py": "from c import C\n\nclass B(C):\n    pass\n",
      "/p/c.py": "class C:\n    pass\n",
    });
    expect(resolvedLines(graph, "/p/a.py", "CALLS")).toEqual(["#run -> external:save"]);
    const resolved = graph.put([await read("/p/c.py", "class C:\n    def save(self): pass\n")]);
    expect(resolved).toContain("/p/a.py");
    expect(resolvedLines(graph, "/p/a.py", "CALLS")).toEqual(["#run -> symbol:/p/c.py#C.save"]);
  });

  it("when a project file changes what imports mean", async () => {
    const graph = await graphOf({
      "/p/src/a.ts": `import "@/b";`,
      "/p/src/b.ts": "",
      "/q/a.ts": `import "@/b";`,
    });
    const config = await read("/p/tsconfig.json", `{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }`);
    expect(graph.put([config])).toEqual(["/p/src/a.ts", "/p/src/b.ts", "/p/tsconfig.json"]);
    expect(resolvedLines(graph, "/p/src/a.ts", "IMPORTS")).toEqual(["file -> file:/p/src/b.ts"]);
    expect(resolvedLines(graph, "/q/a.ts", "IMPORTS")).toEqual(["file -> external:@/b"]);
    graph.remove(["/p/tsconfig.json"]);
    expect(resolvedLines(graph, "/p/src/a.ts", "IMPORTS")).toEqual(["file -> external:@/b"]);
  });

  it("when a file joins a Go package", async () => {
    const graph = await graphOf({
      "/g/a.go": "package g\nfunc a() { b() }\n",
      "/h/a.go": "package h\nfunc a() { b() }\n",
    });
    expect(graph.put([await read("/g/b.go", "package g\nfunc b() {}\n")])).toEqual(["/g/a.go", "/g/b.go"]);
    expect(resolvedLines(graph, "/g/a.go", "CALLS")).toEqual(["#a -> symbol:/g/b.go#b"]);
    expect(resolvedLines(graph, "/h/a.go", "CALLS")).toEqual(["#a -> external:b"]);
  });

  it("when the heading a link points to is renamed", async () => {
    const graph = await graphOf({ "/d/a.md": "[x](b.md#one)", "/d/b.md": "# One\n" });
    expect(resolvedLines(graph, "/d/a.md", "REFERENCES")).toEqual(["file -> symbol:/d/b.md#one"]);
    graph.put([await read("/d/b.md", "# Two\n")]);
    expect(resolvedLines(graph, "/d/a.md", "REFERENCES")).toEqual(["file -> file:/d/b.md"]);
  });

  it("and ends with the same graph as a full build, whatever the order of changes", async () => {
    const files: Record<string, string> = {
      "/p/package.json": `{ "name": "p", "main": "src/index.ts" }`,
      "/p/src/index.ts": `export * from "./a.js"; export { b as c } from "./b";`,
      "/p/src/a.ts": `import { b } from "p"; import { Base } from "./base"; export class A extends Base { run() { this.go(); b(); } }`,
      "/p/src/b.ts": `import { A } from "./index.js"; export function b(a: A) { a.run(); a.go(); }`,
      "/p/src/base.ts": "export class Base { go() {} }",
      "/p/main.ts": `import { A, c } from "./src"; c(new A()); new A().go();`,
      "/p/README.md": "[main](main.ts) [gone](gone.md)",
    };
    const atOnce = await graphOf(files);
    const paths = Object.keys(files);
    let seed = 3;
    for (let round = 0; round < 20; round++) {
      const graph = new MemoryGraph();
      const order = [...paths].sort(() => {
        seed = (seed * 16_807) % 2_147_483_647;
        return (seed % 3) - 1;
      });
      for (const path of order) graph.put([await read(path, files[path] ?? "")]);
      const again = order[round % order.length] ?? "";
      graph.remove([again]);
      graph.put([await read(again, files[again] ?? "")]);
      for (const path of paths) expect(graph.edgesOf(path), `${round} ${path}`).toEqual(atOnce.edgesOf(path));
    }
  });
});

describe("what the index stores", () => {
  it("is plain data that survives JSON", async () => {
    const file = await read("/p/a.ts", `import { b } from "./b.js";\nexport class A { m(): A { b(); return this; } }`);
    expect(JSON.parse(JSON.stringify(file))).toEqual({ ...file });
    const source = { file: () => undefined, providers: () => [] };
    expect(resolveFile(JSON.parse(JSON.stringify(file)), source)).toEqual(resolveFile(file, source));
  });

  it("includes the keys of a file and a hash of what others see of it", async () => {
    const index = await read("/p/lib/index.ts", "export const a = 1;");
    expect(providedKeys(index)).toEqual(["path:/p/lib/index.ts", "stem:/p/lib/index", "stem:/p/lib"]);
    const java = await read("/j/A.java", "package a.b; class A { class Inner {} }");
    expect(providedKeys(java)).toEqual(["path:/j/A.java", "stem:/j/A", "java-namespace:a.b", "java:a.b.A"]);
    const before = await read("/a.ts", "export function f() { one(); }");
    const inside = await read("/a.ts", "\n\nexport function f() { two(); }");
    const outside = await read("/a.ts", "export function f(): Hub { one(); }");
    expect(interfaceHash(before)).toBe(interfaceHash(inside));
    expect(interfaceHash(before)).not.toBe(interfaceHash(outside));
    expect(affectedBy(before, inside)).toEqual({ keys: [] });
    expect(affectedBy(before, undefined)).toEqual({ keys: ["path:/a.ts", "stem:/a"] });
  });
});
