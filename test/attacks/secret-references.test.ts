// Secrets by reference: a project gets only what it was granted by name, and values appear nowhere.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { serverRows } from "../../packages/cli/src/console/server-rows.js";
import { ConnectionPool, loadConfig, openHub } from "../../packages/client/src/index.js";
import { Redactor } from "../../packages/core/src/index.js";
import { Place, type RunOptions, root } from "../e2e/command.js";
import { startServer } from "../servers/start.js";
import { StandInKeychain } from "../support/stand-in-keychain.js";

const VALUE = "s3cr3t-value-0815";
const mirror = join(root, "test", "servers", "mirror.js");

/** A project and a keychain that has the secret TOKEN. */
class Stage extends Place {
  readonly keychain = new StandInKeychain(join(this.base, "bin"));

  constructor(files: Record<string, unknown> = {}) {
    super(files);
    this.keychain.set("TOKEN", VALUE);
  }

  override run(args: readonly string[], options: RunOptions & { input?: string } = {}) {
    return super.run(args, { ...options, env: { PATH: this.keychain.path, ...options.env } });
  }

  /** The lookups so far. */
  get lookups(): string[][] {
    return this.keychain.calls;
  }

  /** Whether a text is in a file below the home folder. */
  isWritten(text: string): boolean {
    return filesBelow(this.home).some((file) => readFileSync(file, "latin1").includes(text));
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const project = (entry: Record<string, unknown>) => ({ ".trunkline/mcp.json": { mcpServers: { p: entry } } });
const starting = (env: Record<string, string>) => ({ command: process.execPath, args: [mirror], env });

describe("a project that asks for a secret", () => {
  it("does not get it without a grant, even if everything else is approved", async () => {
    using stage = new Stage(project(starting({ T: "${secret:TOKEN}" })));
    await stage.run(["trust", "--yes"]);
    for (const env of [undefined, { TRUNKLINE_TRUST: "all" }]) {
      const { code, stderr } = await stage.run(["call", "p.show"], { env });
      expect(stderr).toContain("asks for the secret TOKEN, which you have not granted");
      expect(stderr).toContain("trunkline trust --secret TOKEN");
      expect(code).toBe(2);
    }
    expect(stage.lookups).toEqual([]);
  });

  it("does not get it through --mcp or a file that its .env names", async () => {
    using stage = new Stage({
      ".env": "TRUNKLINE_MCP_FILE=other.json\n",
      "other.json": { mcpServers: { p: starting({ T: "${secret:TOKEN}" }) } },
    });
    for (const args of [["--mcp", "other.json"], []]) {
      const { stderr } = await stage.run(["call", "p.show", ...args], { env: { TRUNKLINE_TRUST: "all" } });
      expect(stderr).toContain("which you have not granted");
    }
    expect(stage.lookups).toEqual([]);
  });

  it("gets only the secret that was named", async () => {
    using stage = new Stage(project(starting({ T: "${secret:TOKEN}", O: "${secret:OTHER}" })));
    stage.keychain.set("OTHER", "another-secret");
    await stage.run(["trust", "--yes"]);
    await stage.run(["trust", "--secret", "TOKEN"]);
    const { stderr } = await stage.run(["call", "p.show"]);
    expect(stderr).toContain("asks for the secret OTHER,");
    expect(stage.lookups).toEqual([]);
    expect((await stage.run(["trust", "--secret", "NOTHING"])).stderr).toContain("No file asks for");
    await stage.run(["trust", "--secret", "OTHER"]);
    expect((await stage.run(["call", "p.show"])).code).toBe(0);
  });

  it("loses the grant when it changes what runs or where data goes", async () => {
    await using echo = await startServer("http-echo");
    const entry = { url: "https://wiki.example/mcp", headers: { Authorization: "Bearer ${secret:TOKEN}" } };
    using stage = new Stage(project(entry));
    await stage.run(["trust", "--yes", "--secret", "TOKEN"]);
    stage.write(".trunkline/mcp.json", { mcpServers: { p: { ...entry, url: echo.url } } });
    await stage.run(["tools"], { env: { TRUNKLINE_TRUST: "all" } });
    expect(stage.lookups).toEqual([]);
  });

  it("loses it with the approval", async () => {
    using stage = new Stage(project(starting({ T: "${secret:TOKEN}" })));
    await stage.run(["trust", "--yes", "--secret", "TOKEN"]);
    expect((await stage.run(["call", "p.show"])).code).toBe(0);
    await stage.run(["trust", "--revoke"]);
    const before = stage.lookups.length;
    await stage.run(["call", "p.show"], { env: { TRUNKLINE_TRUST: "all" } });
    expect(stage.lookups).toHaveLength(before);
  });

  it("cannot run a command, whatever was granted", async () => {
    using stage = new Stage();
    const witness = join(stage.base, "ran");
    stage.write(".trunkline/mcp.json", { mcpServers: { p: starting({ T: `\${cmd:touch ${witness}; echo x}` }) } });
    await stage.run(["trust", "--yes"]);
    await stage.run(["trust", "--secret", `cmd:touch ${witness}; echo x`]);
    const { stderr } = await stage.run(["call", "p.show"], { env: { TRUNKLINE_TRUST: "all" } });
    expect(stderr).toContain("only works in your own settings");
    expect(existsSync(witness)).toBe(false);
  });

  it("cannot smuggle a reference into the user's own entry, or its own, through a variable", async () => {
    using stage = new Stage({ ".env": "T=${secret:TOKEN}\n", ...project(starting({ T: "${T}" })) });
    const { stdout } = await stage.run(["call", "p.show", "--json"], { env: { TRUNKLINE_TRUST: "all" } });
    expect(stdout).not.toBe("");
    expect(stage.lookups).toEqual([]);
  });

  it("cannot add an entry that shares a secret which the user wrote into another", async () => {
    using stage = new Stage(project(starting({ T: "${secret:TOKEN}" })));
    const words = ["servers", "add", "mine", "--project", "--env", "T=${secret:TOKEN}", "--", process.execPath, mirror];
    await stage.run(words);
    await stage.run(["call", "p.show"], { env: { TRUNKLINE_TRUST: "all" } });
    expect(stage.lookups).toEqual([]);
  });

  it("does not provide the program that is asked", async () => {
    using stage = new Stage();
    const planted = join(stage.cwd, "node_modules", ".bin");
    mkdirSync(planted, { recursive: true });
    const witness = join(stage.base, "planted");
    for (const name of ["secret-tool", "security"]) {
      writeFileSync(join(planted, name), `#!/bin/sh\ntouch ${witness}\necho planted-value\n`);
      chmodSync(join(planted, name), 0o755);
    }
    const PATH = `${planted}${delimiter}${stage.keychain.path}`;
    await stage.run(["secrets", "set", "OTHER"], { env: { PATH }, input: "another-secret" });
    const words = ["servers", "add", "u", "--user", "--env", "T=${secret:OTHER}", "--", process.execPath, mirror];
    await stage.run(words);
    const { code } = await stage.run(["call", "u.show"], { env: { PATH } });
    expect(code).toBe(0);
    expect(stage.keychain.kept.OTHER).toBeDefined();
    expect(existsSync(witness)).toBe(false);
  });
});

describe("the value of a secret", () => {
  it("is in no output, log, error, report or file", async () => {
    using stage = new Stage();
    const fails =
      "console.error(`token ${process.env.T}`, Buffer.from(process.env.T).toString('base64')); process.exit(1)";
    mkdirSync(join(stage.home, ".trunkline"));
    const settings = {
      mcpServers: {
        u: starting({ T: "${secret:TOKEN}" }),
        failing: { command: process.execPath, args: ["-e", fails], env: { T: "${secret:TOKEN}" } },
        arg: { command: process.execPath, args: ["-e", "process.exit(1)", "--token=${secret:TOKEN}"] },
        remote: { url: "http://127.0.0.1:1/${secret:TOKEN}", headers: { "X-Key": "${secret:TOKEN}" } },
        nested: { command: "/nowhere/${secret:TOKEN}" },
      },
    };
    writeFileSync(join(stage.home, ".trunkline", "settings.json"), JSON.stringify(settings));
    const env = { TRUNKLINE_LOG_LEVEL: "debug" };
    const refused = ["u.refuse", "code:=-32000", `message=${VALUE}`];
    const lines = [
      ["tools"],
      ["tools", "--json"],
      ["call", ...refused],
      ["call", ...refused, "--json"],
      ["doctor"],
      ["doctor", "--json"],
      ["servers", "list", "--json"],
      ["execute", ...refused],
      ["log"],
      ["secrets", "list", "--json"],
    ];
    let lookups = 0;
    for (const line of lines) {
      const { stdout, stderr } = await stage.run(line, { env });
      for (const form of [VALUE, Buffer.from(VALUE).toString("base64")])
        expect(stdout + stderr, line.join(" ")).not.toContain(form);
      lookups = stage.lookups.length;
    }
    expect(lookups).toBeGreaterThan(0);
    expect(stage.isWritten(VALUE)).toBe(false);
  });

  it("is not in the console's rows, and not in the status of a library's hub", async () => {
    using stage = new Stage();
    const env = { PATH: stage.keychain.path, HOME: stage.home };
    const fails = "console.error('token', process.env.T); process.exit(1)";
    stage.write("mcp.json", {
      mcpServers: { p: { command: process.execPath, args: ["-e", fails], env: { T: "${secret:TOKEN}" } } },
    });
    const grants = { grantedSecrets: () => ["TOKEN"] };
    const config = await loadConfig({ cwd: stage.cwd, env, mcpPath: "mcp.json", ...grants });
    await using hub = await openHub(config, { env, redactor: new Redactor() });
    const sources = { config, running: [], figures: new Map(), held: new Map(), connecting: new Set<string>() };
    const shown = JSON.stringify([hub.status(), serverRows({ status: hub.status(), ...sources }), hub.warnings()]);
    expect(shown).toContain("token <redacted>");
    expect(shown).not.toContain(VALUE);
    expect(JSON.stringify(config)).not.toContain(VALUE);
  });

  it("is hidden line by line if it has several", async () => {
    using stage = new Stage();
    stage.keychain.set("TOKEN", "first-part\nsecond-part");
    const fails = "console.error(process.env.T); process.exit(1)";
    const { stderr } = await stage.run(["tools", "--env", "T=${secret:TOKEN}", "--", process.execPath, "-e", fails]);
    expect(stderr).toContain("<redacted>");
    expect(stderr).not.toMatch(/first-part|second-part/);
  });

  it("with a line break does not become a second header or another URL", async () => {
    await using echo = await startServer("http-echo");
    using stage = new Stage();
    stage.keychain.set("TOKEN", "abcdefgh\r\nX-Admin: true");
    for (const words of [
      ["--url", echo.url, "--header", "A: ${secret:TOKEN}"],
      ["--url", `${echo.url}?k=\${secret:TOKEN}`],
    ]) {
      const { code, stderr } = await stage.run(["tools", ...words]);
      expect(stderr).toContain("has a line break");
      expect(stderr).not.toContain("X-Admin");
      expect(code).not.toBe(0);
    }
  });

  it("is not repeated when it is typed in place of the name", async () => {
    using stage = new Stage();
    const { stderr, code } = await stage.run(["secrets", "set", `${VALUE}!`], { input: "x" });
    expect(stderr).not.toContain(VALUE);
    expect(code).toBe(2);
    const excess = await stage.run(["secrets", "set", "NAME", VALUE], { input: "x" });
    expect(excess.stderr).not.toContain(VALUE);
    expect(excess.code).toBe(2);
  });
});

describe("a name that looks like an option", () => {
  it.each(["--help", "-a", "a b", "$(id)"])("is not passed to the keychain: %s", async (name) => {
    using stage = new Stage();
    const set = await stage.run(["secrets", "set", "--", name], { input: VALUE });
    expect(set.code).toBe(2);
    const used = await stage.run(["tools", "--env", `T=\${secret:${name}}`, "--", process.execPath, mirror]);
    expect(used.stderr).toContain("cannot exist");
    expect(stage.lookups).toEqual([]);
  });
});

describe("two workspaces in one process", () => {
  it("do not share a server that has a secret, and each looks it up for itself", async () => {
    using one = new Stage();
    using other = new Stage();
    const settings = { mcpServers: { u: { ...starting({ T: "${secret:TOKEN}" }), share: "user" } } };
    // In the user's own settings everything but the workspace is the same.
    const home = join(one.home, ".trunkline");
    mkdirSync(home);
    writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
    await using pool = new ConnectionPool();
    const env = { PATH: one.keychain.path, HOME: one.home };
    const open = async ({ cwd }: Stage) =>
      await openHub(await loadConfig({ cwd, env, home }), { env, home, connections: pool });
    await using first = await open(one);
    await using second = await open(other);
    await using again = await open(one);
    const [a, b, c] = [first, second, again].map((hub) => hub.status()[0]?.pid);
    expect(a).toBeDefined();
    expect(b).toBeDefined();
    expect(a).not.toBe(b);
    expect(c).toBe(a);
    expect(one.lookups).toHaveLength(2);
  });

  it("do not share it if their keychains differ", async () => {
    using stage = new Stage();
    const path = stage.write("mcp.json", { mcpServers: { u: starting({ T: "${secret:TOKEN}" }) } });
    await using pool = new ConnectionPool();
    const open = async (bus: string) => {
      const env = { PATH: stage.keychain.path, HOME: stage.home, DBUS_SESSION_BUS_ADDRESS: bus };
      const config = await loadConfig({ cwd: stage.cwd, env, mcpPath: path, grantedSecrets: () => ["TOKEN"] });
      return await openHub(config, { env, connections: pool });
    };
    await using first = await open("unix:path=/run/one");
    await using second = await open("unix:path=/run/two");
    expect(first.status()[0]?.pid).not.toBe(second.status()[0]?.pid);
  });
});
