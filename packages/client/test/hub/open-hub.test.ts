// `openHub()` without a configuration: the one place in the library that looks at the process's folder and environment.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { loadConfig, TrustStore } from "../../../config/src/index.js";
import { type HubOptions, openHub } from "../../src/index.js";
import { serverPath } from "./fixtures.js";

const started = process.cwd();
let base: string;
let home: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "trunkline-open-hub-")));
  home = join(base, "user", ".trunkline");
  mkdirSync(join(base, "project", ".git"), { recursive: true });
  mkdirSync(home, { recursive: true });
  process.chdir(join(base, "project"));
  vi.stubEnv("HOME", join(base, "user"));
  vi.stubEnv("USERPROFILE", join(base, "user"));
  for (const name of ["TRUNKLINE_HOME", "TRUNKLINE_MCP_FILE", "TRUNKLINE_TRUST"]) vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  process.chdir(started);
  rmSync(base, { recursive: true, force: true });
});

function write(path: string, content: unknown): string {
  const file = join(base, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

const hello = (command = process.execPath) => ({ command, args: [serverPath("hello")] });
const USER_SETTINGS = "user/.trunkline/settings.json";
const PROJECT_FILE = "project/.trunkline/mcp.json";

/** Opens the hub without connecting: a server that may start is `pending`. */
async function statesOf(options: HubOptions = {}): Promise<Record<string, string>> {
  await using hub = await openHub(undefined, { lazy: true, ...options });
  return Object.fromEntries(hub.status().map(({ name, state }) => [name, state]));
}

/** Approves the project's files as they are, as `trunkline trust --yes` does. */
async function approveProject(): Promise<void> {
  const { files } = await loadConfig({ cwd: process.cwd(), env: process.env, home });
  await new TrustStore(home).confirm(
    ...files.flatMap(({ path, fingerprint }) => (fingerprint === undefined ? [] : [{ path, fingerprint }])),
  );
}

describe("openHub without a configuration", () => {
  it("connects the user's servers, and calls them by the name it lists", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    await using hub = await openHub();
    const [tool] = hub.tools();
    expect(tool).toMatchObject({ server: "mine", tool: "hello", name: "mine.hello" });
    expect((await hub.call(tool?.name ?? "", { name: "Ada" })).text).toBe("Hello, Ada!");
  });

  it("starts a project's servers only after the user has approved them", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    write(PROJECT_FILE, { servers: { theirs: hello() } });
    expect(await statesOf()).toEqual({ mine: "pending", theirs: "untrusted" });
    await approveProject();
    expect(await statesOf()).toEqual({ mine: "pending", theirs: "pending" });
    write(PROJECT_FILE, { servers: { theirs: { ...hello(), env: { EXTRA: "1" } } } });
    expect(await statesOf()).toEqual({ mine: "pending", theirs: "untrusted" });
  });

  it("says how to approve a project's servers when one is called", async () => {
    write(PROJECT_FILE, { servers: { theirs: hello() } });
    await using hub = await openHub();
    await expect(hub.call("theirs.hello")).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      hint: expect.stringContaining("trunkline trust"),
    });
  });

  it("finds the project's files from a folder below", async () => {
    write(PROJECT_FILE, { servers: { theirs: hello() } });
    mkdirSync(join(base, "project", "src", "deep"), { recursive: true });
    process.chdir(join(base, "project", "src", "deep"));
    expect(await statesOf()).toEqual({ theirs: "untrusted" });
  });

  it("expands variables from the environment and from a project's .env", async () => {
    vi.stubEnv("OPEN_HUB_NODE", process.execPath);
    write(USER_SETTINGS, { mcpServers: { mine: hello("${OPEN_HUB_NODE}") } });
    write(PROJECT_FILE, { mcpServers: { theirs: hello("${OPEN_HUB_PROGRAM}") } });
    write("project/.env", `OPEN_HUB_PROGRAM=${process.execPath}\n`);
    await approveProject();
    expect(await statesOf({ lazy: false })).toEqual({ mine: "connected", theirs: "connected" });
  });

  it("follows TRUNKLINE_TRUST, TRUNKLINE_HOME and TRUNKLINE_MCP_FILE", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    write(PROJECT_FILE, { servers: { theirs: hello() } });
    vi.stubEnv("TRUNKLINE_TRUST", "all");
    expect(await statesOf()).toEqual({ mine: "pending", theirs: "pending" });
    write("elsewhere/settings.json", { mcpServers: { other: hello() } });
    vi.stubEnv("TRUNKLINE_HOME", "../elsewhere");
    expect(await statesOf()).toEqual({ other: "pending", theirs: "pending" });
    vi.stubEnv("TRUNKLINE_MCP_FILE", write("named.json", { servers: { named: hello() } }));
    expect(await statesOf()).toEqual({ named: "pending" });
  });

  it("rejects if the file that the environment names is missing", async () => {
    vi.stubEnv("TRUNKLINE_MCP_FILE", join(base, "missing.json"));
    await expect(openHub()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("takes another environment and another home", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    write("other/settings.json", { mcpServers: { other: hello("${OPEN_HUB_NODE}") } });
    const env = { PATH: process.env.PATH, OPEN_HUB_NODE: process.execPath };
    expect(await statesOf({ home: join(base, "other"), env, lazy: false })).toEqual({ other: "connected" });
  });

  it("finds the user's settings below the HOME of another environment", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    write("someone/.trunkline/settings.json", { mcpServers: { theirs: hello() } });
    expect(await statesOf({ env: { HOME: join(base, "someone") } })).toEqual({ theirs: "pending" });
    expect(await statesOf({ env: { USERPROFILE: join(base, "someone") } })).toEqual({ theirs: "pending" });
    expect(await statesOf({ env: {} })).toEqual({ mine: "pending" });
  });

  it("has no servers if none is configured, and says how to add one", async () => {
    await using hub = await openHub();
    expect(hub.status()).toEqual([]);
    expect(hub.tools()).toEqual([]);
    await expect(hub.call("mine.hello")).rejects.toMatchObject({
      code: "TOOL_NOT_FOUND",
      hint: expect.stringContaining("trunkline servers add"),
    });
  });

  it.each([
    ["options", { lazy: true }],
    ["a file's content", { mcpServers: { mine: hello() } }],
    ["a file's content in another dialect", { servers: { mine: hello() } }],
    ["a path", "mcp.json"],
    ["null", null],
  ])("rejects %s in place of a loaded configuration, and says what to pass", async (_what, config) => {
    // As a program without types would call it.
    await expect(openHub(config as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "openHub takes a configuration from loadConfig, or none.",
      hint: expect.stringContaining("openHub(undefined, options)"),
    });
  });

  it("stops when the signal is aborted", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    await expect(openHub(undefined, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("openHub with servers that a program names", () => {
  it("connects them, and none that files define", async () => {
    write(USER_SETTINGS, { mcpServers: { mine: hello() } });
    write(PROJECT_FILE, { mcpServers: { theirs: hello() } });
    await using server = await startServer("hello");
    const mcpServers = { local: hello(), remote: { url: server.url }, later: { ...hello(), lazy: true } };
    await using hub = await openHub(await loadConfig({ cwd: process.cwd(), env: process.env, home, mcpServers }));
    expect(hub.status().map(({ name, state }) => [name, state])).toEqual([
      ["later", "pending"],
      ["local", "connected"],
      ["remote", "connected"],
    ]);
    expect((await hub.call("remote.hello", { name: "Ada" })).text).toBe("Hello, Ada!");
  });

  it("gets a diagnostic for a mistake in one of them", async () => {
    const mcpServers = { wrong: { command: 5 }, right: hello() };
    // As a program without types would call it.
    const { diagnostics, servers } = await loadConfig({ cwd: process.cwd(), mcpServers: mcpServers as never });
    expect(servers.map(({ name }) => name)).toEqual(["right"]);
    expect(diagnostics).toMatchObject([{ severity: "warning", file: "the given servers", server: "wrong" }]);
  });
});
