import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../client/src/index.js";
import { Place, said, server } from "./place.js";

const one = (name: string, extra: Record<string, unknown> = {}) => ({
  mcpServers: { [name]: { command: name, ...extra } },
});
const names = (config: { servers: readonly { name: string }[] }) => config.servers.map(({ name }) => name);

describe("finding configuration", () => {
  it("finds no servers if there is no file, and says which file it looks for first", async () => {
    using place = new Place();
    const config = await place.load();
    expect(config).toMatchObject({ exists: false, servers: [], diagnostics: [], rejected: [], secrets: [] });
    expect(config.path).toBe(join(place.cwd, ".trunkline", "mcp.json"));
    expect(config.files.map(({ path, scope, exists }) => [path, scope, exists])).toEqual([
      [join(place.cwd, ".trunkline", "mcp.json"), "project", false],
      [join(place.cwd, ".trunkline", "settings.json"), "project", false],
      [join(place.home, "settings.json"), "user", false],
    ]);
  });

  it("uses the --mcp file as the whole configuration", async () => {
    using place = new Place({
      "work.json": one("named"),
      ".trunkline/mcp.json": one("project"),
      "home/settings.json": one("user"),
      ".env": "TRUNKLINE_MCP_FILE=other.json",
    });
    const config = await place.load({ mcpPath: "./work.json", env: { TRUNKLINE_MCP_FILE: "missing.json" } });
    expect(names(config)).toEqual(["named"]);
    expect(config.files).toHaveLength(1);
    expect(config).toMatchObject({ path: join(place.cwd, "work.json"), exists: true });
    expect(server(config, "named")).toMatchObject({ scope: "explicit", trusted: true });
  });

  describe("TRUNKLINE_MCP_FILE", () => {
    it.each([
      ["the environment beats .env", { TRUNKLINE_MCP_FILE: "a.json" }, "TRUNKLINE_MCP_FILE=b.json", ["a"]],
      ["an empty variable does not", { TRUNKLINE_MCP_FILE: "" }, "TRUNKLINE_MCP_FILE=b.json", ["b"]],
      ["export and quotes are understood", {}, "# a comment\nexport TRUNKLINE_MCP_FILE='b.json'", ["b"]],
      ["an empty one in .env names nothing", {}, "TRUNKLINE_MCP_FILE=", ["project"]],
      ["a commented one names nothing", {}, "# TRUNKLINE_MCP_FILE=b.json", ["project"]],
    ])("%s", async (_, env, dotEnv, expected) => {
      using place = new Place({
        "a.json": one("a"),
        "b.json": one("b"),
        ".env": dotEnv,
        ".trunkline/mcp.json": one("project"),
      });
      expect(names(await place.load({ env }))).toEqual(expected);
    });

    it("comes from the nearest .env upward, and is relative to that file's folder", async () => {
      using place = new Place({
        ".env": "TRUNKLINE_MCP_FILE=outer.json",
        "outer.json": one("outer"),
        "a/.env": "TRUNKLINE_MCP_FILE=inner.json",
        "a/inner.json": one("inner"),
        "a/b/.env": "OTHER=1",
        "c/file": "",
      });
      const inner = await place.load({ cwd: join(place.cwd, "a", "b") });
      expect(names(inner)).toEqual(["inner"]);
      expect(said(inner).join()).toContain(`TRUNKLINE_MCP_FILE in ${join(place.cwd, "a", ".env")}`);
      expect(names(await place.load({ cwd: join(place.cwd, "c") }))).toEqual(["outer"]);
    });

    it("is trusted when set in the environment, but not when set in the project's .env file", async () => {
      using place = new Place({ "a.json": one("a"), ".env": "TRUNKLINE_MCP_FILE=a.json" });
      const named = await place.load({ trustAll: false, env: { TRUNKLINE_MCP_FILE: "a.json" } });
      expect(server(named, "a")).toMatchObject({ scope: "explicit", trusted: true });
      const unconfirmed = await place.load({ trustAll: false });
      expect(server(unconfirmed, "a")).toMatchObject({ scope: "project", trusted: false });
      const confirmed = await place.load({ trustAll: false, isTrusted: () => true });
      expect(server(confirmed, "a")).toMatchObject({ trusted: true });
    });

    it("is not searched for above the git root", async () => {
      using place = new Place();
      place.write("../.env", "TRUNKLINE_MCP_FILE=x.json");
      expect((await place.load()).exists).toBe(false);
    });

    it.each(["missing.json", "broken.json"])("is an error if the file is %s", async (file) => {
      using place = new Place({ ".env": `TRUNKLINE_MCP_FILE=${file}`, "broken.json": "{" });
      await expect(place.load()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    });
  });

  it("searches for project files upward to the git root, and uses that folder as the workspace folder", async () => {
    using place = new Place({ ".trunkline/mcp.json": one("here", { args: ["${workspaceFolder}"], cwd: "sub" }) });
    const cwd = join(place.cwd, "deep", "er");
    mkdirSync(cwd, { recursive: true });
    const config = await place.load({ cwd });
    expect(config.workspaceFolder).toBe(place.cwd);
    expect(server(config, "here")).toMatchObject({ args: [place.cwd], cwd: join(place.cwd, "sub") });
    mkdirSync(join(place.cwd, "deep", ".git"));
    expect((await place.load({ cwd })).exists).toBe(false);
  });

  it("prefers the nearest project file", async () => {
    using place = new Place({ ".trunkline/mcp.json": one("outer"), "a/.trunkline/mcp.json": one("inner") });
    expect(names(await place.load({ cwd: join(place.cwd, "a") }))).toEqual(["inner"]);
  });

  it("merges by name: mcp.json over the project's settings over the user's", async () => {
    using place = new Place({
      ".trunkline/mcp.json": { servers: { a: { type: "stdio", command: "from-mcp" } } },
      ".trunkline/settings.json": { mcpServers: { a: { command: "no" }, b: { command: "from-project" } } },
      "home/settings.json": {
        mcpServers: { a: { command: "no" }, b: { command: "no" }, c: { command: "from-user" } },
        theme: "dark",
      },
    });
    const config = await place.load();
    expect(config.servers.map((s) => [s.name, s.type === "stdio" && s.command, s.scope, s.dialect])).toEqual([
      ["a", "from-mcp", "project", "servers"],
      ["b", "from-project", "project", "mcpServers"],
      ["c", "from-user", "user", "mcpServers"],
    ]);
    expect(config.path).toBe(join(place.cwd, ".trunkline", "mcp.json"));
  });

  it("always reports a project's entry that shadows the user's", async () => {
    using place = new Place({ ".trunkline/settings.json": one("a"), "home/settings.json": one("a") });
    const { diagnostics } = await place.load();
    expect(diagnostics).toEqual([
      {
        severity: "note",
        server: "a",
        file: join(place.cwd, ".trunkline", "settings.json"),
        line: 3,
        column: 5,
        message: expect.stringContaining(`instead of your own in ${join(place.home, "settings.json")}`),
        shadowing: true,
      },
    ]);
  });

  it("uses the user's entry if the project's is malformed", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { a: { args: 1 } } }, "home/settings.json": one("a") });
    const config = await place.load();
    expect(server(config, "a").scope).toBe("user");
    expect(config.rejected).toEqual([{ name: "a", scope: "project", file: config.path }]);
  });

  it("counts the user's file once, as the user's, if the working directory is the home folder", async () => {
    using place = new Place({ "home/settings.json": one("a"), "home/mcp.json": one("b") });
    const isTrusted = () => expect.unreachable("nothing of the user's needs confirmation");
    const config = await place.load({ cwd: dirname(place.home), trustAll: false, isTrusted });
    expect(config.servers.map(({ name, scope, trusted }) => [name, scope, trusted])).toEqual([
      ["b", "user", true],
      ["a", "user", true],
    ]);
    expect(config.files.map(({ scope }) => scope)).toEqual(["user", "user"]);
    expect(said(config)).toEqual([]);
    expect(config.workspaceFolder).toBe(dirname(place.home));
  });

  it("counts the user's file once even through a link", async () => {
    using place = new Place({ "home/settings.json": one("a") });
    symlinkSync(place.home, join(place.cwd, ".trunkline"));
    const config = await place.load({ trustAll: false });
    expect(config.files.filter(({ exists }) => exists).map(({ scope }) => scope)).toEqual(["user"]);
    expect(server(config, "a").trusted).toBe(true);
  });

  it("has no user settings without a home", async () => {
    using place = new Place({ "home/settings.json": one("a") });
    expect((await loadConfig({ cwd: place.cwd })).servers).toEqual([]);
  });

  it.each([
    ["work.json", ".", "."],
    ["a/b/work.json", "a", "."],
    ["a/.vscode/mcp.json", ".", "a"],
    ["a/.cursor/mcp.json", "a", "a"],
  ])("for the explicit file %s in %s uses the workspace folder %s", async (file, cwd, expected) => {
    using place = new Place({ [file]: one("x"), "a/file": "" });
    const config = await place.load({ cwd: join(place.cwd, cwd), mcpPath: join(place.cwd, file) });
    expect(config.workspaceFolder).toBe(join(place.cwd, expected));
  });

  it("does not make a home folder that is kept in Git the workspace of everything in it", async () => {
    using place = new Place({ "a/file": "" });
    const cwd = join(place.cwd, "a");
    expect((await place.load({ cwd, env: { HOME: place.cwd } })).workspaceFolder).toBe(cwd);
  });

  it("stops when the signal aborts", async () => {
    using place = new Place({ ".trunkline/mcp.json": one("a") });
    await expect(place.load({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("trust", () => {
  it("trusts nothing in a project by default, and asks for approval with the path and fingerprint", async () => {
    using place = new Place({
      ".trunkline/mcp.json": one("a"),
      ".trunkline/settings.json": one("b"),
      "home/settings.json": one("c"),
    });
    const asked: { path: string; fingerprint: string }[] = [];
    const untrusted = await place.load({ trustAll: false });
    expect(untrusted.servers.map(({ name, trusted }) => [name, trusted])).toEqual([
      ["a", false],
      ["b", false],
      ["c", true],
    ]);
    const config = await place.load({
      trustAll: false,
      isTrusted: async (file) => asked.push(file) > 0 && file.path.endsWith("mcp.json"),
    });
    expect(config.servers.map(({ trusted }) => trusted)).toEqual([true, false, true]);
    expect(asked).toEqual(config.files.slice(0, 2).map(({ path, fingerprint }) => ({ path, fingerprint })));
    expect(asked[0]?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect((await place.load()).servers.every(({ trusted }) => trusted)).toBe(true);
  });
});

describe("values from a project's own env files", () => {
  const files = {
    ".trunkline/mcp.json": {
      mcpServers: {
        tool: { command: "${TOOL}", args: ["${ARG}"], envFile: "server.env" },
        web: { url: "${BASE}/mcp?key=${KEY}", headers: { Authorization: "Bearer ${TOKEN}" } },
      },
    },
    ".env": "TOOL=node\nARG=a\nBASE=http://one.example\nKEY=secret-key\nTOKEN=secret-token\n",
    "server.env": "LEVEL=1\nAPI_TOKEN=one\n",
  };
  const fingerprint = async (place: Place, env = {}) =>
    (await place.load({ trustAll: false, env })).files[0]?.fingerprint;

  it.each([
    ["the command", ".env", files[".env"].replace("TOOL=node", "TOOL=/tmp/evil")],
    ["an argument", ".env", files[".env"].replace("ARG=a", "ARG=--require=evil")],
    ["the address", ".env", files[".env"].replace("one.example", "evil.example")],
    ["the names in the env file", "server.env", "LEVEL=1\nAPI_TOKEN=one\nNODE_OPTIONS=--require=evil\n"],
    ["a value in the env file", "server.env", "LEVEL=2\nAPI_TOKEN=one\n"],
    ["the value of a token to something else", "server.env", "LEVEL=1\nAPI_TOKEN=--require evil\n"],
  ])("require a new approval when %s changes", async (_, file, text) => {
    using place = new Place(files);
    const before = await fingerprint(place);
    place.write(file, text);
    expect(await fingerprint(place)).not.toBe(before);
  });

  it("do not matter if the process environment overrides them, or if they are only tokens", async () => {
    using place = new Place(files);
    const env = { TOOL: "node", ARG: "a", BASE: "http://one.example", KEY: "k" };
    const before = await fingerprint(place, env);
    place.write(".env", "TOOL=/tmp/evil\nARG=x\nBASE=http://evil.example\nKEY=x\nTOKEN=other\n");
    place.write("server.env", "LEVEL=1\nAPI_TOKEN=two\n");
    expect(await fingerprint(place, env)).toBe(before);
    expect(await fingerprint(place, { ...env, TOOL: "other" })).toBe(before);
  });

  it("are shown for the program and the host, but not if they could be secrets", async () => {
    using place = new Place(files);
    const shown = (await place.load({ trustAll: false })).files[0]?.wouldRun.map(({ what }) => what).join("\n") ?? "";
    expect(shown).toContain("→ node");
    expect(shown).toContain("→ http://one.example");
    expect(shown).not.toContain("secret");
  });
});
