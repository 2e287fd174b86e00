// The console is a page on loopback that can start servers and answer for the person: who may use it, and from where.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redactor, silentLogger, TrunklineError } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ConsoleAccess, type ConsoleHandlers, ConsoleServer } from "../../packages/console/src/index.js";
import { userIn } from "../../packages/console/src/server/console-server.js";

const page = mkdtempSync(join(tmpdir(), "console-page-"));
const redactor = new Redactor().add("hunter2-secret");
let server: ConsoleServer;
const access = new ConsoleAccess();

const handlers = {
  overview: async () => ({ version: "hunter2-secret" }),
  operation: async ({ op }: { op: string }, { signal }: { signal: AbortSignal }) => {
    if (op === "fail") throw new TrunklineError("NOT_FOUND", "No hunter2-secret here.", { hint: "Look elsewhere." });
    if (op === "wait")
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return { result: op, durationMs: 1 };
  },
} as unknown as ConsoleHandlers; // Only what these tests ask for.

beforeAll(async () => {
  writeFileSync(join(page, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(page, "main.js"), "export {};");
  writeFileSync(join(page, ".inputs"), "not served");
  server = await ConsoleServer.open({
    access,
    handlers,
    version: "1",
    logger: silentLogger,
    redact: (value) => redactor.value(value),
    pageFolder: page,
  });
});

afterAll(async () => {
  vi.useRealTimers();
  await server.close();
  rmSync(page, { recursive: true });
});

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A request as any program can send it, with any Host. */
function send(path: string, { method = "POST", headers = {}, body = "{}" }: Sent = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const sent = httpRequest({
      port: server.port,
      host: "127.0.0.1",
      path,
      method,
      headers: { host: `127.0.0.1:${server.port}`, "content-type": "application/json", ...headers },
    });
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.on("error", reject);
    sent.end(method === "POST" || method === "PUT" ? body : undefined);
  });
}

async function newToken(): Promise<string> {
  const code = new URL(server.createLink()).hash.slice("#code=".length);
  const { body } = await send("/api/session", { body: JSON.stringify({ code }) });
  return (JSON.parse(body) as { token: string }).token;
}

