import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRemote } from "../src/loaded-config.js";
import { loadText, Place, said, server } from "./place.js";

const url = "https://x.example/mcp";

describe("the transport of an entry", () => {
  // dialect, entry, type, the diagnostics
  it.each([
    ["servers", { command: "c" }, "stdio", []],
    ["servers", { url }, "http", ["note url"]],
    ["servers", { type: "http", url }, "http", []],
    ["servers", { type: "sse", url }, "sse", []],
    ["servers", { command: "c", url }, "stdio", ["warning url"]],
    ["mcpServers", { command: "c" }, "stdio", []],
    ["mcpServers", { url }, "http", []],
    ["mcpServers", { command: "c", url }, "stdio", ["warning url"]],
    ["mcpServers", { type: "http", command: "c", url }, "http", ["warning command"]],
    ["metadata.mcp", { command: "c" }, "stdio", []],
    ["metadata.mcp", { url }, "http", []],
    ["metadata.mcp", { command: "c", url }, "http", []],
    ["mcpServers", { type: "streamable-http", url }, "http", ["note type"]],
    ["mcpServers", { type: "streamableHttp", url }, "http", ["note type"]],
    ["mcpServers", { type: "streamable_http", url }, "http", ["note type"]],
    ["mcpServers", { type: "HTTP", url }, "http", ["note type"]],
    ["mcpServers", { type: "remote", url }, "http", ["note type"]],
    ["mcpServers", { type: "local", command: ["c", "a"] }, "stdio", ["note command", "note type"]],
    ["mcpServers", { transport: "sse", url }, "sse", ["note transport"]],
    ["mcpServers", { serverUrl: url }, "http", ["note serverUrl"]],
    ["servers", { httpUrl: url }, "http", ["note httpUrl"]],
    ["mcpServers", { httpUrl: "https://other.example", url }, "http", ["note httpUrl"]],
  ] as const)("%s: %j is %s", async (dialect, entry, type, expected) => {
    const entries = { s: entry };
    const config = await loadText(dialect === "metadata.mcp" ? { metadata: { mcp: entries } } : { [dialect]: entries });
    const definition = server(config, "s");
    expect(definition.type).toBe(type);
    if (isRemote(definition)) expect(definition.url).toBe(url);
    expect(config.diagnostics.map(({ severity, field }) => `${severity} ${field}`)).toEqual(expected);
  });
});

