// A user has approved what a project runs. Nothing that changes afterwards, and no other folder, may use that approval.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { loadConfig, TrustStore } from "../../packages/config/src/index.js";
import { Place } from "../e2e/command.js";
import { ServedStdio } from "../e2e/serve-stdio-client.js";
import { recorder } from "./recorded-program.js";

const SOON = { timeout: 20_000, interval: 100 };

/** An approved project in `good`, whose server records its starts, and room for another one beside it. */
class Approved extends Place {
  readonly good = join(this.base, "good");
  readonly evil = join(this.base, "evil");
  readonly log = join(this.base, "starts.jsonl");
  readonly entry = { command: process.execPath, args: ["server.cjs"], env: { NODE_OPTIONS: "--no-warnings" } };

  constructor() {
    super();
    for (const folder of [this.good, this.evil]) {
      mkdirSync(join(folder, ".git"), { recursive: true });
      this.put(folder, "server.cjs", recorder(folder, this.log));
    }
  }

  /** Writes a file of a project. */
  put(folder: string, path: string, content: unknown): void {
    const file = join(folder, path);
    mkdirSync(join(file, ".."), { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }

  /** Writes the project's servers and approves them. */
  async approve(servers: Record<string, unknown> = { x: this.entry }, more: Record<string, unknown> = {}) {
    this.put(this.good, ".trunkline/mcp.json", { servers, ...more });
    expect((await this.run(["trust", "--yes"], { cwd: this.good })).stdout).toContain("Approved");
  }

  get startCount(): number {
    return existsSync(this.log) ? readFileSync(this.log, "utf8").trim().split("\n").length : 0;
  }

  /** Whether the servers of a project are approved, without starting them. */
  async approved(cwd: string): Promise<boolean[]> {
    const home = join(this.home, ".trunkline");
    const { isTrusted } = new TrustStore(home);
    const { servers } = await loadConfig({ cwd, home, isTrusted, env: { HOME: this.home } });
    return servers.map(({ trusted }) => trusted);
  }

  /** The states of the servers of a project. */
  async states(cwd: string): Promise<string[]> {
    const { stdout } = await this.run(["doctor", "--format", "json"], { cwd });
    return JSON.parse(stdout).mcp.servers.map(({ state }: { state: string }) => state);
  }
}

describe("the approval of a project", () => {
  it.each([
    ["its folder", ".trunkline", "../good/.trunkline"],
    ["its mcp.json", ".trunkline/mcp.json", "../../good/.trunkline/mcp.json"],
    ["its settings.json", ".trunkline/settings.json", "../../good/.trunkline/mcp.json"],
  ])("does not hold for another project in which %s is a link to it", async (_, link, target) => {
    using place = new Approved();
    await place.approve();
    mkdirSync(join(place.evil, link, ".."), { recursive: true });
    symlinkSync(target, join(place.evil, link));
    const { stdout } = await place.run(["doctor"], { cwd: place.evil });
    expect(place.startCount).toBe(0);
    expect(stdout).toContain("is a link that leaves the project, so it is not used");
  });

  it("does not hold for a copy in another folder", async () => {
    using place = new Approved();
    await place.approve();
    cpSync(join(place.good, ".trunkline"), join(place.evil, ".trunkline"), { recursive: true });
    expect(await place.states(place.evil)).toEqual(["untrusted"]);
    expect(await place.states(place.good)).toEqual(["connected"]);
  });

  it("does not hold for a project whose .env names its file", async () => {
    using place = new Approved();
    await place.approve();
    place.put(place.evil, ".env", "TRUNKLINE_MCP_FILE=../good/.trunkline/mcp.json");
    const { code, stderr } = await place.run(["doctor"], { cwd: place.evil });
    expect(code).not.toBe(0);
    expect(stderr).toContain("outside the project");
    expect(place.startCount).toBe(0);
  });

  it("is not needed for the user's own rules and servers, which its .env cannot switch off", async () => {
    using place = new Approved();
    const policy = { policy: { add: "deny" }, paths: { outside: "deny" }, mcpServers: { own: { command: "own" } } };
    place.put(place.home, ".trunkline/settings.json", policy);
    place.put(place.evil, "empty.json", { mcpServers: {} });
    place.put(place.evil, ".env", "TRUNKLINE_MCP_FILE=empty.json");
    const home = join(place.home, ".trunkline");
    const { settings, servers } = await loadConfig({ cwd: place.evil, home, env: { HOME: place.home } });
    expect(settings).toMatchObject({ policies: [{ add: "deny" }], paths: { outside: "deny" } });
    expect(servers.map(({ name }) => name)).toEqual(["own"]);
    const add = '[{"op":"add","params":{"name":"a","content":"b"}}]';
    expect((await place.run(["execute", add], { cwd: place.evil })).stdout).toContain("DENIED");
  });

  it("does not hold for another folder of the project that uses the same file", async () => {
    using place = new Approved();
    place.put(place.good, "servers.json", { servers: { x: place.entry } });
    place.put(place.good, ".env", "TRUNKLINE_MCP_FILE=servers.json");
    await place.run(["trust", "--yes"], { cwd: place.good });
    expect(await place.approved(place.good)).toEqual([true]);
    // From here, the same entry would run sub/server.cjs.
    place.put(place.good, "sub/.trunkline/prompts/readme.md", "");
    expect(await place.approved(join(place.good, "sub"))).toEqual([false]);
  });

  it("does not hold for another project that takes its place", async () => {
    using place = new Approved();
    await place.approve();
    rmSync(place.good, { recursive: true });
    place.put(place.evil, ".trunkline/mcp.json", { servers: { x: place.entry } });
    symlinkSync(place.evil, place.good);
    expect(await place.states(place.good)).toEqual(["untrusted"]);
  });

  it.each([
    ["the value of a variable", { env: { NODE_OPTIONS: "--require=./evil.js" } }],
    ["a new variable", { env: { NODE_OPTIONS: "--no-warnings", LD_PRELOAD: "./evil.so" } }],
    ["the name of a referenced variable", { env: { NODE_OPTIONS: "${env:OTHER}" } }],
    ["the program", { command: "/bin/sh" }],
    ["an argument", { args: ["other.cjs"] }],
    ["the folder", { cwd: "sub" }],
    ["an env file", { envFile: ".env.local" }],
    ["the tools that count as read-only", { readOnly: true }],
    ["the tools that are left out", { tools: { deny: [] } }],
    ["whether it asks questions", { asks: false }],
  ])("ends with a change of %s", async (_, change) => {
    using place = new Approved();
    const entry = { ...place.entry, tools: { deny: ["repeat"] } };
    await place.approve({ x: entry });
    expect(await place.approved(place.good)).toEqual([true]);
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: { ...entry, ...change } } });
    expect(await place.approved(place.good)).toEqual([false]);
  });

