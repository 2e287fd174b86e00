// What is behind `trunkline serve`, assembled by the built command: configuration, servers, store, journal.
// @with-broker
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { journalFolder } from "../../packages/gateway/src/journal/index.js";
import { HANG_MS } from "../support/hang.js";
import { isInstalled, needs } from "../support/needs.js";
import { isAlive, outcomeOf, Place, root, seen } from "./command.js";
import { ServedStdio } from "./serve-stdio-client.js";
import { KEY, Terminal } from "./terminal.js";

const server = (name: string) => ({ command: process.execPath, args: [join(root, "test", "servers", `${name}.js`)] });
const TRUSTED = { TRUNKLINE_TRUST: "all" };
const SOON = { timeout: HANG_MS, interval: 50 };
const hasCurl = isInstalled("curl");
const NEEDS_CURL = needs("curl", hasCurl);

describe("trunkline serve and what is behind it", () => {
  it("serves the store without any message if no server is configured", async () => {
    using place = new Place({ "minutes.md": "the minutes of the meeting" });
    await using served = await ServedStdio.start(place);
    const added = await served.execute("add", { path: "minutes.md" });
    expect(added.value).toMatchObject({ results: [{ op: "add", success: true }], failed: 0 });
    const found = await served.query("search", { query: "meeting" });
    expect(found.value.results[0].path).toBe(join(place.cwd, "minutes.md"));
    expect(await served.end()).toEqual({ code: 0, stderr: "" });
  });

  it("records each operation for `trunkline log`, and its cost for `trunkline stats`", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello: server("hello") } } }, TRUSTED);
    const served = await ServedStdio.start(place);
    await served.request("tools/list");
    expect((await served.query("list", {})).isError).toBe(false);
    expect((await served.execute("hello.hello", { name: "s3cret argument" })).isError).toBe(false);
    expect((await served.query("get", { path: "s3cret.md" })).isError).toBe(true);
    const { value } = await served.query("status", { tokens: true });
    expect(value.tokens.today).toMatchObject({ lists: 1 });
    await served.end();
    const { stdout } = await place.run(["log"]);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(rows.map(([, client, op, , , outcome]) => [client, op, outcome])).toEqual([
      [expect.stringMatching(/^tester/), "list", "ok"],
      [expect.stringMatching(/^tester/), "hello.hello", "ok"],
      [expect.stringMatching(/^tester/), "get", "error NOT_FOUND"],
      [expect.stringMatching(/^tester/), "status", "ok"],
    ]);
    const home = join(place.home, ".trunkline");
    const folder = journalFolder(home, join(home, "store"));
    expect(readFileSync(join(folder, "calls-000001.jsonl"), "utf8")).not.toContain("s3cret");
    const stats = JSON.parse((await place.run(["stats", "--format", "json"])).stdout);
    expect(stats.all).toMatchObject({ lists: 1 });
    expect(stats.all.surface).toBeGreaterThan(100);
    expect(stats.all.surface).toBeLessThanOrEqual(400);
    expect(stats.direct).toMatchObject({ tools: 2 });
    expect(stats.direct.all).toBe(stats.direct.per_list);
    expect((await place.run(["stats"])).stdout).toMatch(/^tool lists +\d/m);
  });

  it("picks up a configuration change without a restart", async () => {
    using place = new Place({ "x.md": "x" }, TRUSTED);
    await using served = await ServedStdio.start(place);
    expect((await served.execute("hello.hello", { name: "Ada" })).isError).toBe(true);
    place.write(".trunkline/mcp.json", { servers: { hello: server("hello") }, policy: { add: "deny" } });
    await vi.waitFor(async () => {
      const { value } = await served.execute("hello.hello", { name: "Ada" });
      expect(value.results[0].result).toEqual({ text: "Hello, Ada!" });
    }, SOON);
    expect((await served.execute("add", { path: "x.md" })).value.results[0].error.code).toBe("DENIED");
    place.write(".trunkline/mcp.json", { servers: {}, policy: { add: "allow" } });
    await vi.waitFor(async () => expect((await served.execute("add", { path: "x.md" })).isError).toBe(false), SOON);
    expect((await served.execute("hello.hello", { name: "Ada" })).isError).toBe(true);
  });

  it("starts no server of an unapproved project, says how to approve it, and picks up the approval", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello: server("hello") } } });
    await using served = await ServedStdio.start(place);
    await served.says(/1 server of this project is not started.*hello.*`trunkline trust`/);
    const { isError, value } = await served.execute("hello.hello", { name: "Ada" });
    expect(isError).toBe(true);
    expect(JSON.stringify(value)).toContain("trunkline trust");
    expect((await place.run(["trust", "--yes"])).code).toBe(0);
    await vi.waitFor(
      async () => expect((await served.execute("hello.hello", { name: "Ada" })).isError).toBe(false),
      SOON,
    );
    const { stderr } = await served.end();
    expect(stderr.match(/not started/g)).toHaveLength(1);
  });

  it.each([
    ["SIGTERM", 0],
    ["SIGINT", 130],
    [undefined, 0],
  ] as const)("ends its servers and itself on %s", async (signal, code) => {
    using place = new Place();
    const pidFile = join(place.base, "pid");
    const { command, args } = server("hello");
    const script = `echo $$ > '${pidFile}'; exec '${command}' '${args[0]}'`;
    place.write("work.json", { servers: { hello: { command: "sh", args: ["-c", script] } } });
    const served = await ServedStdio.startProcess(place, ["--mcp", "work.json"]);
    expect(existsSync(pidFile)).toBe(false);
    expect((await served.execute("hello.hello", { name: "Ada" })).isError).toBe(false);
    const pid = Number(readFileSync(pidFile, "utf8"));
    expect(isAlive(pid)).toBe(true);
    expect(await served.end(signal)).toEqual({ code, stderr: "" });
    expect(isAlive(pid)).toBe(false);
  });

  it("lets a running call finish when asked to stop", async () => {
    using place = new Place({ "work.json": { servers: { slow: server("slow") } } });
    const served = await ServedStdio.start(place, ["--mcp", "work.json"]);
    await served.query("describe", { target: "slow" });
    const running = served.execute("slow.wait", { ms: 1_000 });
    const ended = (async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return await served.end("SIGTERM");
    })();
    expect((await running).isError).toBe(false);
    expect((await ended).code).toBe(0);
  });

  it("keeps the store up to date with --watch", async () => {
    using place = new Place({ "src/a.md": "apples" });
    await using served = await ServedStdio.start(place, ["--watch", "src"]);
    const paths = async () => (await served.query("list", { paths_only: true })).value.paths;
    await vi.waitFor(async () => expect(await paths()).toContain(join(place.cwd, "src", "a.md")), SOON);
    place.write("src/b.md", "pears");
    await vi.waitFor(async () => expect(await paths()).toContain(join(place.cwd, "src", "b.md")), SOON);
    expect(await served.end("SIGTERM")).toEqual({ code: 0, stderr: "" });
  });

  it("reports a missing folder to watch once, and watches the others", async () => {
    using place = new Place({ "src/a.md": "apples" });
    await using served = await ServedStdio.start(place, ["--watch", "nowhere", "src"]);
    const paths = async () => (await served.query("list", { paths_only: true })).value.paths;
    await vi.waitFor(async () => expect(await paths()).toEqual([join(place.cwd, "src", "a.md")]), SOON);
    expect((await served.end()).stderr).toBe(`Not watching ${join(place.cwd, "nowhere")}: it does not exist.\n`);
  });

  it.runIf(process.platform === "linux")("says what is wrong if the store cannot be created", async () => {
    using place = new Place();
    await using served = await ServedStdio.start(place, ["--store", "/proc/x"]);
    const { isError, value } = await served.query("list");
    expect([isError, value.error.message]).toEqual([
      true,
      expect.stringContaining("Cannot create the store's folder /proc/x"),
    ]);
    expect(value.error.hint).toContain("--store");
  });

  it("refuses to watch a whole home folder, but keeps running", async () => {
    using place = new Place();
    await using served = await ServedStdio.start(place, ["--watch", "."], { cwd: place.home });
    await served.says(/Not watching/);
    expect((await served.query("list")).isError).toBe(false);
  });

  it("uses the project's own store, even from a subfolder", async () => {
    using place = new Place({ ".git/HEAD": "", "deep/a.md": "apples" });
    await place.run(["init"]);
    await using served = await ServedStdio.start(place, [], { cwd: join(place.cwd, "deep") });
    expect((await served.query("search", { query: "apples" })).value.total).toBe(1);
  });

  it("ends with 2 if the named file is unusable", async () => {
    using place = new Place({ "bad.json": "{ oops" });
    for (const [args, message] of [
      [["--mcp", "missing.json"], "missing.json"],
      [["--mcp", "bad.json"], "bad.json"],
    ] as const) {
      // Once with a client that stays, and once with one that leaves immediately.
      for (const outcome of [await outcomeOf(place.start(["serve", ...args])), await place.run(["serve", ...args])]) {
        expect([outcome.code, outcome.stderr]).toEqual([2, expect.stringContaining(message)]);
      }
    }
  });

  it("shows every upstream tool with --surface direct", async () => {
    using place = new Place({ "work.json": { servers: { hello: server("hello") } } });
    for (const [args, names] of [
      [
        ["--surface", "direct"],
        ["mcp__hello__hello", "mcp__hello__repeat"],
      ],
      [
        ["--surface", "direct", "--names", "plain"],
        ["hello", "repeat"],
      ],
      [
        ["--surface", "direct", "--echo"],
        ["mcp.echo", "mcp__hello__hello", "mcp__hello__repeat"],
      ],
      [["--echo"], ["query", "execute", "session", "mcp.echo"]],
    ] as const) {
      await using served = await ServedStdio.start(place, ["--mcp", "work.json", ...args]);
      const { tools } = await served.request("tools/list");
      expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual([...names].sort());
    }
  });

  it("finds prompts in the given folder, the project's folder and the user's", async () => {
    using place = new Place({
      "given/PROMPT-one.md": "# One",
      ".trunkline/prompts/PROMPT-two.md": "# Two",
      "named/PROMPT-three.md": "# Three",
    });
    const env = { TRUNKLINE_PROMPTS: "named" };
    expect((await place.run(["trust", "--yes"])).code).toBe(0);
    await using served = await ServedStdio.start(place, ["--prompts", "given"], { env });
    const { prompts } = await served.request("prompts/list");
    const names = prompts.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["one", "two", "three", "search_codebase"]));
  });

  it.each([
    [["--surface", "composite", "--names", "plain"], "--surface"],
    [["--allow-path", "x"], "x, given with --allow-path, does not exist"],
    [["--port", "1"], "--http"],
    [["--surface", "none"], "composite"],
    [["--http", "--port", "x"], "not a port"],
    [["--http", "--port", "0", "--host", "0.0.0.0", "--no-token"], "TRUNKLINE_TOKEN"],
    [["--no-token"], "--no-token needs --http"],
    [["--http", "--port", "0", "--host", "nosuchhost.invalid"], 'Cannot resolve host "nosuchhost.invalid"'],
    [["--allow-host", "x"], "--allow-host needs --http"],
    [["--prompts", "nowhere"], "nowhere, given with --prompts, does not exist"],
    [["--http", "--port", "0", "--allow-path", "nowhere"], "nowhere, given with --allow-path, does not exist"],
    [["--allow-write", "nowhere"], "nowhere, given with --allow-write, does not exist"],
  ])("refuses %j", async (args, message) => {
    using place = new Place();
    const { code, stderr } = await place.run(["serve", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe("trunkline serve --http and its output", () => {
  it.skipIf(!hasCurl)(`says what it serves and requires the token${NEEDS_CURL}`, async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello: server("hello") } } }, TRUSTED);
    const token = "not-to-be-printed-anywhere";
    const env = { TRUNKLINE_TOKEN: token };
    const child = place.start(["serve", "--http", "--port", "0"], { env });
    const ended = outcomeOf(child);
    const { input: welcome = "" } = await seen(child.stderr, /listening at (\S+)[\s\S]*Ctrl-C/);
    expect(welcome).toMatch(
      /tools +query, execute, session: \d+ tokens for the model of a new client; `trunkline stats`/,
    );
    expect(welcome).toMatch(/servers +hello/);
    expect(welcome).toContain(join(place.home, ".trunkline", "store"));
    expect(welcome).not.toContain(token);
    const line = welcome.match(/^ *try it +(curl .*)$/m)?.[1] ?? "";
    const run = promisify(execFile);
    const { stdout } = await run("sh", ["-c", line], { env: { PATH: process.env.PATH, ...env } });
    expect(JSON.parse(stdout).result.content).toEqual([{ type: "text", text: "hello" }]);
    const refused = await run("sh", ["-c", `${line} -o /dev/null -w '%{http_code}'`], {
      env: { PATH: process.env.PATH },
    });
    expect(refused.stdout).toBe("401");
    child.kill("SIGTERM");
    const { code, stdout: out } = await ended;
    expect([code, out]).toEqual([0, ""]);
  });
});

