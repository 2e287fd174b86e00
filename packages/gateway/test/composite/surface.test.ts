import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { createCompositeTools, echoTool } from "../../src/composite/composite-tools.js";
import { CallLog } from "../../src/journal/journal.js";
import { exchangeOf } from "../operations/support.js";

const never = () => Promise.reject(new Error("nothing is opened for a list"));
const tools = createCompositeTools({
  registry: { builtin: [], find: never, findAction: never },
  store: never,
  run: never,
  log: new CallLog({}),
  workspace: "/",
});

describe("the composite surface", () => {
  it.each([
    ["without", tools],
    ["with", [...tools, echoTool]],
  ])("costs at most 400 tokens %s mcp.echo, as returned by tools/list", (_, listed) => {
    const list = JSON.stringify({ tools: listed.map(({ definition }) => definition) });
    expect(countTokens(list)).toBeLessThanOrEqual(400);
    expect(countTokens(list)).toBeGreaterThan(100);
  });

  it("says what a step is in the schemas of query and execute", () => {
    const properties = { op: { type: "string" }, params: { type: "object" } };
    const [query, execute] = tools.map(({ definition }) => definition.inputSchema);
    expect(query).toMatchObject({
      properties: { steps: { type: "array", items: { type: "object", properties, required: ["op"] } } },
      required: ["steps"],
    });
    expect(execute).toMatchObject({
      properties: { operations: { type: "array", items: { type: "object", properties, required: ["op", "params"] } } },
      required: ["operations"],
    });
  });

  it("has names that every model API accepts", () => {
    for (const { definition } of tools) expect(definition.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it("has three tools with the annotations of the contract", () => {
    expect(tools.map(({ definition: { name, annotations } }) => [name, annotations])).toEqual([
      ["query", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
      ["execute", { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
      ["session", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ]);
  });

  it("echoes the message and fails if it is missing", async () => {
    expect(await echoTool.call({ message: "hello" }, exchangeOf())).toEqual({
      content: [{ type: "text", text: "hello" }],
    });
    expect(await echoTool.call({ text: "héllo" }, exchangeOf())).toEqual({
      content: [{ type: "text", text: "héllo" }],
    });
    expect(await echoTool.call({}, exchangeOf())).toMatchObject({ isError: true });
  });
});