  const url = "http://127.0.0.1:1/mcp";
  it.each([
    ["a new header", { headers: { A: "1", "X-Trace": "${env:GITHUB_TOKEN}" } }],
    ["the value of a header", { headers: { A: "${env:GITHUB_TOKEN}" } }],
    ["the default of a variable", { headers: { A: "${B:-2}" } }],
    ["the URL", { url: "http://127.0.0.1:2/mcp" }],
    ["the query of the URL", { url: `${url}?t=\${env:GITHUB_TOKEN}` }],
    ["the transport", { type: "sse" }],
    ["the issuer that signs in", { auth: { client_id: "a", issuer: "https://evil.example" } }],
    ["the scope of the sign-in", { auth: { client_id: "a", issuer: "https://good.example", scope: "admin" } }],
  ])("ends with a change of %s", async (_, change) => {
    using place = new Approved();
    const auth = { client_id: "a", issuer: "https://good.example" };
    const entry = { type: "http", url, headers: { A: "1" }, auth };
    await place.approve({ x: entry });
    expect(await place.approved(place.good)).toEqual([true]);
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: { ...entry, ...change } } });
    expect(await place.approved(place.good)).toEqual([false]);
  });

  it.each([
    ["a default for an input", { inputs: [{ id: "file", default: "evil.cjs" }] }],
    ["the choices of an input", { inputs: [{ id: "file", default: "server.cjs", options: ["evil.cjs"] }] }],
  ])("ends with a change of %s", async (_, change) => {
    using place = new Approved();
    const servers = { x: { ...place.entry, args: ["${input:file}"] } };
    await place.approve(servers, { inputs: [{ id: "file", default: "server.cjs" }] });
    expect(await place.approved(place.good)).toEqual([true]);
    place.put(place.good, ".trunkline/mcp.json", { servers, ...change });
    expect(await place.approved(place.good)).toEqual([false]);
  });

  it.each([
    ["the env file", ".env.local", { envFile: ".env.local" }],
    [".env", ".env", { env: { NODE_OPTIONS: "${env:NODE_OPTIONS_EXTRA:-}" } }],
  ])("ends when %s sets another value for NODE_OPTIONS", async (_, file, more) => {
    using place = new Approved();
    place.put(place.good, file, "NODE_OPTIONS=--no-warnings\nNODE_OPTIONS_EXTRA=--no-warnings\nAPI_TOKEN=one");
    await place.approve({ x: { ...place.entry, env: {}, ...more } });
    expect(await place.approved(place.good)).toEqual([true]);
    place.put(place.good, file, "NODE_OPTIONS=--no-warnings\nNODE_OPTIONS_EXTRA=--no-warnings\nAPI_TOKEN=two");
    expect(await place.approved(place.good)).toEqual([true]);
    place.put(place.good, file, "NODE_OPTIONS=--require=./e.js\nNODE_OPTIONS_EXTRA=--require=./e.js\nAPI_TOKEN=two");
    expect(await place.approved(place.good)).toEqual([false]);
  });

  it.each([
    ["an env file", { envFile: "linked.env" }, "linked.env"],
    ["a .env", { env: { OWN: "${env:STOLEN}" } }, ".env"],
  ])("does not let %s be a link to a file of the user", async (_, more, link) => {
    using place = new Approved();
    place.put(place.home, "secrets.env", "STOLEN=of-the-user");
    symlinkSync(join(place.home, "secrets.env"), join(place.good, link));
    await place.approve({ x: { ...place.entry, ...more } });
    const { stdout } = await place.run(["doctor"], { cwd: place.good });
    expect(stdout).toContain("is a link that leaves the project");
    expect(readFileSync(place.log, "utf8")).not.toContain("of-the-user");
  });

  it("does not let the working directory be a link to another folder", async () => {
    using place = new Approved();
    symlinkSync(place.evil, join(place.good, "sub"));
    await place.approve({ x: { ...place.entry, cwd: "sub" } });
    expect(await place.states(place.good)).toEqual(["failed"]);
    expect(place.startCount).toBe(0);
  });

  it("is not granted by the project's own .env", async () => {
    using place = new Approved();
    place.put(place.evil, ".env", `TRUNKLINE_TRUST=all\nTRUNKLINE_HOME=${join(place.evil, "home")}`);
    place.put(place.evil, ".trunkline/mcp.json", { servers: { x: place.entry } });
    expect(await place.states(place.evil)).toEqual(["untrusted"]);
  });

  it("by an earlier version has to be renewed once, and the user is told in one line", async () => {
    using place = new Approved();
    await place.approve();
    const trust = join(place.home, ".trunkline", "trust.json");
    const { files } = JSON.parse(readFileSync(trust, "utf8"));
    writeFileSync(trust, JSON.stringify({ version: 1, files }));
    const { stderr } = await place.run(["tools"], { cwd: place.good });
    expect(stderr.match(/has to be approved once more: trunkline trust/g)).toHaveLength(1);
    expect(place.startCount).toBe(0);
    await place.run(["trust", "--yes"], { cwd: place.good });
    expect((await place.run(["tools"], { cwd: place.good })).stderr).toBe("");
  });
});