describe("trunkline serve --http beyond loopback", () => {
  it.each(["", "  ", "two words"])("rejects the token %j, even on loopback", async (token) => {
    using place = new Place();
    const { code, stderr } = await place.run(["serve", "--http", "--port", "0"], { env: { TRUNKLINE_TOKEN: token } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("TRUNKLINE_TOKEN is")]);
  });

  it.skipIf(!hasCurl).each([
    ["short", true],
    ["long-enough-for-anybody", false],
  ])(`prints a URL that agents can use, and checks the token %j${NEEDS_CURL}`, async (token, isWarned) => {
    using place = new Place();
    const args = ["serve", "--http", "--port", "0", "--host", "0.0.0.0", "--allow-host", "proxy.example"];
    const child = place.start(args, { env: { TRUNKLINE_TOKEN: token } });
    const ended = outcomeOf(child);
    const { input: welcome = "" } = await seen(child.stderr, /listening at (\S+)[\s\S]*Ctrl-C/);
    expect(/warning: TRUNKLINE_TOKEN has only 5 characters/.test(welcome)).toBe(isWarned);
    expect(welcome).toMatch(new RegExp(`for agents .*"url":"http://${hostname()}:\\d+/mcp"`));
    expect(welcome).not.toContain("0.0.0.0");
    const local = welcome.match(/curl -s (\S+)/)?.[1] ?? "";
    const statusFor = async (host: string) => {
      const { stdout } = await promisify(execFile)("curl", [
        ...["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", `Host: ${host}`],
        ...["-H", `Authorization: Bearer ${token}`, local],
      ]);
      return Number(stdout);
    };
    // 400 means accepted, but there is no session.
    for (const host of [hostname(), "127.0.0.1", "proxy.example:443"]) expect(await statusFor(host)).toBe(400);
    expect(await statusFor("evil.example")).toBe(403);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });
});

describe("trunkline serve at a terminal", () => {
  it("asks once about an unapproved project, then says what it serves", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello: server("hello") } } });
    const terminal = new Terminal(place, ["serve", "--http", "--port", "0"]);
    await terminal.answer("Approve what this project would run? [y/N]", "y");
    await terminal.sees("servers    hello");
    await terminal.sees("Ctrl-C stops it.");
    terminal.press(KEY.interrupt);
    expect((await terminal.end()).code).toBe(130);
  });

  it("tells a person who starts it by hand what it is doing", async () => {
    using place = new Place();
    const terminal = new Terminal(place, ["serve"]);
    await terminal.sees("Serving MCP on stdin and stdout");
    terminal.press(KEY.interrupt);
    expect(await terminal.end()).toMatchObject({ code: 130, stdout: "" });
  });
});
