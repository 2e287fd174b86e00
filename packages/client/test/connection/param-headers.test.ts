import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { openHub } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";

const schema = (properties: Record<string, unknown>) => ({ type: "object", properties });

describe("a modern HTTP server whose tools need headers", () => {
  it("receives them with each call, and tools that declare them wrongly are skipped with a warning", async () => {
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
      // The tool has changed since it was listed: it is listed again, and the call is sent with the new header.
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
