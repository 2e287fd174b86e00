import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { createCompositeTools } from "../../src/composite/composite-tools.js";
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
  it("costs at most 400 tokens, as returned by tools/list", () => {
    const list = JSON.stringify({ tools: tools.map(({ definition }) => definition) });
    expect(countTokens(list)).toBeLessThanOrEqual(400);
    expect(countTokens(list)).toBeGreaterThan(100);
  });

  it("has four tools with the annotations of the contract", () => {
    expect(tools.map(({ definition: { name, annotations } }) => [name, annotations])).toEqual([
      ["query", { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
      ["execute", { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
      ["session", { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
      ["mcp.echo", { readOnlyHint: true }],
    ]);
  });

  it("echoes the message and fails if it is missing", async () => {
    const echo = tools.find(({ definition }) => definition.name === "mcp.echo");
    expect(await echo?.call({ message: "hello" }, exchangeOf())).toEqual({
      content: [{ type: "text", text: "hello" }],
    });
    expect(await echo?.call({ text: "héllo" }, exchangeOf())).toEqual({ content: [{ type: "text", text: "héllo" }] });
    expect(await echo?.call({}, exchangeOf())).toMatchObject({ isError: true });
  });
});
