// Attacks on the tokens of `serve --http`: their files, their names, and what is left after they are revoked.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { callModern, post, untilEnded } from "../../packages/gateway/test/endpoints/http-client.js";
import { outcomeOf, Place, type Running } from "../e2e/command.js";

function place(): Place {
  const made = new Place();
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

const homeOf = ({ home }: Place) => join(home, ".trunkline");

/** Starts `serve --http` and returns its URL and what it has printed. */
async function serve(at: Place, args: readonly string[] = [], env: Record<string, string> = {}) {
  const running: Running = at.start(["serve", "--http", "--port", "0", ...args], { env });
  let printed = "";
  running.stderr?.on("data", (chunk) => {
    printed += String(chunk);
  });
  running.stdout?.resume();
  const closed = new Promise<void>((resolve) => running.once("close", () => resolve()));
  onTestFinished(async () => {
    running.kill();
    await closed;
  });
  await vi.waitFor(() => expect(printed).toContain("Ctrl-C stops it"), 30_000);
  const url = /listening at (\S+)/.exec(printed)?.[1] ?? "";
  return { url, printed: () => printed, token: /Bearer (tkl_[\w-]+)/.exec(printed)?.[1] ?? "" };
}

/** Starts a server that must not start. If it does, it is stopped, and its exit code is 0. */
async function tryToServe(at: Place, args: readonly string[] = []) {
  const running = at.start(["serve", "--http", "--port", "0", ...args]);
  running.stderr?.on("data", (chunk) => {
    if (String(chunk).includes("Ctrl-C stops it")) running.kill("SIGTERM");
  });
  return await outcomeOf(running);
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

async function statusWith(url: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  return (await callModern(url, "mcp.echo", { message: "hi" }, headers)).status;
}

describe("serve --http", () => {
  it("requires a token on loopback too, made on first use and readable only by its owner", async () => {
    const at = place();
    const { url, token } = await serve(at);
    const file = join(homeOf(at), "token");
    expect(readFileSync(file, "utf8").trim()).toBe(token);
    expect(Buffer.from(token.slice(4), "base64url")).toHaveLength(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await statusWith(url)).toBe(401);
    // Says where to look, but not which folders this machine has.
    const refusal = await (await post(url, ping)).text();
    expect(refusal).toContain("the file `token`");
    expect(refusal).not.toContain(homeOf(at));
    expect(await statusWith(url, token)).toBe(200);
  });

  it("keeps its token for the next start", async () => {
    const at = place();
    const first = await serve(at);
    expect((await serve(at, ["--show-token"])).token).toBe(first.token);
  });

  it("needs no token with --no-token, and warns", async () => {
    const at = place();
    const { url, printed } = await serve(at, ["--no-token"]);
    expect(printed()).toContain("warning: without a token");
    expect(await statusWith(url)).toBe(200);
    expect(existsSync(join(homeOf(at), "token"))).toBe(false);
  });

  it("does not serve other machines without a token", async () => {
    const { code, stderr } = await tryToServe(place(), ["--host", "0.0.0.0", "--no-token"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("not a loopback address");
  });

  it("uses TRUNKLINE_TOKEN instead of the file, and does not print it", async () => {
    const at = place();
    const { url, printed } = await serve(at, [], { TRUNKLINE_TOKEN: "a-secret-of-mine-0123" });
    expect(printed()).not.toContain("a-secret-of-mine");
    expect(await statusWith(url, "a-secret-of-mine-0123")).toBe(200);
    expect(await statusWith(url, "a-secret-of-mine-012")).toBe(401);
    expect(existsSync(join(homeOf(at), "token"))).toBe(false);
  });

  it.each([
    [
      "that others can read",
      (file: string) => {
        writeFileSync(file, "tkl_known-to-everyone-here\n");
        chmodSync(file, 0o644);
      },
    ],
    [
      "that the group can read",
      (file: string) => {
        writeFileSync(file, "tkl_known-to-everyone-here\n");
        chmodSync(file, 0o640);
      },
    ],
    [
      "that is a link",
      (file: string) => {
        writeFileSync(`${file}-elsewhere`, "tkl_known-to-everyone-here\n", { mode: 0o600 });
        symlinkSync(`${file}-elsewhere`, file);
      },
    ],
    ["that is empty", (file: string) => writeFileSync(file, "\n", { mode: 0o600 })],
  ])("does not use a token file %s", async (_, plant) => {
    const at = place();
    mkdirSync(homeOf(at), { recursive: true });
    plant(join(homeOf(at), "token"));
    const { code, stderr } = await tryToServe(at);
    expect(code).not.toBe(0);
    expect(stderr).toContain("Delete the file");
    expect(stderr).not.toContain("known-to-everyone");
  });
});

describe("trunkline tokens", () => {
  it("stores only the hash, in a file that only its owner can read", async () => {
    const at = place();
    const { code, stdout } = await at.run(["tokens", "create", "alice"]);
    expect(code).toBe(0);
    const token = stdout.trim();
    const file = join(homeOf(at), "tokens.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const name of readdirSync(homeOf(at), { recursive: true, withFileTypes: true })) {
      if (name.isFile()) expect(readFileSync(join(name.parentPath, name.name), "latin1")).not.toContain(token.slice(4));
    }
    const listed = await at.run(["tokens", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "alice" }]);
    expect(listed.stdout).not.toMatch(/sha256|tkl_/);
  });

  it.each([
    "local",
    "default",
    "anonymous",
    "Alice",
    "a b",
    "../x",
    "results@x",
    "",
    "-x",
    "x".repeat(64),
    "ａlice",
    "a\u001b[31m",
  ])("refuses the name %j", async (name) => {
    const at = place();
    const { code, stderr } = await at.run(["tokens", "create", "--", name]);
    expect(code).not.toBe(0);
    expect(stderr).not.toContain("\u001b[31m");
    expect(existsSync(join(homeOf(at), "tokens.json"))).toBe(false);
  });

  it("refuses a second token of the same name, which would take over its results", async () => {
    const at = place();
    await at.run(["tokens", "create", "alice"]);
    expect((await at.run(["tokens", "create", "alice"])).code).not.toBe(0);
  });

  it("does not use a file with reserved names, planted by someone who wants to be local", async () => {
    const at = place();
    mkdirSync(homeOf(at), { recursive: true });
    const tokens = [{ name: "local", sha256: "0".repeat(64), createdAt: "2026-01-01T00:00:00.000Z" }];
    writeFileSync(join(homeOf(at), "tokens.json"), JSON.stringify({ format: 1, tokens }), { mode: 0o600 });
    expect((await at.run(["tokens", "list"])).code).not.toBe(0);
    expect((await tryToServe(at)).code).not.toBe(0);
  });

  it("takes effect in a running server at once: created, revoked and expired", async () => {
    const at = place();
    const { url } = await serve(at);
    const create = async (...args: string[]) => (await at.run(["tokens", "create", ...args])).stdout.trim();
    const alice = await create("alice");
    await vi.waitFor(async () => expect(await statusWith(url, alice)).toBe(200), 10_000);
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    };
    const opened = await post(url, initialize, { authorization: `Bearer ${alice}` });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "", authorization: `Bearer ${alice}` };
    const stream = await fetch(url, { headers: { ...session, accept: "text/event-stream" } });
    expect(stream.status).toBe(200);
    expect((await at.run(["tokens", "revoke", "alice"])).code).toBe(0);
    // The stream ends without the client doing anything.
    await untilEnded(stream);
    expect(await statusWith(url, alice)).toBe(401);
    // Someone else who gets the same name later does not get the session.
    const again = await create("alice", "--expires", "2s");
    await vi.waitFor(async () => expect(await statusWith(url, again)).toBe(200), 10_000);
    expect((await post(url, ping, { ...session, authorization: `Bearer ${again}` })).status).toBe(404);
    const short = await post(url, initialize, { authorization: `Bearer ${again}` });
    const own = { "mcp-session-id": short.headers.get("mcp-session-id") ?? "", authorization: `Bearer ${again}` };
    const last = await fetch(url, { headers: { ...own, accept: "text/event-stream" } });
    await untilEnded(last);
    expect(await statusWith(url, again)).toBe(401);
  });

  it("accepts nothing any more if the file becomes unreadable or readable by all", async () => {
    const at = place();
    const { url, token } = await serve(at);
    const alice = (await at.run(["tokens", "create", "alice"])).stdout.trim();
    await vi.waitFor(async () => expect(await statusWith(url, alice)).toBe(200), 10_000);
    chmodSync(join(homeOf(at), "tokens.json"), 0o666);
    await vi.waitFor(async () => expect(await statusWith(url, alice)).toBe(401), 10_000);
    expect(await statusWith(url, token)).toBe(401);
  });
});

describe("install --http", () => {
  it("writes the token for its owner only, shows it nowhere, and uninstall restores the file", async () => {
    const at = place();
    const file = join(at.home, ".cursor", "mcp.json");
    mkdirSync(join(at.home, ".cursor"), { recursive: true });
    const before = '{\n  // mine\n  "mcpServers": { "other": { "command": "x" } }\n}\n';
    writeFileSync(file, before, { mode: 0o644 });
    const shown = await at.run(["install", "cursor", "--http", "--dry-run"]);
    const installed = await at.run(["install", "cursor", "--http", "--yes"]);
    expect(installed.code, installed.stderr).toBe(0);
    const token = readFileSync(join(homeOf(at), "token"), "utf8").trim();
    expect(readFileSync(file, "utf8")).toContain(`Bearer ${token}`);
    expect(readFileSync(file, "utf8")).toContain("http://127.0.0.1:7411/mcp");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const { stdout, stderr } of [shown, installed]) expect(stdout + stderr).not.toContain(token.slice(4));
    const removed = await at.run(["uninstall", "cursor", "--yes"]);
    expect(removed.code, removed.stderr).toBe(0);
    expect(removed.stdout + removed.stderr).not.toContain(token.slice(4));
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it("does not write a token to a project's file, which is shared", async () => {
    const at = place();
    const { code, stderr } = await at.run(["install", "cursor", "--http", "--project", "--yes"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("must not be written");
    expect(existsSync(join(at.cwd, ".cursor"))).toBe(false);
  });
});
