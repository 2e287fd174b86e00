import { describe, expect, it } from "vitest";
import { firstSentence, leanDefinition } from "../../src/surface/lean-definition.js";

describe("firstSentence", () => {
  it.each([
    ["Reads a file. Fails if it does not exist.", "Reads a file."],
    ["Reads a file, e.g. README.md, in full. Slow.", "Reads a file, e.g. README.md, in full."],
    ["Compares with the base, i.e. The main branch. Fast.", "Compares with the base, i.e. The main branch."],
    ["\n    Search papers\n    on arXiv.\n\n    Args:\n      query: text", "Search papers on arXiv."],
    ["Uses version 1.2.3 of the API. Old.", "Uses version 1.2.3 of the API."],
    ["No full stop", "No full stop"],
    ["读取文件。然后关闭。", "读取文件。"],
    ["", ""],
  ])("of %j is %j", (description, sentence) => {
    expect(firstSentence(description)).toBe(sentence);
  });

  it("cuts a long sentence between words", () => {
    const words = Array.from({ length: 100 }, (_, index) => `word${index}`);
    const cut = firstSentence(words.join(" "));
    expect(cut.length).toBeLessThanOrEqual(201);
    expect(cut.endsWith("…")).toBe(true);
    for (const word of cut.slice(0, -1).split(" ")) expect(words).toContain(word);
  });

  it("cuts text without blanks between characters", () => {
    expect(firstSentence("😀".repeat(500))).toMatch(/^(?:😀)+…$/u);
  });
});

describe("leanDefinition", () => {
  it("keeps names, types, values and what is required, and nothing else", () => {
    const lean = leanDefinition({
      name: "docs_find",
      title: "Find",
      description: "Finds pages. Needs an index.",
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        title: "FindArguments",
        additionalProperties: false,
        properties: {
          query: { type: "string", description: "What to find", minLength: 1, "x-mcp-header": "Query" },
          kind: { enum: ["page", "image"], default: "page" },
          since: { type: "string", format: "date", examples: ["2026-01-01"] },
          filter: {
            type: "object",
            properties: { description: { type: "string", description: "matches descriptions" } },
            required: ["description"],
          },
          tags: { type: "array", items: { type: "string", maxLength: 9 }, maxItems: 3 },
          limits: { type: "object", additionalProperties: { type: "number", description: "at most" } },
          either: { anyOf: [{ type: "string", title: "A" }, { $ref: "#/$defs/Id" }] },
          anything: true,
        },
        $defs: { Id: { type: "integer", description: "an id" } },
        required: ["query"],
      },
      outputSchema: { type: "object" },
      annotations: {
        title: "Find",
        readOnlyHint: true,
        destructiveHint: true,
        openWorldHint: false,
        idempotentHint: "x",
      },
    });
    expect(lean).toEqual({
      name: "docs_find",
      description: "Finds pages.",
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string", "x-mcp-header": "Query" },
          kind: { enum: ["page", "image"] },
          since: { type: "string", format: "date" },
          filter: { type: "object", properties: { description: { type: "string" } }, required: ["description"] },
          tags: { type: "array", items: { type: "string" } },
          limits: { type: "object", additionalProperties: { type: "number" } },
          either: { anyOf: [{ type: "string" }, { $ref: "#/$defs/Id" }] },
          anything: true,
        },
        $defs: { Id: { type: "integer" } },
        required: ["query"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    });
  });

  it("leaves out what a tool does not have", () => {
    expect(leanDefinition({ name: "ping", inputSchema: { type: "object", required: [] } })).toEqual({
      name: "ping",
      inputSchema: { type: "object" },
    });
  });

  it("survives a hostile schema", () => {
    let deep: Record<string, unknown> = { type: "string" };
    for (let level = 0; level < 5_000; level++) deep = { type: "object", properties: { next: deep } };
    const lean = leanDefinition({ name: "deep", inputSchema: deep });
    expect(JSON.stringify(lean).length).toBeLessThan(1_000);
    const polluting = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string","description":"x"}}}');
    expect(JSON.stringify(leanDefinition({ name: "p", inputSchema: polluting }))).toContain(
      '"__proto__":{"type":"string"}',
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