describe("reading an entry", () => {
  it("uses defaults for missing fields", async () => {
    const config = await loadText('{"mcpServers": {"s":\n {"command": "c"}}}', { as: "m.json" });
    expect(server(config, "s")).toEqual({
      name: "s",
      identity: expect.stringMatching(/^[0-9a-f]{64}$/),
      type: "stdio",
      scope: "explicit",
      dialect: "mcpServers",
      file: config.path,
      line: 1,
      command: "c",
      args: [],
      env: {},
      disabled: false,
      lazy: false,
      connectTimeoutMs: 30_000,
      callTimeoutMs: 60_000,
      trusted: true,
      trustsWorkspace: true,
      cwd: config.workspaceFolder,
    });
  });

  it.each([
    [{ timeout: 60 }, { connectTimeoutMs: 60_000 }, []],
    [{ timeout: 1.5 }, { connectTimeoutMs: 1_500 }, []],
    [{ timeout: "45" }, { connectTimeoutMs: 45_000 }, []],
    [{ timeout: 0 }, { connectTimeoutMs: 30_000 }, []],
    [{ timeout: 0.5 }, { connectTimeoutMs: 1_000 }, ["warning timeout"]],
    [{ timeout: 60_000 }, { connectTimeoutMs: 600_000 }, ["warning timeout"]],
    [{ timeout: null }, { connectTimeoutMs: 30_000 }, []],
    [{ callTimeout: 300 }, { callTimeoutMs: 300_000 }, []],
    [{ callTimeout: 0 }, { callTimeoutMs: 60_000 }, []],
    [{ callTimeout: -1 }, { callTimeoutMs: 60_000 }, ["warning callTimeout"]],
    [{ callTimeout: 1e12 }, { callTimeoutMs: 2_147_483_000 }, ["warning callTimeout"]],
    [{ disabled: true }, { disabled: true }, []],
    [{ enabled: false }, { disabled: true }, ["note enabled"]],
    [{ enabled: true }, { disabled: false }, []],
    [{ lazy: true }, { lazy: true }, []],
    [{ asks: false }, { asks: false }, []],
    [{ readOnly: ["get_*"] }, { readOnly: ["get_*"] }, []],
    [{ readOnly: true }, { readOnly: ["*"] }, []],
    [{ readOnly: false }, { readOnly: [] }, []],
    [{ tools: { allow: ["a*"], deny: ["ab"] } }, { tools: { allow: ["a*"], deny: ["ab"] } }, []],
    [{ tools: ["a*"] }, { tools: { allow: ["a*"] } }, []],
    [{ tools: { alow: ["a"] } }, {}, ["note tools.alow"]],
    [{ includeTools: ["a"], excludeTools: ["b"] }, { tools: { allow: ["a"], deny: ["b"] } }, []],
    [{ tools: { deny: ["a"] }, disabledTools: ["a", "b"] }, { tools: { deny: ["a", "b"] } }, []],
    [{ args: ["-p", 8080, true] }, { args: ["-p", "8080", "true"] }, []],
    [{ env: { N: 1, B: false, T: "t" } }, { env: { N: "1", B: "false", T: "t" } }, []],
    [{ env: { GONE: null, "a.b": "x" } }, { env: { "a.b": "x" } }, ["note env.GONE"]],
    [{ cmd: "x" }, {}, ["note cmd"]],
    [{ comand: "x", enviroment: {}, agrs: [] }, {}, ["note comand", "note agrs"]],
    [{ autoApprove: ["x"], alwaysAllow: [], description: "d", gallery: true, version: "1", dev: {} }, {}, []],
    [{ trust: true, "x-mine": 1, somethingElse: 2 }, {}, []],
    [{ headersHelper: "run.sh" }, {}, ["warning headersHelper"]],
  ])("%j gives %j", async (extra, expected, remarks) => {
    const config = await loadText({ mcpServers: { s: { command: "c", ...extra } } });
    expect(server(config, "s")).toMatchObject(expected);
    expect(config.diagnostics.map(({ severity, field }) => `${severity} ${field}`)).toEqual(remarks);
  });

  it("ends each remark like a sentence or a question", async () => {
    const { diagnostics } = await loadText({ mcpServers: { s: { comand: "c", url: "https://a.example/mcp" } } });
    expect(diagnostics[0]?.message).toMatch(/Did you mean "command"\?$/);
  });

  it("makes servers lazy by default only in metadata.mcp", async () => {
    const config = await loadText({
      servers: { a: { command: "c" } },
      mcpServers: { b: { command: "c" } },
      metadata: { mcp: { c: { command: "c" }, d: { command: "c", lazy: false } } },
    });
    expect(config.servers.map(({ name, lazy }) => [name, lazy])).toEqual([
      ["a", false],
      ["b", false],
      ["c", true],
      ["d", false],
    ]);
  });

  it("keeps numbers in YAML as written", async () => {
    const text = "mcpServers:\n  s:\n    command: c\n    args: [1.0, 0x10, 2026-01-01]\n    env: { A: 010, B: yes }";
    const config = await loadText(text, { as: "m.yaml" });
    expect(server(config, "s")).toMatchObject({
      args: ["1.0", "0x10", "2026-01-01"],
      env: { A: "010", B: "yes" },
    });
  });

  it("resolves cwd and envFile from the workspace folder, or in a skill from the skill's folder", async () => {
    using place = new Place({ "a/local.env": "A=1", "skills/s/local.env": "A=skill" });
    const entry = { command: "c", cwd: "sub", envFile: "local.env" };
    const usual = place.write("x/.vscode/mcp.json", { servers: { s: entry } });
    expect(server(await place.load({ mcpPath: usual }), "s")).toMatchObject({
      cwd: join(place.cwd, "x", "sub"),
      envFile: join(place.cwd, "x", "local.env"),
    });
    const skill = place.write(
      "skills/s/SKILL.md",
      `---\nmetadata: { mcp: { s: ${JSON.stringify(entry)} } }\n---\n# Hi`,
    );
    expect(server(await place.load({ mcpPath: skill }), "s")).toMatchObject({
      cwd: join(place.cwd, "skills", "s", "sub"),
      env: { A: "skill" },
    });
  });

  it("runs a project's servers in the project's folder, and others in the working directory", async () => {
    using place = new Place({
      ".trunkline/mcp.json": { mcpServers: { project: { command: "c" } } },
      "home/settings.json": { mcpServers: { user: { command: "c" } } },
      "a/file": "",
    });
    const config = await place.load({ cwd: join(place.cwd, "a") });
    expect(server(config, "project")).toMatchObject({ cwd: place.cwd });
    expect((server(config, "user") as { cwd?: string }).cwd).toBeUndefined();
  });

  it("expands ~ like a shell, and in args like VS Code", async () => {
    const entry = { type: "stdio", command: "~/bin/c", args: ["~/x", "~y", "a~/"], cwd: "~", envFile: "~/.env" };
    const config = await loadText({ servers: { a: entry }, mcpServers: { b: entry } });
    const at = (path: string) => join(homedir(), path);
    expect(server(config, "a")).toMatchObject({ command: at("bin/c"), cwd: homedir(), args: [at("x"), "~y", "a~/"] });
    expect(server(config, "b")).toMatchObject({
      command: at("bin/c"),
      args: ["~/x", "~y", "a~/"],
      envFile: at(".env"),
    });
  });
});

