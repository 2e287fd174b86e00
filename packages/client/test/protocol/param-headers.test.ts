import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { buildParamHeaders, readParamHeaders } from "../../src/connection/param-headers.js";
import { openHub } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";

const schema = (properties: Record<string, unknown>) => ({ type: "object", properties });
const headersOf = (inputSchema: unknown, args: Record<string, unknown>) => {
  const read = readParamHeaders(inputSchema);
  return "problem" in read ? read.problem : buildParamHeaders(read.headers, args);
};

describe("x-mcp-header", () => {
  it("puts arguments into headers, however deep they are", () => {
    const inputSchema = schema({
      region: { type: "string", "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Limit" },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
      nested: schema({ id: { type: "string", "x-mcp-header": "Id" } }),
      other: { type: "string" },
    });
    const args = { region: "eu", limit: 3, dry: false, nested: { id: "x" }, other: "no" };
    expect(headersOf(inputSchema, args)).toEqual({
      "Mcp-Param-Region": "eu",
      "Mcp-Param-Limit": "3",
      "Mcp-Param-Dry": "false",
      "Mcp-Param-Id": "x",
    });
    expect(headersOf(inputSchema, { region: null, nested: "flat" })).toEqual({});
  });

  it.each([
    ["", "=?base64??="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["Grüße", "=?base64?R3LDvMOfZQ==?="],
    ["two\nlines", "=?base64?dHdvCmxpbmVz?="],
    ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
    ["plain text, as it is", "plain text, as it is"],
  ])("sends %j as %j", (value, expected) => {
    const inputSchema = schema({ text: { type: "string", "x-mcp-header": "Text" } });
    expect(headersOf(inputSchema, { text: value })).toEqual({ "Mcp-Param-Text": expected });
  });

  it.each([
    [schema({ a: { type: "string", "x-mcp-header": "" } }), "not empty"],
    [schema({ a: { type: "string", "x-mcp-header": "a b" } }), "not the name of a header"],
    [schema({ a: { type: "number", "x-mcp-header": "A" } }), "only on string, integer and boolean"],
    [schema({ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }), "there twice"],
    [schema({ a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }), "nowhere else"],
    [{ type: "object", $defs: { a: { type: "string", "x-mcp-header": "A" } } }, "nowhere else"],
    [{ type: "object", "x-mcp-header": "A" }, "nowhere else"],
  ])("refuses %j", (inputSchema, problem) => {
    expect(headersOf(inputSchema, {})).toContain(problem);
  });
});

describe("a modern HTTP server whose tools want headers", () => {
  it("gets them with the call, and a tool that declares them wrongly is left out with a warning", async () => {
    const seen: IncomingHttpHeaders[] = [];
    let listed = 0;
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { id, method } = JSON.parse(body || "{}");
      const reply = (content: object) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, ...content }));
      };
      const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
      if (method === "server/discover") {
        const serverInfo = { name: "headers", version: "1" };
        reply({ result: { ...cached, supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, serverInfo } });
      } else if (method === "tools/list") {
        listed++;
        const tool = (name: string, header: string) => ({
          name,
          inputSchema: schema({ region: { type: "string", "x-mcp-header": header } }),
        });
        reply({
          result: { ...cached, tools: [tool("good", listed === 1 ? "Region" : "Area"), tool("bad", "no good")] },
        });
      } else if (method === "tools/call") {
        seen.push(request.headers);
        if (request.headers["mcp-param-area"] === undefined) {
          response.writeHead(400, { "content-type": "application/json" });
          response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32020, message: "Header mismatch" } }));
        } else reply({ result: { resultType: "complete", content: [{ type: "text", text: "ok" }] } });
      } else response.writeHead(202).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const hub = await openHub(configOf(http("headers", `http://127.0.0.1:${port}/mcp`)));
    try {
      expect(hub.tools().map(({ tool }) => tool)).toEqual(["good"]);
      expect(hub.warnings()).toMatchObject([{ server: "headers", message: expect.stringContaining('tool "bad"') }]);
      // The tool has been changed since it was listed: it is listed again, and the call made with the new header.
      expect((await hub.call("headers.good", { region: "eu" })).text).toBe("ok");
      expect(seen.map((headers) => [headers["mcp-param-region"], headers["mcp-param-area"]])).toEqual([
        ["eu", undefined],
        [undefined, "eu"],
      ]);
    } finally {
      await hub.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
