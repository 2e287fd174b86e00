import { describe, expect, it } from "vitest";
import { extractGraph, type GraphLanguage } from "../src/index.js";
import { LANGUAGE_CASES } from "./language-cases.js";
import { edgeLines, fixtureGraph, symbolLines } from "./support.js";

describe("extraction survives", () => {
  it("syntax errors, and keeps the code around them", async () => {
    const graph = await extractGraph({
      path: "/a.ts",
      text: "export function before() { after(); }\nclass { ]] = = \nfunction after() {}\nconst x = {{{\n",
    });
    expect(graph.syntaxErrors).toBe(true);
    expect(symbolLines(graph)).toContain("function before");
    expect(graph.incomplete).toBeUndefined();
  });

  it.each(LANGUAGE_CASES)("a $language file that ends anywhere", async ({ fixture, language }) => {
    const whole = await fixtureGraph(fixture);
    const { readFileSync } = await import("node:fs");
    const url = new URL(`./fixtures/${fixture}`, import.meta.url);
    const text = readFixture(url, readFileSync);
    for (let end = 0; end < text.length; end += Math.ceil(text.length / 23)) {
      const graph = await extractGraph({ path: "/cut", text: text.slice(0, end), language: language as GraphLanguage });
      expect(graph.symbols.length).toBeLessThanOrEqual(whole.symbols.length + 5);
    }
  });

  it.each([
    "typescript",
    "tsx",
    "javascript",
    "python",
    "go",
    "rust",
    "c",
    "cpp",
    "java",
    "csharp",
    "ruby",
    "php",
  ] as const)("noise in %s", async (language) => {
    let seed = 7;
    const next = () => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
      return seed;
    };
    const parts = [
      "{",
      "}",
      "(",
      ")",
      "class ",
      "def ",
      "fn ",
      "func ",
      "a",
      ".b",
      "::c",
      "=>",
      ";",
      "\n",
      '"',
      "'",
      "`",
      "import ",
      "#",
      "<",
      ">",
      "é",
      "\ud800",
    ];
    for (let round = 0; round < 20; round++) {
      const text = Array.from({ length: 300 }, () => parts[next() % parts.length]).join("");
      const graph = await extractGraph({ path: "/noise", text, language });
      expect(graph.incomplete?.reason).not.toBe("binary");
    }
  });

  it("binary bytes, and says so", async () => {
    const nul = await extractGraph({ path: "/a.ts", text: "function f() {}\0\0" });
    expect(nul).toMatchObject({ incomplete: { reason: "binary" }, symbols: [] });
    const broken = await extractGraph({ path: "/a.ts", text: "\ufffd\ufffd\ufffd abc ".repeat(20) });
    expect(broken.incomplete?.reason).toBe("binary");
  });

  it("a text over the limit, and says so", async () => {
    const graph = await extractGraph({ path: "/a.ts", text: "f();\n".repeat(100) }, { maxLength: 100 });
    expect(graph).toMatchObject({ language: "typescript", incomplete: { reason: "size" } });
    expect(graph.incomplete?.message).toContain("500");
  });

  it("an empty text and a text of spaces", async () => {
    for (const text of ["", "   \n\n\t", "\ufeff"]) {
      expect(await extractGraph({ path: "/a.py", text })).toMatchObject({
        symbols: [],
        edges: [],
        syntaxErrors: false,
      });
    }
  });

  it.each([
    ["brackets", "typescript", "(".repeat(50_000)],
    ["arrays", "javascript", `x = ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
    ["functions", "javascript", `${"function f(){".repeat(3_000)}${"}".repeat(3_000)}`],
    ["calls", "javascript", `a${".b()".repeat(20_000)}`],
    ["blocks", "python", Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}def f${depth}():\n`).join("")],
    ["namespaces", "cpp", `${"namespace a {".repeat(3_000)}${"}".repeat(3_000)}`],
    ["types", "typescript", `let x: ${"A<".repeat(5_000)}B${">".repeat(5_000)};`],
  ] as const)("deep nesting of %s in %s", async (_name, language, text) => {
    const graph = await extractGraph({ path: "/deep", text, language }, { timeMs: 2_000 });
    expect(JSON.stringify(graph).length).toBeLessThan(60 * 1024 * 1024);
  });

  it("functions nested deeper than the limit, which count as part of the enclosing function", async () => {
    const text = `${Array.from({ length: 40 }, (_, depth) => `function f${depth}(){`).join("")}last();${"}".repeat(40)}`;
    const graph = await extractGraph({ path: "/deep.js", text });
    expect(graph.incomplete?.reason).toBe("depth");
    expect(graph.symbols).toHaveLength(24);
    expect(edgeLines(graph, "CALLS")).toHaveLength(1);
  });

  it("5 MB of minified code within the time limit", async () => {
    const line =
      'function a(b,c){var d=e(b);return d.f(c)?g.h(d,function(i){return i.j(k)}):{l:m(n),o:"p"}}var q=a(1,2);';
    const text = line.repeat(Math.ceil((5 * 1024 * 1024) / line.length));
    const byDefault = await extractGraph({ path: "/bundle.min.js", text });
    expect(byDefault.incomplete?.reason).toBe("size");
    const timeMs = 1_500;
    const graph = await extractGraph({ path: "/bundle.min.js", text }, { maxLength: text.length, timeMs });
    expect(graph.incomplete?.reason).toMatch(/^(?:time|count)$/);
    // The parser continues with the next file as if nothing had happened.
    const next = await extractGraph({ path: "/next.js", text: "function next() {}" });
    expect(symbolLines(next)).toEqual(["function next"]);
  });

  it("thousands of files without growing memory forever", async () => {
    const text = "export class A { m() { this.n(); } n() {} }\n".repeat(50);
    for (let round = 0; round < 100; round++) await extractGraph({ path: "/a.ts", text });
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 600; round++) await extractGraph({ path: "/a.ts", text });
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });
});

function readFixture(url: URL, read: (url: URL, encoding: "utf8") => string): string {
  try {
    return read(url, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return read(new URL(`${url.href}.txt`), "utf8");
  }
}
