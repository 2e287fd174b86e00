// A user has servers in their own settings and opens a strange repository. Nothing in the repository may decide what
// these servers run, or where they send data.
import { existsSync, mkdirSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAddress } from "../../packages/cli/src/terminal/open-address.js";
import { type LoadedConfig, openHub } from "../../packages/client/src/index.js";
import { OpenedRepository, recorder } from "./recorded-program.js";

const node = process.execPath;

describe("a server from the user's settings", () => {
  it("starts in its own empty folder, which only the user can enter", async () => {
    using place = new OpenedRepository({ settings: { fetch: { command: "uvx", args: ["mcp-server-fetch"] } } });
    place.program("uvx");
    expect((await place.trunkline(["call", "fetch.hello"])).code).toBe(0);
    const folder = join(realpathSync(place.trunklineHome), "run", "fetch");
    expect(place.starts.map(({ cwd }) => cwd)).toEqual([folder]);
    expect(readdirSync(folder)).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("does not run a Python module of the repository", async () => {
    using place = new OpenedRepository({ settings: { x: { command: "python3", args: ["-m", "mcp_server_x"] } } });
    place.program("python3");
    // What `python3 -m` does: the working directory comes first on the module path.
    place.write("mcp_server_x.py", "raise SystemExit('taken over')");
    await place.trunkline(["doctor"]);
    expect(place.starts.map(({ cwd }) => readdirSync(cwd))).toEqual([[]]);
  });

  it("does not load a package from the repository's node_modules", async () => {
    using place = new OpenedRepository();
    place.write("node_modules/helper/index.js", recorder("taken over", place.log));
    place.settings({ x: { command: node, args: ["-e", "require('helper')"] } });
    const { stdout } = await place.trunkline(["doctor"]);
    expect(stdout).toContain("✗ x");
    expect(place.starts).toEqual([]);
  });

  it("finds no file of the repository in its folder or above", async () => {
    using place = new OpenedRepository({ settings: { x: { command: "npx", args: ["-y", "some-server"] } } });
    place.program("npx");
    const names = [".npmrc", ".python-version", ".tool-versions", "uv.toml", "pyproject.toml", "package.json", ".env"];
    for (const name of names) place.write(name, "x=1");
    mkdirSync(join(place.cwd, "sub"));
    await place.run(["doctor"], { cwd: join(place.cwd, "sub"), env: { PATH: place.path } });
    const cwd = place.starts[0]?.cwd ?? "";
    const folders = cwd.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/") || "/");
    expect(folders.flatMap((folder) => names.filter((name) => existsSync(join(folder, name))))).toEqual([]);
  });

  it("cannot leave the run folder by its name", async () => {
    const names = ["../escaped", "..", "/etc", "a/b", "a\\b", "x\u0000y", "CON", "x", "X", "Über", "y".repeat(300)];
    using place = new OpenedRepository();
    place.settings(Object.fromEntries(names.map((name) => [name, { command: "uvx" }])));
    place.program("uvx");
    await place.trunkline(["doctor"]);
    const run = join(realpathSync(place.trunklineHome), "run");
    expect(place.starts.map(({ cwd }) => join(cwd, ".."))).toEqual(names.map(() => run));
    expect(new Set(readdirSync(run).map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  it.each(["run", "run/x"])("does not start if %s is a link", async (link) => {
    using place = new OpenedRepository({ settings: { x: { command: "uvx" } } });
    place.program("uvx");
    mkdirSync(join(place.trunklineHome, link, ".."), { recursive: true });
    symlinkSync(place.cwd, join(place.trunklineHome, link));
    const { stdout } = await place.trunkline(["doctor"]);
    expect(place.starts).toEqual([]);
    expect(stdout).toContain("is a link");
  });

  it("inherits nothing that points into the repository or changes what interpreters load", async () => {
    using place = new OpenedRepository({ settings: { x: { command: "uvx" } } });
    place.program("uvx");
    const evil = join(place.cwd, "evil.js");
    await place.trunkline(["doctor"], {
      ...{ PWD: place.cwd, OLDPWD: place.cwd, INIT_CWD: place.cwd, PYTHONPATH: place.cwd, PYTHONSTARTUP: evil },
      ...{ NODE_OPTIONS: `--require=${evil}`, NODE_PATH: place.cwd, npm_config_registry: "http://127.0.0.1:1" },
      ...{ npm_config_local_prefix: place.cwd, VIRTUAL_ENV: place.cwd, UV_PROJECT: place.cwd, BASH_ENV: evil },
    });
    expect(place.starts).toHaveLength(1);
    expect(JSON.stringify(place.starts[0]?.env)).not.toContain(place.cwd);
    expect(place.starts[0]?.env).not.toHaveProperty("npm_config_registry");
  });

  it("does not run a program that the repository puts on the PATH", async () => {
    using place = new OpenedRepository({ settings: { x: { command: "uvx" } } });
    place.program("uvx");
    for (const folder of ["node_modules/.bin", "bin", "."]) place.program("uvx", join(place.cwd, folder));
    const linked = join(place.base, "linked");
    symlinkSync(join(place.cwd, "bin"), linked);
    // `npx trunkline` and `npm run` put node_modules/.bin first on the PATH.
    const before = [join(place.cwd, "node_modules", ".bin"), "node_modules/.bin", "", ".", linked];
    for (const cwd of [place.cwd, join(place.cwd, "bin")]) {
      await place.run(["doctor"], { cwd, env: { PATH: [...before, place.path].join(":") } });
    }
    const [first] = place.starts;
    expect(place.starts.map(({ cwd }) => cwd.startsWith(realpathSync(place.cwd)))).toEqual([false, false]);
    expect(first?.env.PATH?.split(":")).toEqual(place.path.split(":"));
  });

  it("does not run a program of the outer repository when a subfolder has its own .trunkline", async () => {
    using place = new OpenedRepository({ settings: { x: { command: "uvx" } } });
    const real = place.program("uvx");
    place.program("uvx", join(place.cwd, "node_modules", ".bin"));
    place.write("sub/.trunkline/settings.json", "{}");
    const path = `${join(place.cwd, "node_modules", ".bin")}:${place.path}`;
    await place.run(["doctor"], { cwd: join(place.cwd, "sub"), env: { PATH: path } });
    expect(place.starts[0]?.env.PATH?.split(":")[0]).toBe(join(real, ".."));
  });

  it.each([
    ["cwd", { command: "uvx", cwd: "${workspaceFolder}" }],
    ["cwd in a subfolder", { command: "uvx", cwd: "${workspaceFolder}/sub" }],
    ["cwd beside it", { command: "uvx", cwd: "${workspaceFolder}/../project/sub" }],
    ["a relative cwd", { command: "uvx", cwd: "sub" }],
    ["cwd from a variable", { command: "uvx", cwd: "${env:PWD}" }],
    ["command", { command: "${workspaceFolder}/sub/uvx" }],
    ["envFile", { command: "uvx", envFile: "${workspaceFolder}/.env" }],
    ["a relative envFile", { command: "uvx", envFile: ".env" }],
    ["a relative cwd that leaves it", { command: "uvx", cwd: ".." }],
    ["a relative envFile that leaves it", { command: "uvx", envFile: "../.env" }],
  ])("does not reach into an unapproved workspace through %s", async (_, entry) => {
    using place = new OpenedRepository({ settings: { x: entry } });
    place.program("uvx");
    place.program("uvx", join(place.cwd, "sub"));
    place.write(".env", "NODE_OPTIONS=--no-warnings");
    const doctor = async () => await place.trunkline(["doctor"], { PWD: place.cwd });
    const { stdout } = await doctor();
    expect(place.starts).toEqual([]);
    expect(stdout).toContain("trunkline trust --workspace");
    expect((await place.trunkline(["trust", "--workspace", "--yes"])).code).toBe(0);
    await doctor();
    expect(place.starts).toHaveLength(1);
    await place.trunkline(["trust", "--workspace", "--revoke"]);
    await doctor();
    expect(place.starts).toHaveLength(1);
  });

  it("gets no variable from the repository's .env until the workspace is approved", async () => {
    using place = new OpenedRepository({
      settings: {
        lab: { command: "uvx", env: { LAB_URL: "${LAB_URL:-https://lab.example}", LAB_TOKEN: "${env:LAB_TOKEN}" } },
      },
    });
    place.program("uvx");
    place.write(".env", "LAB_URL=https://evil.example\nLAB_TOKEN=planted");
    place.outside(join(place.home, ".env"), "LAB_TOKEN=of-the-user");
    const { stdout } = await place.trunkline(["doctor"]);
    expect(place.starts[0]?.env).toMatchObject({ LAB_URL: "https://lab.example" });
    expect(stdout).toMatch(/LAB_URL is set in .*\.env.*trunkline trust --workspace/);
    await place.trunkline(["trust", "--workspace", "--yes"]);
    await place.trunkline(["doctor"]);
    expect(place.starts[1]?.env).toMatchObject({ LAB_URL: "https://evil.example", LAB_TOKEN: "planted" });
  });

  it("is treated the same if it comes from a file outside the workspace that the user names", async () => {
    using place = new OpenedRepository();
    place.program("uvx");
    const named = place.outside(
      join(place.home, "mcp.json"),
      JSON.stringify({ mcpServers: { x: { command: "uvx" } } }),
    );
    await place.trunkline(["doctor", "--mcp", named]);
    await place.trunkline(["doctor"], { TRUNKLINE_MCP_FILE: named });
    const folder = join(realpathSync(place.trunklineHome), "run", "x");
    expect(place.starts.map(({ cwd }) => cwd)).toEqual([folder, folder]);
  });
});

describe("a workspace that was approved", () => {
  it("is the folder it was, not another one at the end of a link", async () => {
    using place = new OpenedRepository({ settings: { x: { command: "uvx", cwd: "${workspaceFolder}" } } });
    place.program("uvx");
    await place.trunkline(["trust", "--workspace", "--yes"]);
    const other = join(place.base, "other");
    mkdirSync(join(other, ".git"), { recursive: true });
    await place.run(["doctor"], { cwd: other, env: { PATH: place.path } });
    expect(place.starts).toEqual([]);
    const alias = join(place.base, "alias");
    symlinkSync(place.cwd, alias);
    await place.run(["doctor"], { cwd: alias, env: { PATH: place.path } });
    expect(place.starts.map(({ cwd }) => cwd)).toEqual([realpathSync(place.cwd)]);
  });

  it("cannot be the whole home folder", async () => {
    using place = new OpenedRepository();
    const { code, stderr } = await place.run(["trust", "--workspace", "--yes"], { cwd: place.home });
    expect(code).not.toBe(0);
    expect(stderr).toContain("home folder");
  });
});

describe.runIf(process.platform === "linux")("the program that opens a browser", () => {
  it("is never the repository's, which would get links that sign in", async () => {
    using place = new OpenedRepository({ settings: {} });
    mkdirSync(join(place.cwd, ".git"), { recursive: true });
    mkdirSync(join(place.cwd, "sub"));
    const opener = (folder: string) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\necho "$1" >> '${folder}/opened'\n`, { mode: 0o755 });
      return { folder, opened: () => existsSync(join(folder, "opened")) };
    };
    const planted = [join(place.cwd, "node_modules", ".bin"), join(place.cwd, "sub", "bin")].map(opener);
    const own = opener(join(place.base, "own"));
    const PATH = [...planted.map(({ folder }) => folder), "bin", "", own.folder, "/usr/bin", "/bin"].join(":");
    const options = {
      ...{ env: { PATH }, cwd: join(place.cwd, "sub"), userHome: place.home },
      signal: AbortSignal.timeout(60_000),
    };
    expect(await openAddress(new URL("http://127.0.0.1:1/#code=x"), options)).toBe(true);
    expect(planted.map(({ opened }) => opened())).toEqual([false, false]);
    expect(own.opened()).toBe(true);
  });
});

describe.skipIf(process.platform === "win32")("the npm that downloads a model", () => {
  it("is never the repository's", async () => {
    using place = new OpenedRepository({ settings: {} });
    mkdirSync(join(place.cwd, ".git"), { recursive: true });
    const npm = (folder: string) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "npm"), `#!/bin/sh\necho ran >> '${folder}/ran'\nexit 1\n`, { mode: 0o755 });
      return { folder, ran: () => existsSync(join(folder, "ran")) };
    };
    const [planted, own] = [npm(join(place.cwd, "node_modules", ".bin")), npm(join(place.base, "own-npm"))];
    const env = { PATH: [planted.folder, own.folder, "/usr/bin", "/bin"].join(":") };
    await place.run(["models", "pull"], { env });
    expect([planted.ran(), own.ran()]).toEqual([false, true]);
  });
});

describe("a hub opened by a program", () => {
  const definition = { name: "x", type: "stdio", scope: "user", dialect: "mcpServers", file: "x.json" } as const;
  const settings = { trusted: true, lazy: false, disabled: false, connectTimeoutMs: 10_000, callTimeoutMs: 10_000 };
  const configFor = (place: OpenedRepository): LoadedConfig => ({
    ...{ path: "x.json", exists: true, files: [], rejected: [], diagnostics: [], secrets: [] },
    workspaceFolder: place.cwd,
    servers: [{ ...definition, ...settings, command: place.program("uvx"), args: [], env: {} }],
  });

  it("without a home starts servers in the user's home folder", async () => {
    using place = new OpenedRepository();
    const hub = await openHub(configFor(place), { env: { PATH: place.path } });
    await hub.close();
    expect(place.starts.map(({ cwd }) => cwd)).toEqual([realpathSync(homedir())]);
  });

  it("does not use a home inside the workspace for it", async () => {
    using place = new OpenedRepository();
    writeFileSync(join(place.cwd, "package.json"), "{}");
    const hub = await openHub(configFor(place), { env: { PATH: place.path }, home: join(place.cwd, "home") });
    await hub.close();
    expect(place.starts.map(({ cwd }) => cwd)).toEqual([realpathSync(homedir())]);
  });
});
