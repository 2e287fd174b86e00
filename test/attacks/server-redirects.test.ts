// A server that sends the requests meant for it to someone else.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { openHub } from "@trunkline/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { configOf, http } from "../../packages/client/test/hub/fixtures.js";

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Records the requests that reach another origin. */
async function elsewhere() {
  const requests: string[] = [];
  const origin = await listen((request, response) => {
    requests.push(`${request.method} ${JSON.stringify(request.headers)}`);
    response.writeHead(202).end();
  });
  return { origin, requests };
}

async function connect(url: string, type: "http" | "sse"): Promise<string> {
  const server = http("mine", url, { type, headers: { Authorization: "Bearer s3cret", "X-Api-Key": "s3cret" } });
  await using hub = await openHub(configOf(server));
  const [status] = hub.status();
  expect(status?.state).toBe("failed");
  return status?.error?.message ?? "";
}

describe("a server that redirects to another origin", () => {
  it.each([
    ["http", 301],
    ["http", 302],
    ["http", 307],
    ["http", 308],
    ["sse", 302],
    ["sse", 307],
  ] as const)("over %s, with HTTP %s, is not followed: no header of the entry gets there", async (type, status) => {
    const other = await elsewhere();
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(status, { location: `${other.origin}/mcp` }).end();
    });
    expect(await connect(`${url}/mcp`, type)).toContain(`the redirect to ${other.origin}/mcp was not followed`);
    expect(other.requests).toEqual([]);
  });

  it("after one of its own is not followed either", async () => {
    const other = await elsewhere();
    const url = await listen((request, response) => {
      request.resume();
      const location = request.url === "/mcp" ? "/again" : `${other.origin}/mcp`;
      response.writeHead(307, { location }).end();
    });
    expect(await connect(`${url}/mcp`, "http")).toContain("was not followed");
    expect(other.requests).toEqual([]);
  });
});

describe("a server of HTTP+SSE that names an endpoint at another origin", () => {
  it.each(["/mcp", "//"])("is not connected: nothing gets there (%s)", async (form) => {
    const other = await elsewhere();
    const endpoint = form === "//" ? `${other.origin.slice("http:".length)}/messages` : `${other.origin}/messages`;
    const url = await listen((request, response) => {
      request.resume();
      if (request.method !== "GET") return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`event: endpoint\ndata: ${endpoint}\n\n`);
    });
    expect(await connect(`${url}/sse`, "sse")).toContain(`an endpoint at another origin: ${other.origin}`);
    expect(other.requests).toEqual([]);
  });
});
