// Entries from the READMEs of popular servers, in the user's own settings, in a repository that was just opened. They
// start without a question. The few that mean the working directory get a line in doctor that says how to write them.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OpenedRepository } from "./recorded-program.js";

const files = (...args: string[]) => ({
  command: "npx",
  args: ["-y", "@modelcontextprotocol/server-filesystem", ...args],
});

/** Entries that work as they are. */
const WORKING: Record<string, Record<string, unknown>> = {
  filesystem: files("${workspaceFolder}"),
  "filesystem-fixed": files("/srv/notes", "/srv/docs"),
  memory: {
    command: "npx",
    args: ["-y", "@modelcontextprotocol/server-memory"],
    env: { MEMORY_FILE_PATH: "/srv/memory.json" },
  },
  everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
  "sequential-thinking": { command: "npx", args: ["-y", "@modelcontextprotocol/server-sequential-thinking"] },
  "github-docker": {
    command: "docker",
    args: ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${env:GITHUB_TOKEN}" },
  },
  git: { command: "uvx", args: ["mcp-server-git", "--repository", "${workspaceFolder}"] },
  fetch: { command: "uvx", args: ["mcp-server-fetch"] },
  time: { command: "python3", args: ["-m", "mcp_server_time", "--local-timezone=Europe/Berlin"] },
  "docker-mount": {
    command: "docker",
    args: [
      "run",
      "-i",
      "--rm",
      "--mount",
      "type=bind,src=${workspaceFolder},dst=/projects",
      "mcp/filesystem",
      "/projects",
    ],
  },
  playwright: { command: "npx", args: ["@playwright/mcp@latest"] },
  context7: { command: "bunx", args: ["-y", "@upstash/context7-mcp"] },
  "uv-project": { command: "uv", args: ["--directory", "/srv/weather", "run", "weather.py"] },
  remote: { command: "npx", args: ["-y", "mcp-remote", "https://mcp.example.com/sse"] },
  "own-folder": { command: "uvx", args: ["mcp-server-sqlite", "--db-path", "data.db"], cwd: "${userHome}" },
};

/** Entries that used to mean the opened folder, and how doctor says to write them. */
const ADVISED: Record<string, [entry: Record<string, unknown>, advice: string]> = {
  "filesystem-dot": [files("."), '"args": ["-y","@modelcontextprotocol/server-filesystem","${workspaceFolder}"]'],
  "git-dot": [
    { command: "uvx", args: ["mcp-server-git", "--repository", "."] },
    '"args": ["mcp-server-git","--repository","${workspaceFolder}"]',
  ],
  "docker-dot": [
    { command: "docker", args: ["run", "-i", "--rm", "-v", "./data:/data", "mcp/sqlite"] },
    '"args": ["run","-i","--rm","-v","${workspaceFolder}/data:/data","mcp/sqlite"]',
  ],
  "local-script": [{ command: "node", args: ["tools/server.js"] }, "/project/tools/server.js"],
  "in-workspace": [
    { command: "uvx", args: ["mcp-server-make"], cwd: "${workspaceFolder}" },
    "trunkline trust --workspace",
  ],
};

let place: OpenedRepository;
let report: string;
let diagnostics: { server?: string; message: string }[];

beforeAll(async () => {
  place = new OpenedRepository({ files: { "tools/server.js": "" } });
  for (const program of ["npx", "uvx", "docker", "python3", "bunx", "uv", "node"]) place.program(program);
  const advised = Object.entries(ADVISED).map(([name, [entry]]) => [name, entry]);
  place.settings({ ...WORKING, ...Object.fromEntries(advised) });
  const env = { GITHUB_TOKEN: "ghp_0123456789" };
  report = (await place.trunkline(["doctor"], env)).stdout;
  const { mcp } = JSON.parse((await place.trunkline(["doctor", "--format", "json"], env)).stdout);
  diagnostics = mcp.servers.flatMap((server: { diagnostics: [] }) => server.diagnostics);
}, 120_000);
afterAll(() => place[Symbol.dispose]());

describe("everyday entries ask nothing", () => {
  it.each(Object.keys(WORKING))("%s starts, with nothing to say about it", (name) => {
    expect(report).toContain(`✓ ${name}  `);
    expect(diagnostics.filter(({ server }) => server === name)).toEqual([]);
    const args = ((WORKING[name]?.args ?? []) as string[]).map((arg) => arg.replace("${workspaceFolder}", place.cwd));
    const start = place.starts.find(({ argv }) => JSON.stringify(argv) === JSON.stringify(args));
    expect(start?.cwd.endsWith(name === "own-folder" ? "/home" : join(".trunkline", "run", name))).toBe(true);
  });

  it("servers get the tokens of the user", () => {
    const start = place.starts.find(({ argv }) => argv.includes("ghcr.io/github/github-mcp-server"));
    expect(start?.env.GITHUB_PERSONAL_ACCESS_TOKEN).toBe("ghp_0123456789");
  });

  it.each(Object.entries(ADVISED))("doctor says how to write %s", (_, [, advice]) => {
    expect(report).toContain(advice);
  });

  it("import and servers add say it too", async () => {
    const cursor = { mcpServers: { files: files("./notes") } };
    place.outside(join(place.home, ".cursor", "mcp.json"), JSON.stringify(cursor));
    const advice = '"${workspaceFolder}/notes"';
    expect((await place.trunkline(["import", "cursor", "--dry-run"])).stdout).toContain(advice);
    const added = await place.trunkline(["servers", "add", "notes", "--", "npx", "-y", "some-server", "./notes"]);
    expect(added.stderr).toContain(advice);
  });

  it("a project's own entries run in the project as before, and relative paths mean the project", async () => {
    using other = new OpenedRepository({ files: { ".trunkline/mcp.json": { servers: { fs: files(".") } } } });
    other.program("npx");
    const { stderr } = await other.trunkline(["tools"], { TRUNKLINE_TRUST: "all" });
    expect(stderr).toBe("");
    expect(other.starts.map(({ cwd, argv }) => [cwd, argv.at(-1)])).toEqual([[other.cwd, "."]]);
  });

  it("CI: a file of the repository named with --mcp runs in the repository, without approval", async () => {
    using other = new OpenedRepository({ files: { "ci/mcp.json": { servers: { fs: files(".") } }, ".env": "A=1" } });
    other.program("npx");
    const { stderr, code } = await other.trunkline(["tools", "--mcp", "ci/mcp.json"]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(other.starts.map(({ cwd }) => cwd)).toEqual([other.cwd]);
  });

  it("CI: TRUNKLINE_TRUST=all lets the user's servers use the workspace", async () => {
    using other = new OpenedRepository({
      settings: { x: { command: "npx", cwd: "${workspaceFolder}", env: { A: "${A}" } } },
    });
    other.program("npx");
    other.write(".env", "A=from-the-project");
    const { stderr, code } = await other.trunkline(["tools"], { TRUNKLINE_TRUST: "all" });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    expect(other.starts[0]).toMatchObject({ cwd: other.cwd, env: { A: "from-the-project" } });
  });
});
