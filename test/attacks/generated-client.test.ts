// A server's definitions go into a source file that people compile and agents read: nothing in them may become code.
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { clientSource, stampOf } from "../../packages/cli/src/commands/generate/client-source.js";
import type { SourcedTool } from "../../packages/core/src/index.js";
import { faultsIn, loadClient } from "../e2e/generated-client.js";

const HOSTILE = [
  "*/ globalThis.hacked = 1; /*",
  "**//globalThis.hacked = 1//",
  "a\n*/\nglobalThis.hacked = 1\n/*",
  "a\u2028*/ globalThis.hacked = 1 /*\u2029b",
  "`${globalThis.hacked = 1}`",
  '"]: never }; globalThis.hacked = 1; const x = {"',
  "'; globalThis.hacked = 1; '",
  "\\",
  "\\*/ globalThis.hacked = 1",
  "*\\/ x */",
  "*\u200b/ globalThis.hacked = 1; /*",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "new",
  "get",
  "readonly",
  "import('x')",
  "[Symbol.iterator]",
  "",
  "\u202egnihtemos\u202c",
  "\ud800",
  "@ts-nocheck",
  "// @ts-ignore",
  "</script><!--",
  "#!/bin/sh",
];

function toolNamed(server: string, tool: string, more: Partial<SourcedTool> = {}): SourcedTool {
  return { server, tool, name: `${server}.${tool}`, inputSchema: { type: "object" }, ...more };
}

/** Every text in every place. */
const tools = HOSTILE.flatMap((text) => {
  const schema = {
    type: "object",
    properties: Object.fromEntries([
      [text, { type: "string", description: text, default: text }],
      ["choice", { enum: [text, 1], description: `first line\n${text}` }],
      ["constant", { const: text }],
      ["type", { type: text }],
      ["reference", { $ref: `#/$defs/${text}` }],
    ]),
    required: [text],
    $defs: Object.fromEntries([[text, { type: "object", properties: { inner: { const: text } } }]]),
  };
  return [
    toolNamed("plain", text, { description: text, inputSchema: schema, outputSchema: schema }),
    toolNamed(text, "t"),
  ];
});

/** The statements of a file, by kind and name. */
function statementsOf(text: string): string[] {
  return parseAst(text, { lang: "ts" }).body.map((statement) => {
    const declared = "declaration" in statement && statement.declaration ? statement.declaration : statement;
    const name = "id" in declared && declared.id && "name" in declared.id ? declared.id.name : "";
    return `${statement.type} ${declared.type} ${name}`;
  });
}

describe("hostile definitions in a generated client", () => {
  it("add no statement and compile", async () => {
    const { text } = clientSource(tools);
    expect(statementsOf(text)).toEqual(statementsOf(clientSource([toolNamed("a", "b")]).text));
    expect(await faultsIn({ "tools.ts": text })).toEqual([]);
  });

  it("run nothing when the file is loaded, and stay names of tools", async () => {
    const { createClient } = await loadClient(clientSource(tools).text);
    const asked: string[] = [];
    const client = createClient({
      call: async ({ tool }) => {
        asked.push(tool);
        return { isError: false, text: "", raw: { structuredContent: {} } };
      },
    });
    const { plain = {} } = client;
    expect(new Set(Object.keys(plain))).toEqual(new Set(HOSTILE));
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(client)).toBe(Object.prototype);
    for (const name of HOSTILE) await Object.entries(plain).find(([key]) => key === name)?.[1]();
    expect(asked).toEqual(HOSTILE);
    expect(globalThis).not.toHaveProperty("hacked");
    expect({}).not.toHaveProperty("t");
  });

  it("leave no control or bidi character, tag or compiler directive in the file", async () => {
    const { text } = clientSource(tools);
    expect(text).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
    for (const comment of text.match(/\/\*\*[\s\S]*?\*\//g) ?? []) expect(comment).not.toMatch(/(^|[\s*/{])@/);
    const [fault, ...more] = await faultsIn({ "tools.ts": `${text}\nexport const wrong: number = "text";\n` });
    expect(fault).toContain("not assignable");
    expect(more).toEqual([]);
  });

  it("do not make an object that await would call", async () => {
    const { text, leftOut } = clientSource([toolNamed("a", "then"), toolNamed("then", "b"), toolNamed("a", "c")]);
    expect(leftOut.map(({ name }) => name)).toEqual(["a.then", "then.b"]);
    const { createClient } = await loadClient(text);
    const client = createClient({ call: () => Promise.reject(new Error("called")) });
    expect(await client).toBe(client);
    expect(await client.a).toBe(client.a);
  });

  it("give two servers whose names join to the same one their own tools", async () => {
    const { text } = clientSource([toolNamed("a.b", "c"), toolNamed("a", "b.c")]);
    expect(await faultsIn({ "tools.ts": text })).toEqual([]);
    const { createClient } = await loadClient(text);
    const keys: unknown[] = [];
    const client = createClient({
      call: async (key) => {
        keys.push(key);
        return { isError: false, text: "", raw: {} };
      },
    });
    await client["a.b"]?.c?.();
    await client.a?.["b.c"]?.();
    expect(keys).toEqual([
      { server: "a.b", tool: "c" },
      { server: "a", tool: "b.c" },
    ]);
  });

  it("cannot forge the stamp of another file", () => {
    const { text, stamp } = clientSource([toolNamed("a", "b", { description: "Stamp: 00000000" })]);
    expect(stampOf(text)).toBe(stamp);
    expect(stampOf(`\n${text}`)).toBeUndefined();
  });
});

describe("a schema bomb", () => {
  const levels = Array.from({ length: 64 }, (_, at) => {
    const next = { $ref: `#/$defs/L${at + 1}` };
    return [
      `L${at}`,
      { type: "object", properties: { a: next, b: next, c: next }, anyOf: [next, next], allOf: [next] },
    ];
  });
  let deep: unknown = { type: "string" };
  for (let at = 0; at < 5_000; at++) deep = { type: "array", items: deep };

  it.each<[string, Record<string, unknown>]>([
    ["of references", { type: "object", properties: { a: { $ref: "#/$defs/L0" } }, $defs: Object.fromEntries(levels) }],
    ["of nested arrays", { type: "object", properties: { deep } }],
    [
      "of properties",
      { type: "object", properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`p${at}`, {}])) },
    ],
    [
      "of choices",
      { type: "object", properties: { a: { enum: Array.from({ length: 100_000 }, (_, at) => `v${at}`) } } },
    ],
    [
      "of words",
      { type: "object", properties: { a: { description: "word ".repeat(200_000), const: "x".repeat(500_000) } } },
    ],
  ])("%s gives a file of limited size that compiles", async (_, inputSchema) => {
    const { text } = clientSource([toolNamed("a", "b", { inputSchema })]);
    expect(text.length).toBeLessThan(1_000_000);
    expect(await faultsIn({ "tools.ts": text })).toEqual([]);
  });
});