async function ask(name: string, params: unknown, headers: Record<string, string> = {}) {
  const token = await newToken();
  const answer = await send(`/api/${name}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: typeof params === "string" ? params : JSON.stringify(params),
  });
  return { ...answer, value: JSON.parse(answer.body) as Record<string, Record<string, unknown>> };
}

describe("the page", () => {
  it("is served with a policy that runs no script but our own", async () => {
    const { status, headers, body } = await send("/", { method: "GET" });
    expect(status).toBe(200);
    expect(body).toContain("<title>page</title>");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers["set-cookie"]).toBeUndefined();
  });

  it.each(["/.inputs", "/../package.json", "/%2e%2e/package.json", "//etc/passwd", "/main.js/..", "/nothing"])(
    "does not serve %s",
    async (path) => {
      expect((await send(path, { method: "GET" })).status).toBe(404);
    },
  );

  it("needs no token, and gives away nothing", async () => {
    expect((await send("/main.js", { method: "GET" })).status).toBe(200);
    expect((await send("/", { method: "POST" })).status).toBe(405);
  });
});

describe("a link", () => {
  it("has its code behind #, where no request and no log shows it", () => {
    const link = new URL(server.createLink("&workspace=w1"));
    expect(link.hostname).toBe("127.0.0.1");
    expect(link.search).toBe("");
    expect(link.hash).toMatch(/^#code=[\w-]{43}&workspace=w1$/);
  });

  it("works once", async () => {
    const code = new URL(server.createLink()).hash.slice("#code=".length);
    const first = await send("/api/session", { body: JSON.stringify({ code }) });
    const second = await send("/api/session", { body: JSON.stringify({ code }) });
    expect([first.status, second.status]).toEqual([200, 401]);
    expect(second.body).toContain("trunkline console");
  });

  it("works for two minutes", async () => {
    const code = new URL(server.createLink()).hash.slice("#code=".length);
    vi.setSystemTime(Date.now() + 2 * 60_000);
    expect((await send("/api/session", { body: JSON.stringify({ code }) })).status).toBe(401);
  });

  it.each(["{}", '{"code":7}', '{"code":""}', "[]", "7"])("is not replaced by %s", async (body) => {
    expect((await send("/api/session", { body })).status).toBe(401);
  });
});

describe("a token", () => {
  it.each([
    ["none", undefined],
    ["an empty one", "Bearer "],
    ["an unknown one", `Bearer ${"0".repeat(16)}.${"A".repeat(43)}`],
    ["another scheme", "Basic dTpw"],
  ])("is required: %s is refused", async (_name, authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    for (const name of ["overview", "events", "nothing"]) {
      const { status, body } = await send(`/api/${name}`, { headers });
      expect(status).toBe(401);
      expect(body).toContain("trunkline console");
    }
  });

  it("with another secret is refused", async () => {
    const token = await newToken();
    const forged = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    expect((await send("/api/overview", { headers: { authorization: `Bearer ${forged}` } })).status).toBe(401);
  });

  it("ends after twelve hours", async () => {
    const token = await newToken();
    const headers = { authorization: `Bearer ${token}` };
    expect((await send("/api/overview", { headers })).status).toBe(200);
    vi.setSystemTime(Date.now() + 12 * 60 * 60_000);
    expect((await send("/api/overview", { headers })).status).toBe(401);
  });

  it("is proved by the console before a page sends it, and only by one that knows it", async () => {
    const [id = ""] = (await newToken()).split(".");
    const known = await send("/api/prove", { body: JSON.stringify({ id, nonce: "n1" }) });
    const other = await send("/api/prove", { body: JSON.stringify({ id, nonce: "n2" }) });
    expect(known.status).toBe(200);
    expect(known.body).not.toBe(other.body);
    for (const body of ['{"id":"0000000000000000","nonce":"n"}', "{}", JSON.stringify({ id, nonce: "n".repeat(201) })])
      expect((await send("/api/prove", { body })).status).toBe(401);
  });
});

describe("another user of this machine", () => {
  /** Only root can start a program as someone else. */
  it.runIf(process.getuid?.() === 0)("cannot use a link, even if they see its code", async () => {
    const code = new URL(server.createLink()).hash.slice("#code=".length);
    const program = `fetch("http://127.0.0.1:${server.port}/api/session", { method: "POST",
      headers: { "content-type": "application/json" }, body: JSON.stringify({ code: ${JSON.stringify(code)} }) })
      .then((response) => console.log(response.status))`;
    const run = promisify(execFile);
    const other = await run(process.execPath, ["-e", program], { uid: 65_534, gid: 65_534, cwd: "/", env: {} });
    expect(other.stdout).toBe("403\n");
    // It was not used up.
    expect((await run(process.execPath, ["-e", program])).stdout).toBe("200\n");
  });

  it.runIf(process.platform === "linux" && process.getuid?.() === 0)(
    "cannot hide behind another address of this machine",
    async () => {
      const code = new URL(server.createLink()).hash.slice("#code=".length);
      const program = `const request = require("node:http").request({ host: "127.0.0.1", port: ${server.port},
      localAddress: "127.0.0.2", path: "/api/session", method: "POST", headers: { "content-type": "application/json" } });
      request.on("response", (response) => console.log(response.statusCode));
      request.end(${JSON.stringify(JSON.stringify({ code }))})`;
      const run = promisify(execFile);
      const other = await run(process.execPath, ["-e", program], { uid: 65_534, gid: 65_534, cwd: "/", env: {} });
      expect(other.stdout).toBe("403\n");
      expect((await run(process.execPath, ["-e", program])).stdout).toBe("200\n");
    },
  );

  it.each([
    ["0100007F", "127.0.0.1", 1000],
    ["0200007F", "127.0.0.2", 1000],
    ["0000000000000000FFFF00000200007F", "::ffff:127.0.0.2", 1000],
    ["0100007E", "127.0.0.1", undefined],
  ])("is known by the kernel's table: %s", (address, clientAddress, user) => {
    const server = address.replace(/0.00007F$/, "0100007F");
    const line = (local: string, remote: string, uid: number) =>
      `   1: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000 ${uid}        0 12345 1 0 20 4 30 10 -1`;
    const ours = line(`${server}:1F90`, `${address}:C001`, 0);
    const theirs = line(`${address}:C001`, `${server}:1F90`, 1000);
    const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
    const ends = { clientAddress, clientPort: 0xc001, serverPort: 0x1f90 };
    expect(userIn([head, ours, theirs, ""].join("\n"), ends)).toBe(user);
    // A table that changes while it is read can lack lines.
    expect(userIn([head, ours, ""].join("\n"), ends)).toBe(user === undefined ? undefined : "hidden");
  });
});

describe("requests from elsewhere", () => {
  it.each([
    ["another host name, as after DNS rebinding", { host: "evil.example" }],
    ["our port under another name", { host: "evil.example:80" }],
    ["another origin", { origin: "http://evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["a sandboxed frame", { origin: "null" }],
    ["another site, as the browser says", { "sec-fetch-site": "cross-site" }],
    ["another port, as the browser says", { "sec-fetch-site": "same-site" }],
  ])("are refused: %s", async (_name, headers) => {
    const { status } = await ask("overview", {}, headers as Record<string, string>);
    expect(status).toBe(421);
    expect((await send("/", { method: "GET", headers: headers as Record<string, string> })).status).toBe(421);
  });

  it("are refused if they are forms", async () => {
    const { status } = await ask("overview", {}, { "content-type": "text/plain" });
    expect(status).toBe(415);
  });

  it("are refused if they are not POST", async () => {
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"])
      expect((await send("/api/overview", { method })).status).toBe(405);
  });
});

describe("requests", () => {
  it("are answered without secrets", async () => {
    expect((await ask("overview", {})).body).toBe('{"version":"<redacted>"}');
  });

  it("fail with code, message and hint, without secrets", async () => {
    const { status, value } = await ask("operation", { workspace: "w", op: "fail", params: {} });
    expect(status).toBe(404);
    expect(value.error).toEqual({ code: "NOT_FOUND", message: "No <redacted> here.", hint: "Look elsewhere." });
  });

  it.each([
    ["[]", /must be an object/],
    ["{", /not valid JSON/],
    ['{"workspace":"w"}', /"op" of operation must be a string/],
    ['{"workspace":"w","op":"x","params":[]}', /"params" of operation must be an object/],
    ['{"workspace":"w","op":"x","params":{},"more":1}', /no parameter "more"/],
    ['{"workspace":"w","op":"x","params":{},"__proto__":1}', /no parameter "__proto__"/],
  ])("are checked: %s", async (body, message) => {
    const { status, value } = await ask("operation", body);
    expect(status).toBe(400);
    expect(value.error?.message).toMatch(message);
  });

  it.each(["constructor", "__proto__", "toString", "nothing"])("that do not exist are not found: %s", async (name) => {
    expect((await ask(name, {})).status).toBe(404);
  });

  it("of more than 4 MB are refused", async () => {
    const body = JSON.stringify({ workspace: "w", op: "x".repeat(5 * 1024 * 1024), params: {} });
    const { status, value } = await ask("operation", body);
    expect(status).toBe(400);
    expect(value.error?.message).toMatch(/larger than 4194304 bytes/);
  });

  it("without a token are read only as far as a code can be", async () => {
    for (const name of ["session", "prove"]) {
      const { status, body } = await send(`/api/${name}`, { body: JSON.stringify({ code: "x".repeat(3_000) }) });
      expect(status).toBe(400);
      expect(body).toContain("larger than 2048 bytes");
    }
  });
});

describe("the event stream", () => {
  it("begins with a hello, then passes events on, and counts viewers", async () => {
    const token = await newToken();
    const leaving = new AbortController();
    const response = await fetch(`http://127.0.0.1:${server.port}/api/events`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: "{}",
      signal: leaving.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(JSON.parse((await reader?.read())?.value ?? "")).toEqual({ kind: "hello", version: "1", pid: process.pid });
    expect(server.viewers).toBe(1);
    server.send({ kind: "changed", topics: ["servers"], workspace: "hunter2-secret" });
    const second = JSON.parse((await reader?.read())?.value ?? "") as unknown;
    expect(second).toEqual({ kind: "changed", topics: ["servers"], workspace: "<redacted>" });
    leaving.abort();
    await expect.poll(() => server.viewers).toBe(0);
  });
});