describe("envFile", () => {
  it("provides variables, but the entry's own take precedence", async () => {
    using place = new Place({ "x.env": "A=file\nB=file\n# C=1\nnothing" });
    const mcpPath = place.write("m.json", {
      mcpServers: { s: { command: "c", envFile: "${workspaceFolder}/x.env", env: { B: "own" } } },
    });
    const config = await place.load({ mcpPath });
    expect(server(config, "s")).toMatchObject({ env: { A: "file", B: "own" }, envFile: join(place.cwd, "x.env") });
  });

  it("causes a warning if it is missing, but the server is still used", async () => {
    const config = await loadText({ mcpServers: { s: { command: "c", envFile: "no.env", env: { A: "1" } } } });
    expect(said(config)).toEqual([expect.stringMatching(/warning \| s \| envFile \| .*no\.env does not exist/)]);
    expect(server(config, "s")).toMatchObject({ env: { A: "1" } });
  });
});

describe("a malformed entry", () => {
  const at = (line: number, column: number) => ({ line, column });
  it.each([
    ['{ "command": 42 }', "command", at(3, 24)],
    ['{ "command": "" }', "command", at(3, 24)],
    ['{ "command": "c", "args": "-y" }', "args", at(3, 37)],
    ['{ "command": "c", "args": ["a", {}] }', "args.1", at(3, 43)],
    ['{ "command": "c", "env": ["A=1"] }', "env", at(3, 36)],
    ['{ "command": "c", "env": { "A": {} } }', "env.A", at(3, 43)],
    ['{ "command": "c", "disabled": "yes" }', "disabled", at(3, 41)],
    ['{ "command": "c", "timeout": "soon" }', "timeout", at(3, 40)],
    ['{ "command": "c", "tools": "x" }', "tools", at(3, 38)],
    ['{ "type": "carrier-pigeon", "url": "https://x.example" }', "type", at(3, 21)],
    ['{ "type": "stdio", "url": "https://x.example" }', "command", at(3, 11)],
    ['{ "type": "http", "command": "c" }', "url", at(3, 11)],
    ['{ "url": "localhost:3000/mcp" }', "url", at(3, 20)],
    ['{ "url": "not a url" }', "url", at(3, 20)],
    ['{ "url": "https://x.example", "headers": { "a b": "c" } }', "headers.a b", at(3, 61)],
    ["{}", "command", at(3, 11)],
    ['"https://x.example"', undefined, at(3, 11)],
  ])("%s is a warning that names the field %s and does not affect other entries", async (entry, field, position) => {
    const text = `{ "mcpServers": {\n  "good": { "command": "c" },\n   "bad": ${entry},\n  "fine": { "command": "d" } } }`;
    const config = await loadText(text);
    expect(config.servers.map(({ name }) => name)).toEqual(["good", "fine"]);
    expect(config.rejected).toMatchObject([{ name: "bad", scope: "explicit", file: config.path }]);
    const [diagnostic, ...others] = config.diagnostics;
    expect(others).toEqual([]);
    expect(diagnostic).toMatchObject({ severity: "warning", server: "bad", file: config.path });
    expect(diagnostic?.field).toBe(field);
    expect(diagnostic).toMatchObject(position);
    expect(diagnostic?.message).toContain('Server "bad"');
  });

  it("reports the exact position in the line", async () => {
    const config = await loadText('{"servers":{"a":{"command":"c",\n  "args": "x"}}}');
    expect(config.diagnostics).toMatchObject([{ line: 2, column: 11, field: "args" }]);
  });

  it("keeps its type for listings", async () => {
    const config = await loadText({ servers: { a: { type: "ws", url: "ws://x" } } });
    expect(config.rejected).toEqual([{ name: "a", scope: "explicit", file: config.path, type: "ws" }]);
  });

  it("is one without a name", async () => {
    expect((await loadText({ servers: { "": { command: "c" } } })).rejected).toHaveLength(1);
  });

  it("is not one named after an inherited object property", async () => {
    const config = await loadText(
      '{"mcpServers":{"__proto__":{"command":"c","env":{"__proto__":"x"}},"constructor":{"command":"c"}}}',
    );
    expect(config.servers.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
  });
});

describe("an entry that is unusable after expansion", () => {
  it.each([
    [{ type: "http", url: "${env:GONE}/mcp" }, "url"],
    [{ type: "stdio", command: "${env:GONE}" }, "command"],
  ])("%j stays in the list and says why", async (entry, word) => {
    const config = await loadText({ servers: { s: entry } });
    const { unusable } = server(config, "s");
    expect(unusable?.message).toContain(word);
    expect(unusable?.hint).toContain("variables");
    expect(said(config)).toEqual([expect.stringContaining("GONE")]);
  });
});
