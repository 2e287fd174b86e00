// Servers as published by their authors on npm.
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, Place, seen } from "./command.js";

const require = createRequire(import.meta.url);
const entry = (name: string) =>
  join(require.resolve(`@modelcontextprotocol/server-${name}/package.json`), "..", "dist", "index.js");
const node = process.execPath;

let place: Place;
const running: ChildProcess[] = [];

/** Starts server-everything over the network. */
async function startEverything(transport: "streamableHttp" | "sse"): Promise<number> {
  const port = await freePort();
  const child = spawn(node, [entry("everything"), transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  await Promise.any([seen(child.stderr, /listening|running/i), seen(child.stdout, /listening|running/i)]);
  return port;
}

beforeAll(async () => {
  const [http, sse] = await Promise.all([startEverything("streamableHttp"), startEverything("sse")]);
  place = new Place({ "notes/today.md": "# Today\n" }, { TRUNKLINE_TRUST: "all" });
  place.write(".trunkline/mcp.json", {
    mcpServers: {
      everything: { command: node, args: [entry("everything")] },
      filesystem: { command: node, args: [entry("filesystem"), "${workspaceFolder}/notes"] },
      memory: { command: node, args: [entry("memory")], env: { MEMORY_FILE_PATH: join(place.base, "memory.json") } },
      web: { url: `http://127.0.0.1:${http}/mcp` },
      events: { type: "sse", url: `http://127.0.0.1:${sse}/sse` },
      found: { url: `http://127.0.0.1:${sse}/sse` },
    },
  });
});

afterAll(() => {
  for (const child of running) child.kill();
  place[Symbol.dispose]();
});

describe("with server-everything, server-filesystem and server-memory", () => {
  it("doctor connects to all of them, over stdio, Streamable HTTP and HTTP+SSE", async () => {
    const { code, stdout } = await place.run(["doctor", "--format", "json", "--strict"]);
    const servers: { id: string; active: { initialize: { status: string }; tools: { names: string[] } } }[] =
      JSON.parse(stdout).mcp.servers;
    expect(servers.map(({ id, active }) => [id, active.initialize.status])).toEqual([
      ["events", "ok"],
      ["everything", "ok"],
      ["filesystem", "ok"],
      ["found", "ok"],
      ["memory", "ok"],
      ["web", "ok"],
    ]);
    for (const { id, active } of servers) expect(active.tools.names.length, id).toBeGreaterThan(5);
    expect(code).toBe(0);
  });

  it("tools lists them with signatures", async () => {
    const { stdout } = await place.run(["tools", "filesystem.*"]);
    expect(stdout).toContain("filesystem.read_text_file(path: string");
    expect(stdout).not.toContain("everything.");
  });

  it.each([
    [["everything.get-sum", "a=2", "b=3"], /5/],
    [["web.echo", "message=over HTTP"], /over HTTP/],
    [["events.echo", "message=over SSE"], /over SSE/],
    [["found.get-sum", "a:=20", "b:=22"], /42/],
    [["filesystem.read_text_file", "path=today.md"], /# Today/],
    [["filesystem.list_directory", "--input", '{"path": "."}'], /today\.md/],
    [
      ["memory.create_entities", 'entities:=[{"name":"Ada","entityType":"person","observations":["likes hubs"]}]'],
      /Ada/,
    ],
    [["memory.read_graph"], /likes hubs/],
  ])("call %j answers", async (args, expected) => {
    const { code, stdout, stderr } = await place.run(["call", ...args]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(expected);
  });

  it("a server only sees the environment variables it needs", async () => {
    const { stdout } = await place.run(["call", "everything.get-env"], { env: { GITHUB_TOKEN: "not-for-servers" } });
    expect(Object.keys(JSON.parse(stdout))).not.toContain("GITHUB_TOKEN");
    expect(stdout).not.toContain("not-for-servers");
  });
});
