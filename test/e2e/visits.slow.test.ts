// The gateway tells a client when the visit of a page that its call asked for is complete.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { outcomeOf, Place, seen } from "./command.js";
import { testServer } from "./server-entries.js";

const place = () =>
  new Place(
    { ".trunkline/mcp.json": { mcpServers: { visiting: testServer("visiting") } } },
    { TRUNKLINE_TRUST: "all" },
  );

const COMPLETE = { method: "notifications/elicitation/complete", params: { elicitationId: "visit-1" } };

/** A client that notes the page it is asked to visit, and the notifications it receives. */
async function connect(url: string, action: "accept" | "decline" = "accept") {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { url: {} } } });
  const pages: string[] = [];
  const received: unknown[] = [];
  let onComplete = () => {};
  const completed = new Promise<void>((resolve) => {
    onComplete = resolve;
  });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    if ("url" in params) pages.push(String(params.url));
    return { action };
  });
  client.fallbackNotificationHandler = async ({ method, params }) => {
    received.push({ method, params });
    if (method === COMPLETE.method) onComplete();
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, pages, received, completed, [Symbol.asyncDispose]: () => client.close() };
}

describe("a visit that completes after the call", () => {
  it("is reported to the client whose call asked for it, and to no other", async () => {
    using files = place();
    const serving = files.start(["serve", "--http", "--port", "0", "--no-token", "--surface", "direct"]);
    const ended = outcomeOf(serving);
    const [url] = await seen(serving.stderr, /http:\/\/[\d.]+:\d+\/mcp/);
    {
      await using one = await connect(url);
      await using other = await connect(url);
      const result = await one.client.callTool({ name: "mcp__visiting__later", arguments: {} });
      expect(result).toMatchObject({ content: [{ text: "asked for a visit" }] });
      expect(one.pages).toHaveLength(1);
      await (await fetch(one.pages[0] ?? "")).text();
      await one.completed;
      expect(one.received).toContainEqual(COMPLETE);
      await other.client.listTools();
      expect(other.received).not.toContainEqual(COMPLETE);
    }
    serving.kill("SIGTERM");
    await ended;
  });
});

describe("a visit that a call was refused for", () => {
  it.each(["direct", "composite"])("is reported to the client of the call over stdio (%s)", async (surface) => {
    using files = place();
    const serving = files.start(["serve", "--surface", surface]);
    const ended = outcomeOf(serving);
    const send = (message: object) => serving.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const lines: string[] = [];
    const answered = new Promise<void>((resolve) => {
      serving.stdout?.on("data", (text: string) => {
        for (const line of text.split("\n")) {
          lines.push(line);
          if (line.includes('"elicitation/create"')) {
            const { id, params } = JSON.parse(line);
            // The page is visited before the question is answered.
            void fetch(params.url).then(() => send({ id, result: { action: "accept" } }));
          }
          if (line.includes('"id":2')) resolve();
        }
      });
    });
    const capabilities = { elicitation: { url: {} } };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test", version: "1" } },
    });
    send({ method: "notifications/initialized" });
    const params =
      surface === "direct"
        ? { name: "mcp__visiting__guarded", arguments: {} }
        : { name: "execute", arguments: { steps: [{ op: "visiting.guarded", params: {} }] } };
    send({ id: 2, method: "tools/call", params });
    await answered;
    expect(lines.join("\n")).toContain("tried 2 times");
    const messages = lines.filter((line) => line.includes(COMPLETE.method)).map((line) => JSON.parse(line));
    expect(messages).toEqual([{ jsonrpc: "2.0", ...COMPLETE }]);
    serving.stdin?.end();
    await ended;
  });
});