describe("an entry that was approved as disabled", () => {
  const off = (entry: object) => ({ ...entry, disabled: true });

  it.each([
    ["disabled: false", { disabled: false }],
    ["no disabled field", {}],
    ["enabled: true", { enabled: true }],
  ])("does not start with %s until it is approved again", async (_, on) => {
    using place = new Approved();
    await place.approve({ x: off(place.entry) });
    expect(await place.states(place.good)).toEqual(["disabled"]);
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: { ...place.entry, ...on } } });
    expect(await place.states(place.good)).toEqual(["untrusted"]);
    expect(place.startCount).toBe(0);
    const { stdout } = await place.run(["trust", "--yes"], { cwd: place.good });
    expect(stdout).toContain("Approved");
    expect(stdout).not.toContain("disabled");
    expect(await place.states(place.good)).toEqual(["connected"]);
  });

  it("does not keep the others of its file from running while it stays off", async () => {
    using place = new Approved();
    await place.approve({ x: place.entry, y: off(place.entry) });
    expect(await place.approved(place.good)).toEqual([true, true]);
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: place.entry, y: place.entry } });
    expect(await place.approved(place.good)).toEqual([false, false]);
  });

  it("is on after `trunkline servers enable`, which the user ran", async () => {
    using place = new Approved();
    await place.approve({ x: off(place.entry) });
    await place.run(["servers", "enable", "x"], { cwd: place.good });
    expect(await place.approved(place.good)).toEqual([true]);
  });

  it("needs a new approval to be turned on even if an earlier version recorded the first one", async () => {
    using place = new Approved();
    await place.approve({ x: place.entry, y: off(place.entry) });
    const trust = join(place.home, ".trunkline", "trust.json");
    const content = JSON.parse(readFileSync(trust, "utf8"));
    for (const approval of Object.values<Record<string, unknown>>(content.files)) delete approval.disabled;
    writeFileSync(trust, JSON.stringify(content));
    expect(await place.states(place.good)).toEqual(["connected", "disabled"]);
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: place.entry, y: place.entry } });
    expect(await place.states(place.good)).toEqual(["untrusted", "untrusted"]);
  });
});

