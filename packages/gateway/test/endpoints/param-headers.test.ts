import { describe, expect, test } from "vitest";
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
  test("are checked before the call", async () => {
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
