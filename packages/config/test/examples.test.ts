// The configurations from the design document, as written there.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadText, Place, said, server } from "./place.js";

describe("the examples", () => {
  it("reads the VS Code shape", async () => {
    using place = new Place({
      ".env": "FROM_FILE=file\nGREETING=long",
      ".trunkline/mcp.json": `// .trunkline/mcp.json, VS Code shape
{ "servers": {
    "wiki":  { "type": "http", "url": "\${env:WIKI_URL}/mcp", "headers": { "Authorization": "Bearer \${env:WIKI_TOKEN}" } },
    "hello": { "type": "stdio", "command": "node", "args": ["\${workspaceFolder}/test/servers/hello.js"],
               "envFile": "\${workspaceFolder}/.env", "env": { "GREETING": "short" } } } }
`,
    });
    const config = await place.load({ env: { WIKI_URL: "https://wiki.example", WIKI_TOKEN: "wiki-token" } });
    expect(said(config)).toEqual([]);
    expect(server(config, "wiki")).toMatchObject({
      type: "http",
      url: "https://wiki.example/mcp",
      headers: { Authorization: "Bearer wiki-token" },
      lazy: false,
    });
    expect(server(config, "hello")).toMatchObject({
      type: "stdio",
      command: "node",
      args: [`${place.cwd}/test/servers/hello.js`],
      env: { GREETING: "short", FROM_FILE: "file" },
      line: 4,
    });
    expect(config.secrets).toContain("wiki-token");
  });

  it.each(["project", "user"])("reads settings.json of the %s", async (scope) => {
    const text = `// settings.json, user or project
{ "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": { "MEMORY_FILE_PATH": "\${MEMORY_FILE:-/tmp/memory.json}" } },
    "tracker": { "type": "http", "url": "https://tracker.example/mcp", "headers": { "X-Key": "\${TRACKER_KEY}" }, "timeout": 60 },
    "old": { "command": "old-server", "disabled": true } } }
`;
    using place = new Place({ [scope === "user" ? "home/settings.json" : ".trunkline/settings.json"]: text });
    const config = await place.load({ env: { TRACKER_KEY: "tracker-key" } });
    expect(said(config)).toEqual([]);
    expect(server(config, "memory")).toMatchObject({
      scope,
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-memory"],
      env: { MEMORY_FILE_PATH: "/tmp/memory.json" },
    });
    expect(server(config, "tracker")).toMatchObject({
      headers: { "X-Key": "tracker-key" },
      connectTimeoutMs: 60_000,
    });
    expect(server(config, "old")).toMatchObject({ disabled: true });
    const without = await place.load();
    expect(server(without, "tracker")).toMatchObject({ headers: { "X-Key": "${TRACKER_KEY}" } });
    expect(said(without)).toEqual([expect.stringMatching(/^warning \| tracker \| headers\.X-Key \| .*TRACKER_KEY/)]);
  });

  it.each(["skill.yaml", "SKILL.md"])("reads the metadata of a skill from %s", async (as) => {
    const yaml = `# metadata of a skill
metadata:
  mcp:
    filesystem: { command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", ./notes] }
    tickets: { command: tickets-mcp, args: [--stdio], env: { TICKETS_KEY: "\\\${TICKETS_KEY}" } }
    search: { url: https://search.example/mcp }
`;
    const text = as === "SKILL.md" ? `---\nname: notes\n${yaml}---\n\n# Notes\n` : yaml;
    const config = await loadText(text, { as, env: { TICKETS_KEY: "tickets-key" } });
    expect(said(config)).toEqual([]);
    expect(config.servers.map(({ name, lazy, dialect }) => [name, lazy, dialect])).toEqual([
      ["filesystem", true, "metadata.mcp"],
      ["tickets", true, "metadata.mcp"],
      ["search", true, "metadata.mcp"],
    ]);
    expect(server(config, "filesystem")).toMatchObject({
      args: ["-y", "@modelcontextprotocol/server-filesystem", "./notes"],
    });
    expect(server(config, "tickets").atLaunch?.()).toMatchObject({
      definition: { env: { TICKETS_KEY: "tickets-key" } },
      missing: [],
      secrets: ["tickets-key"],
    });
    expect(server(config, "search")).toMatchObject({ type: "http", url: "https://search.example/mcp" });
  });

  it("resolves a relative --mcp against the working directory", async () => {
    using place = new Place({ "work.mcp.json": { servers: { a: { type: "stdio", command: "c" } } } });
    expect((await place.load({ mcpPath: "./work.mcp.json" })).path).toBe(join(place.cwd, "work.mcp.json"));
  });
});
