// A program in a sandbox must not get the broker, which is outside of it, to act for it: neither by using Trunkline, nor
// by speaking the broker's protocol itself.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { executionPlace, PROTOCOL_VERSION } from "../../packages/daemon/src/relay/index.js";
import { bin } from "../e2e/command.js";
import type { Peer } from "../e2e/gateway-clients.js";
import { testServer } from "../e2e/server-entries.js";
import { isInstalled, needs } from "../support/needs.js";
import { BrokerUser } from "./broker-support.js";

const run = promisify(execFile);
const forger = fileURLToPath(new URL("./forged-hello.js", import.meta.url));
const hasBwrap = isInstalled("bwrap");
const hasSetpriv = isInstalled("setpriv");

/** Everything is visible, so that the socket can be reached. */
const ALL = ["--dev-bind", "/", "/"];

const sandboxes: [string, string[]][] = [
  ["that hides nothing", ALL],
  ["with its own processes", [...ALL, "--unshare-pid", "--proc", "/proc"]],
  ["with its own user", [...ALL, "--unshare-user"]],
  ["without a network", [...ALL, "--unshare-net"]],
  ["that is read-only", ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]],
];

let user: BrokerUser;
let project: string;
let outside: Peer;

beforeAll(async () => {
  user = new BrokerUser({ mcpServers: { hello: testServer("hello") } });
  project = user.project("p");
  outside = await user.client("v1", project);
});

afterAll(async () => {
  await outside[Symbol.asyncDispose]();
  user[Symbol.dispose]();
});

const socket = () => join(user.run, "broker.sock");

const forged = (more: object = {}) =>
  JSON.stringify({
    kind: "person",
    protocol: PROTOCOL_VERSION,
    version: "0.0.0",
    build: "x@0",
    // That of a process that runs outside.
    pid: process.pid,
    place: executionPlace(),
    args: ["tools"],
    cwd: project,
    userHome: user.home,
    env: user.env,
    terminal: { stdin: true, stdout: true, stderr: true, pipedInput: false },
    ...more,
  });

describe("a program outside any sandbox", () => {
  it("that speaks the protocol is served", async () => {
    const { stdout } = await run(process.execPath, [forger, socket(), forged(), "own"]);
    expect(stdout).toBe("welcome\n");
  });

  it.each([
    ["run", "script.ts"],
    ["serve", "--http", "--no-token"],
    ["serve"],
    ["broker", "run"],
    ["broker", "stop"],
    ["trust", "--yes"],
    ["--mcp", "other.json", "tools"],
    ["--color", "tools", "run", "script.ts"],
    ["--color=always", "run", "tools"],
    ["store", "add", "/"],
    ["--store", "x", "store", "add", "/"],
    ["--", "run", "script.ts"],
  ])("cannot have the broker run what has to run in a process of its own: %s", async (...args) => {
    const { stdout } = await run(process.execPath, [forger, socket(), forged({ args }), "own", "follow"]);
    expect(stdout).toBe("welcome\ntrunkline: The broker does not run this command.\nexit 2\n");
  });

  it("that claims to be another process is refused", async () => {
    const { stdout } = await run(process.execPath, [forger, socket(), forged()]);
    expect(stdout).toMatch(/^refused .*"place"/);
  });

  it.each([0, -1, 1, 2 ** 31, 1.5])("that claims the process %d is refused", async (pid) => {
    const { stdout } = await run(process.execPath, [forger, socket(), forged({ pid })]);
    expect(stdout).toMatch(/^refused .*"place"/);
  });

  it("with another umask is refused", async () => {
    const command = ["-c", 'umask 077; exec "$@"', "sh", process.execPath, forger, socket(), forged(), "own"];
    expect((await run("sh", command)).stdout).toMatch(/^refused .*"place"/);
  });

  it("with another umask can still ask about the broker", async () => {
    const command = ["-c", 'umask 077; exec "$@"', "sh", process.execPath, bin, "broker", "--json"];
    const { stdout } = await run("sh", command, { cwd: project, env: user.env });
    expect(JSON.parse(stdout)).toMatchObject({ running: true });
  });

  it.skipIf(!hasSetpriv)(`that can gain no rights is refused${needs("setpriv", hasSetpriv)}`, async () => {
    const command = ["--no-new-privs", process.execPath, forger, socket(), forged(), "own"];
    expect((await run("setpriv", command)).stdout).toMatch(/^refused .*"place"/);
  });
});

describe.skipIf(!hasBwrap).each(sandboxes)(`a sandbox %s${needs("bubblewrap", hasBwrap)}`, (_, options) => {
  it("makes Trunkline work without the broker", async () => {
    const { pid } = await user.status();
    const env = { ...user.env };
    const input = { jsonrpc: "2.0", id: 1, method: "ping" };
    const serving = run("bwrap", [...options, process.execPath, bin, "serve"], { cwd: project, env });
    serving.child.stdin?.end(`${JSON.stringify(input)}\n`);
    const { stdout, stderr } = await serving;
    expect(JSON.parse(stdout)).toMatchObject({ id: 1 });
    expect(stderr).toMatch(/working without the broker: .*(sandbox|rights)/);
    const call = run("bwrap", [...options, process.execPath, bin, "call", "hello.hello", "name=Ada"], {
      cwd: project,
      env,
    });
    call.child.stdin?.end();
    expect((await call).stdout).toContain("Hello, Ada!");
    // The broker is still there for the others.
    expect(await user.status()).toMatchObject({ pid, clients: [{ folder: project }] });
  });

  it.each(["its own", "another"])("cannot be left by claiming to be outside, with %s process id", async (whose) => {
    const { stdout } = await run("bwrap", [
      ...options,
      process.execPath,
      forger,
      socket(),
      forged(),
      whose === "its own" ? "own" : "",
    ]);
    expect(stdout).toMatch(/^refused .*"place"/);
    // Nor can it stop the broker.
    for (const request of ["stop", "drain"]) {
      const hello = forged({ kind: "control", request, place: executionPlace("self", { umask: false }) });
      const { stdout: answer } = await run("bwrap", [
        ...options,
        process.execPath,
        forger,
        socket(),
        hello,
        whose === "its own" ? "own" : "",
      ]);
      expect(answer).toMatch(/^refused .*"place"/);
    }
    expect(existsSync(socket())).toBe(true);
    expect((await user.status()).clients).toHaveLength(1);
  });
});

describe("a sandbox that cannot be told from another one", () => {
  it.skipIf(!hasSetpriv)(`starts no broker${needs("setpriv", hasSetpriv)}`, async () => {
    using own = new BrokerUser();
    const folder = own.project("p");
    const serving = run("setpriv", ["--no-new-privs", process.execPath, bin, "serve"], { cwd: folder, env: own.env });
    serving.child.stdin?.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    const { stdout, stderr } = await serving;
    expect(JSON.parse(stdout)).toMatchObject({ id: 1 });
    expect(stderr).toContain("working without the broker: this process runs in a sandbox");
    expect(existsSync(join(own.run, "broker.sock"))).toBe(false);
  });
});
