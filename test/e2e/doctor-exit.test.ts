// What `doctor` exits with, and how it checks only some servers.
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

const dying = { command: process.execPath, args: ["-e", "process.exit(3)"] };
const trusted = { TRUNKLINE_TRUST: "all" };

describe("doctor's exit code", () => {
  it("is 1 if a server fails, with and without --strict", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello: testServer("hello"), dying } } });
    expect((await place.run(["doctor", "--mcp", "mcp.json"])).code).toBe(1);
    expect((await place.run(["doctor", "--mcp", "mcp.json", "--strict"])).code).toBe(1);
  });

  it("is 1 if an entry or a file is wrong", async () => {
    using place = new Place({ "entry.json": { mcpServers: { wrong: { command: 7 } } } });
    place.write(".trunkline/mcp.json", "{");
    expect((await place.run(["doctor", "--mcp", "entry.json"])).code).toBe(1);
    expect((await place.run(["doctor"])).code).toBe(1);
  });

  it("is 0 for a server that was not approved, and 1 with --strict", async () => {
    using place = new Place({ ".trunkline/mcp.json": { mcpServers: { hello: testServer("hello") } } });
    expect((await place.run(["doctor"])).code).toBe(0);
    expect((await place.run(["doctor", "--strict"])).code).toBe(1);
  });
});

describe("doctor <server>…", () => {
  const servers = { hello: testServer("hello"), dying, wrong: { command: 7 } };

  it("checks only the named servers, and nothing else", async () => {
    using place = new Place({ ".trunkline/mcp.json": { mcpServers: servers } }, trusted);
    const { code, stdout } = await place.run(["doctor", "hello"]);
    expect(code).toBe(0);
    expect(stdout).toContain("✓ hello");
    expect(stdout).not.toMatch(/dying|wrong|Safety|Broker|Search/);
    const { code: failed, stdout: json } = await place.run(["doctor", "hello", "dying", "--json"]);
    expect(failed).toBe(1);
    const { mcp } = JSON.parse(json);
    expect(mcp.servers.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      ["dying", "failed"],
      ["hello", "connected"],
    ]);
  });

  it("shows the mistakes of an entry that cannot be used", async () => {
    using place = new Place({ ".trunkline/mcp.json": { mcpServers: servers } }, trusted);
    const { code, stdout } = await place.run(["doctor", "wrong"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/Server "wrong", field "command"/);
  });

  it("suggests the nearest name for a typo", async () => {
    using place = new Place({ ".trunkline/mcp.json": { mcpServers: servers } }, trusted);
    const { code, stderr } = await place.run(["doctor", "helo"]);
    expect(code).toBe(2);
    expect(stderr).toContain('No server is named "helo".\n  Did you mean hello?');
  });
});

describe("doctor on tools that come and go", () => {
  it("names the tools that a server listed before and does not list now", async () => {
    const server = (tools: string) => ({ command: process.execPath, args: [tools] });
    using place = new Place({}, trusted);
    const source = (names: readonly string[]) => `
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (id === undefined) return;
        const tools = ${JSON.stringify(names)}.map((name) => ({ name, inputSchema: { type: "object" } }));
        const results = {
          initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
          "tools/list": { tools },
        };
        const result = results[method];
        const answer = result ? { result } : { error: { code: -32601, message: "unknown" } };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
      });`;
    const file = place.write("server.cjs", source(["always", "asks"]));
    place.write(".trunkline/mcp.json", { mcpServers: { s: server(file) } });
    expect((await place.run(["doctor", "s"])).stdout).not.toContain("not listed now");
    place.write("server.cjs", source(["always"]));
    expect((await place.run(["doctor", "s"])).stdout).toContain("listed earlier, but not now: asks. A server can list");
  });
});
