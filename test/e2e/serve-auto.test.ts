// `trunkline serve` as clients see it: which tools are listed for which client.
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { modern } from "../../packages/gateway/test/endpoints/http-client.js";
import { Place, type Running } from "./command.js";
import { ServedStdio } from "./serve-stdio-client.js";
import { testServer } from "./server-entries.js";

const OWN = ["query", "execute", "session"];
const CLAUDE_CODE = { name: "claude-code", version: "2.1.42" };
const CURSOR = { name: "cursor-vscode", version: "1.0.0" };

let place: Place;

beforeEach(() => {
  place = new Place({ "mcp.json": { mcpServers: { hello: testServer("hello") } } });
});

afterEach(() => place[Symbol.dispose]());

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: Record<string, { readonly description?: string }> };
}

async function serve(clientInfo: { name: string; version: string }): Promise<ServedStdio> {
  const served = await ServedStdio.start(place, ["--mcp", "mcp.json"], { client: { clientInfo } });
  onTestFinished(() => served[Symbol.asyncDispose]());
  return served;
}

async function toolsOf(served: ServedStdio): Promise<readonly Listed[]> {
  return (await served.request("tools/list")).tools;
}

const namesOf = (tools: readonly Listed[]) => tools.map(({ name }) => name);

describe("trunkline serve", () => {
  it("lists three tools for Cursor at first, and in the next session the few that it found then", async () => {
    const first = await serve(CURSOR);
    expect(first.instructions).toContain("Servers:\nhello");
    expect(namesOf(await toolsOf(first))).toEqual(OWN);
    await first.query("describe", { target: "hello" });
    expect(namesOf(await toolsOf(first))).toEqual(OWN);
    await first.end();

    const second = await serve(CURSOR);
    const tools = await toolsOf(second);
    expect(namesOf(tools)).toEqual([...OWN, "hello_hello", "hello_repeat"]);
    expect(tools[3]?.inputSchema.properties.name).not.toHaveProperty("description");
    const { content } = await second.request("tools/call", { name: "hello_hello", arguments: { name: "Ada" } });
    expect(content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
    expect(JSON.stringify(await toolsOf(second))).toBe(JSON.stringify(tools));
  });

  it("lists every tool in full for Claude Code from the start", async () => {
    const served = await serve(CLAUDE_CODE);
    const tools = await toolsOf(served);
    expect(namesOf(tools)).toEqual([...OWN, "hello_hello", "hello_repeat"]);
    expect(served.instructions).not.toContain("Servers:");
    expect(JSON.stringify(await toolsOf(served))).toBe(JSON.stringify(tools));
  });

  it("lets the user's settings decide for a client", async () => {
    place.write("mcp.json", {
      mcpServers: { hello: testServer("hello") },
      surface: { clients: { "claude-code": "composite", "cursor*": "direct" } },
    });
    expect(namesOf(await toolsOf(await serve(CLAUDE_CODE)))).toEqual(OWN);
    expect(namesOf(await toolsOf(await serve(CURSOR)))).toEqual([...OWN, "hello_hello", "hello_repeat"]);
  });
});

describe("trunkline serve --http", () => {
  it("decides for each principal and client", async () => {
    const bob = (await place.run(["tokens", "create", "bob"])).stdout.match(/tkl_[\w-]+/)?.[0] ?? "";
    const running: Running = place.start(["serve", "--http", "--port", "0", "--mcp", "mcp.json"]);
    let printed = "";
    running.stderr?.on("data", (chunk) => {
      printed += String(chunk);
    });
    const closed = new Promise<void>((resolve) => running.once("close", () => resolve()));
    onTestFinished(async () => {
      running.kill();
      await closed;
    });
    await vi.waitFor(() => expect(printed).toContain("Ctrl-C stops it"), 30_000);
    const url = /listening at (\S+)/.exec(printed)?.[1] ?? "";
    const own = /Bearer (tkl_[\w-]+)/.exec(printed)?.[1] ?? "";
    const list = async (token: string, clientInfo: object) => {
      const meta = { "io.modelcontextprotocol/clientInfo": clientInfo };
      const headers = { authorization: `Bearer ${token}` };
      return (await modern(url, "tools/list", {}, { meta, headers })).last.result;
    };
    expect(namesOf((await list(own, CURSOR)).tools)).toEqual(OWN);
    expect(namesOf((await list(bob, CLAUDE_CODE)).tools)).toEqual([...OWN, "hello_hello", "hello_repeat"]);
    const again = await list(own, CURSOR);
    expect(again).toMatchObject({ ttlMs: 300_000, cacheScope: "private" });
    expect(await list(own, CURSOR)).toEqual(again);
    // The names are the same, but each client has its own form.
    expect(JSON.stringify((await list(bob, CLAUDE_CODE)).tools)).not.toBe(JSON.stringify(again.tools));
  });
});
