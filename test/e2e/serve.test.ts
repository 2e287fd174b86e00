// @with-broker
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as V1HttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled, needs } from "../support/needs.js";
import { bin, outcomeOf, Place, seen } from "./command.js";

const clientInfo = { name: "test", version: "1" };
const hasCurl = isInstalled("curl");
const NEEDS_CURL = needs("curl", hasCurl);

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function expectEcho(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["query", "execute", "session"]);
  expect(await client.callTool({ name: "mcp.echo", arguments: { message: "hello" } })).toMatchObject({
    content: [{ type: "text", text: "hello" }],
  });
  expect(await client.callTool({ name: "mcp.echo", arguments: { text: "héllo" } })).toMatchObject({
    content: [{ type: "text", text: "héllo" }],
  });
  expect(await client.callTool({ name: "mcp.echo", arguments: {} })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow("nothing");
}

describe("trunkline serve over stdio", () => {
  it.each([
    ["legacy", "legacy" as const, "2025-11-25"],
    ["modern", { pin: "2026-07-28" }, "2026-07-28"],
  ])("answers a %s client", async (_, mode, revision) => {
    using place = new Place();
    const client = new Client(clientInfo, { versionNegotiation: { mode } });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [bin, "serve"],
        cwd: place.cwd,
        env: { HOME: place.home },
      }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    await expectEcho(client);
    await client.close();
  });

  it("ends with 0 when its input closes", async () => {
    using place = new Place();
    expect(await place.runProcess(["serve"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("the banner of trunkline serve --http", () => {
  const banner = async (place: Place, ...options: string[]) => {
    const child = place.start(["serve", "--http", "--port", "0", ...options]);
    const ended = outcomeOf(child);
    const { input = "" } = await seen(child.stderr, /listening at (\S+)[\s\S]*Ctrl-C/);
    child.kill("SIGTERM");
    await ended;
    return input;
  };

  it("shows the token when it is created, and afterwards only on request", async () => {
    using place = new Place();
    const token = (await banner(place)).match(/Bearer (tkl_[\w-]+)/)?.[1] ?? "none";
    const later = await banner(place);
    expect(later).not.toContain(token);
    expect(later).toContain('"Authorization":"Bearer <token>"');
    expect(later).toContain(`<token>    in ${join(place.home, ".trunkline", "token")}; \`serve --http --show-token\``);
    expect(await banner(place, "--show-token")).toContain(`Bearer ${token}`);
  });

  it("says how to see the calls of a store that was named", async () => {
    using place = new Place();
    expect(await banner(place)).toContain("`trunkline log --follow` shows its calls");
    expect(await banner(place, "--store", "kept")).toContain("`trunkline log --follow` with the same --store shows");
  });

  it("warns if other machines can connect, because nothing is encrypted", async () => {
    using place = new Place();
    expect(await banner(place, "--host", "0.0.0.0")).toContain(
      "warning: other machines can connect without encryption",
    );
    expect(await banner(place)).not.toContain("warning");
  });
});

describe("trunkline serve --http", () => {
  let place: Place;
  let child: ReturnType<Place["start"]>;
  let url: string;
  let welcome: string;
  let authorized: Record<string, string>;

  beforeAll(async () => {
    place = new Place();
    child = place.start(["serve", "--http", "--port", "0"]);
    const match = await seen(child.stderr, /listening at (\S+)[\s\S]*Ctrl-C/);
    welcome = match.input ?? "";
    url = match[1] ?? "";
    // The line to paste into an agent's configuration.
    const entry = JSON.parse(welcome.match(/^ *for agents +(\{.*\})$/m)?.[1] ?? "");
    authorized = entry.mcpServers.trunkline.headers;
    expect(authorized.Authorization).toMatch(/^Bearer tkl_/);
  });

  afterAll(async () => {
    const ended = outcomeOf(child);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    place[Symbol.dispose]();
  });

  it.each([
    ["legacy", "legacy" as const, "2025-11-25"],
    ["modern", { pin: "2026-07-28" }, "2026-07-28"],
  ])("answers a %s client", async (_, mode, revision) => {
    const client = new Client(clientInfo, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }));
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    await expectEcho(client);
    await client.close();
  });

  it("answers the previous SDK generation and ends its session when asked", async () => {
    const client = new V1Client(clientInfo);
    const transport = new V1HttpTransport(new URL(url), { requestInit: { headers: authorized } });
    await client.connect(transport as Parameters<V1Client["connect"]>[0]);
    await expectEcho(client);
    const { sessionId } = transport;
    await transport.terminateSession();
    await client.close();
    const late = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { "mcp-session-id": String(sessionId) });
    expect(late.status).toBe(404);
  });

  it.skipIf(!hasCurl)(`prints an example command that works as printed${NEEDS_CURL}`, async () => {
    const line = welcome.match(/^ *try it +(curl .*)$/m)?.[1] ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-c", line]);
    expect(JSON.parse(stdout).result.content).toEqual([{ type: "text", text: "hello" }]);
  });

  it.each([
    ["a foreign Host", { headers: { host: "evil.example" } }, 403],
    ["a foreign Origin", { headers: { origin: "https://evil.example" } }, 403],
    ["a body that is not JSON", { body: "{" }, 400],
    ["a request before initialize", { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }, 400],
    ["a body of more than 4 MiB", { body: JSON.stringify({ pad: "x".repeat(5_000_000) }) }, 413],
    ["another path", { path: "/other" }, 404],
  ])("rejects %s", async (_, request, status) => {
    const {
      headers = {},
      body = "{}",
      path = "/mcp",
    } = request as { headers?: Record<string, string>; body?: string; path?: string };
    expect((await send(path, body, headers)).status).toBe(status);
  });

  it("tells a client without a token what is missing, and names no folder of this machine", async () => {
    const response = await fetch(url, { method: "POST", body: "{}" });
    const text = await response.text();
    expect(response.status).toBe(401);
    expect(text).toContain("requires a token");
    expect(text).not.toContain(place.home);
  });

  it("says so if the port is in use", async () => {
    const { code, stderr } = await place.run(["serve", "--http", "--port", new URL(url).port]);
    expect(code).toBe(2);
    expect(stderr).toContain("is already in use");
  });

  function post(message: unknown, headers: Record<string, string> = {}) {
    return send("/mcp", JSON.stringify(message), { accept: "application/json, text/event-stream", ...headers });
  }

  /** Does not use fetch, which does not let callers set Host. */
  async function send(path: string, body: string, headers: Record<string, string>): Promise<{ status: number }> {
    const { request } = await import("node:http");
    return await new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path, url),
        { method: "POST", headers: { "content-type": "application/json", ...authorized, ...headers } },
        (response) => {
          response.resume().once("end", () => resolve({ status: response.statusCode ?? 0 }));
        },
      );
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  }
});