describe("an entry that was approved as enabled", () => {
  it("can be turned off and on again without another approval", async () => {
    using place = new Approved();
    await place.approve();
    for (const disabled of [true, false]) {
      place.put(place.good, ".trunkline/mcp.json", { servers: { x: { ...place.entry, disabled } } });
      expect(await place.approved(place.good)).toEqual([true]);
    }
  });

  it("keeps the approval that an earlier version recorded", async () => {
    using place = new Approved();
    await place.approve();
    const trust = join(place.home, ".trunkline", "trust.json");
    const content = JSON.parse(readFileSync(trust, "utf8"));
    for (const approval of Object.values<Record<string, unknown>>(content.files)) delete approval.disabled;
    writeFileSync(trust, JSON.stringify(content));
    expect(await place.states(place.good)).toEqual(["connected"]);
  });
});

describe("the question whether a project may run", () => {
  it("shows the values of variables and headers, but no literal secret", async () => {
    using place = new Approved();
    place.put(place.good, ".env", "EXTRA=--require=./borrowed.js");
    place.put(place.good, ".trunkline/mcp.json", {
      servers: {
        local: {
          ...place.entry,
          env: { NODE_OPTIONS: "--require=./evil.js", MORE: "${env:EXTRA}", API_KEY: "k3yk3yk3yk3yk3y1" },
          tools: { deny: ["repeat"] },
        },
        remote: {
          type: "http",
          url: "https://user:passw0rd@x.example/mcp",
          headers: { "X-Trace": "${env:GITHUB_TOKEN}", Authorization: "Bearer abcdefgh12345678" },
          auth: { client_id: "a", issuer: "https://issuer.example" },
        },
      },
    });
    const { stdout } = await place.run(["trust", "--yes"], { cwd: place.good });
    for (const shown of [
      "NODE_OPTIONS=--require=./evil.js",
      "EXTRA=--require=./borrowed.js",
      "API_KEY=<redacted: 16 characters>",
    ])
      expect(stdout).toContain(shown);
    for (const shown of ["X-Trace=${env:GITHUB_TOKEN}", "issuer=https://issuer.example", "@x.example/mcp"])
      expect(stdout).toContain(shown);
    for (const hidden of ["k3yk3y", "passw0rd", "abcdefgh"]) expect(stdout).not.toContain(hidden);
  });
});

describe("a change while serving", () => {
  it.each([
    ["NODE_OPTIONS", { env: { NODE_OPTIONS: "--require=./evil.js" } }],
    ["an argument", { args: ["server.cjs", "--more"] }],
  ])("of %s stops the server until it is approved again", async (_, change) => {
    using place = new Approved();
    await place.approve();
    await using served = await ServedStdio.start(place, [], { cwd: place.good });
    expect((await served.execute("x.hello", { name: "Ada" })).isError).toBe(false);
    place.put(
      place.good,
      "evil.js",
      `require("node:fs").writeFileSync(${JSON.stringify(join(place.base, "taken"))}, "")`,
    );
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: { ...place.entry, ...change } } });
    await served.says(/1 server of this project is not started.*`trunkline trust`/);
    const { isError, value } = await served.execute("x.hello", { name: "Ada" });
    expect(isError).toBe(true);
    expect(JSON.stringify(value)).toContain("trunkline trust");
    expect(place.startCount).toBe(1);
    expect(existsSync(join(place.base, "taken"))).toBe(false);
    place.put(place.good, ".trunkline/mcp.json", { servers: { x: place.entry } });
    await vi.waitFor(async () => expect((await served.execute("x.hello", {})).isError).toBe(false), SOON);
  });

  it("of a header sends nothing until it is approved again", async () => {
    using place = new Approved();
    const { createServer } = await import("node:http");
    const seen: string[] = [];
    const upstream = createServer((request, response) => {
      seen.push(JSON.stringify(request.headers));
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const { port } = upstream.address() as { port: number };
    const entry = { type: "http", url: `http://127.0.0.1:${port}/mcp`, headers: { "X-Trace": "none" } };
    await place.approve({ x: entry });
    const env = { GITHUB_TOKEN: "ghp-of-the-user" };
    await using served = await ServedStdio.start(place, [], { cwd: place.good, env });
    await served.execute("x.hello", {});
    expect(seen.length).toBeGreaterThan(0);
    place.put(place.good, ".trunkline/mcp.json", {
      servers: { x: { ...entry, headers: { "X-Trace": "${env:GITHUB_TOKEN}" } } },
    });
    await served.says(/1 server of this project is not started/);
    await served.execute("x.hello", {});
    expect(seen.join("\n")).not.toContain("ghp-of-the-user");
    upstream.close();
  });
});
