import { describe, expect, test } from "vitest";
import { paramHeaderProblem } from "../../src/endpoints/param-headers.js";
import { createTestService } from "../protocol/test-service.js";
import { callModern, startHttp, textOf } from "./http-client.js";

const schema = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    plain: { type: "string" },
    deep: { type: "object", properties: { count: { type: "integer", "x-mcp-header": "Count" } } },
    many: { type: "array", items: { type: "string", "x-mcp-header": "Never" } },
  },
};

describe("arguments that a tool wants repeated as headers", () => {
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

  test("agree with their headers, however these are encoded", () => {
    const args = { region: "größe", deep: { count: 42 }, many: ["x"] };
    expect(
      paramHeaderProblem(schema, args, { "mcp-param-region": base64("größe"), "mcp-param-count": "42" }),
    ).toBeUndefined();
    expect(paramHeaderProblem(schema, { region: "a" }, { "mcp-param-region": " a " })).toBeUndefined();
    expect(paramHeaderProblem(schema, { plain: "a", region: null }, {})).toBeUndefined();
    expect(paramHeaderProblem(schema, undefined, {})).toBeUndefined();
  });

  test.each([
    ["missing", {}],
    ["another value", { "mcp-param-region": "b" }],
    ["padding that is not there", { "mcp-param-region": "=?base64?SGVsbG8?=" }],
    ["characters that are no base64", { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }],
  ])("are refused with %s", (_, headers) => {
    expect(paramHeaderProblem(schema, { region: "Hello" }, headers)).toContain("mcp-param-region");
  });

  test("are checked before the call is made", async () => {
    const service = { ...createTestService(), inputSchema: () => schema };
    const { url } = await startHttp({ service });
    const args = { text: "x", region: "eu" };
    expect(await callModern(url, "echo", args)).toMatchObject({
      status: 400,
      last: { id: 7, error: { code: -32020 } },
    });
    expect(service.exchanges).toEqual([]);
    expect(textOf(await callModern(url, "echo", args, { headers: { "mcp-param-region": "eu" } }))).toBe("x");
  });
});
