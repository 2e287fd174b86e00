// Attacks on the HTTP endpoint: without a token, with the token of another client, and with requests that no client
// sends.
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { silentLogger } from "@trunkline/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type HttpEndpointOptions, listenHttp, type Principals } from "../../packages/gateway/src/endpoints/http.js";
import { BodyBudget, readBody } from "../../packages/gateway/src/endpoints/http-requests.js";
import {
  callModern,
  envelope,
  type Message,
  modern,
  modernHeaders,
  post,
  read,
  untilEnded,
} from "../../packages/gateway/test/endpoints/http-client.js";
import { createTestService } from "../../packages/gateway/test/protocol/test-service.js";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};
const PING = { jsonrpc: "2.0", id: 2, method: "ping" };

/** Tokens that can be revoked. The token of `alice` is `token-alice`. */
class TestPrincipals implements Principals {
  readonly names = new Set(["alice", "bob"]);
  readonly hint = "The token of this server is in the file /home/me/.trunkline/token.";
  #listener: ((principal: string) => void) | undefined;

  identify(token: string): string | undefined {
    const name = token.replace(/^token-/, "");
    return this.names.has(name) ? name : undefined;
  }

  onEnded(listener: (principal: string) => void): () => void {
    this.#listener = listener;
    return () => {};
  }

  revoke(name: string): void {
    this.names.delete(name);
    this.#listener?.(name);
  }
}

const as = (name: string) => ({ authorization: `Bearer token-${name}` });

async function start(options: Partial<HttpEndpointOptions> = {}) {
  const service = createTestService();
  const principals = new TestPrincipals();
  const endpoint = await listenHttp({
    logger: silentLogger,
    host: "127.0.0.1",
    port: 0,
    graceMs: 200,
    service,
    principals,
    ...options,
  });
  onTestFinished(() => endpoint.close());
  return { url: endpoint.url, service, principals };
}

async function open(url: string, name: string): Promise<string> {
  const response = await post(url, INITIALIZE, as(name));
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

async function statusIn(url: string, name: string, session: string): Promise<number> {
  const response = await post(url, PING, { ...as(name), "mcp-session-id": session });
  await response.text();
  return response.status;
}

/** Sends bytes and returns the first line of the answer. */
async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.end(text));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer.split("\r\n")[0] ?? ""));
  });
}

describe("another user of this machine", () => {
  it("cannot use the endpoint without the token, and the answer names the token file", async () => {
    const { url, service } = await start();
    const answers = [
      await post(url, INITIALIZE),
      await post(url, PING, { authorization: "Bearer " }),
      await post(url, PING, { authorization: "Bearer token-mallory" }),
      await post(url, PING, { authorization: "Basic token-alice" }),
      await post(url, PING, { cookie: "authorization=token-alice" }),
      await post(`${url}?access_token=token-alice`, PING),
      await fetch(url, { headers: { accept: "text/event-stream" } }),
      await fetch(url, { method: "DELETE", headers: { "mcp-session-id": "x" } }),
      await fetch(url, { method: "PUT", body: "x" }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(await answer.text()).toContain("/home/me/.trunkline/token");
      // Nothing in it makes a client start a sign-in.
      expect(answer.headers.get("www-authenticate") ?? "").not.toMatch(
        /resource_metadata|authorization_uri|scope|error/,
      );
    }
    expect(service.exchanges).toEqual([]);
  });

  it("gets the answer before the body is read", async () => {
    const { url } = await start();
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    // The body never comes; nothing is kept for it.
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: 4000000\r\n\r\n`,
    );
    const answer = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  }, 15_000);

  it("is not led to a sign-in: the well-known paths do not exist, with and without a token", async () => {
    const { url } = await start();
    const paths = [
      "/.well-known/oauth-protected-resource",
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-authorization-server",
      "/.well-known/oauth-authorization-server/mcp",
      "/.well-known/openid-configuration",
      "/mcp/.well-known/openid-configuration",
      "/register",
      "/authorize",
      "/token",
      "/",
    ];
    for (const path of paths) {
      for (const headers of [{}, as("alice")]) {
        const answer = await fetch(new URL(path, url), { headers });
        expect(answer.status, path).toBe(404);
        expect(await answer.text()).not.toContain("/home/me");
      }
      expect((await post(new URL(path, url).href, "{}")).status, path).toBe(404);
    }
  });
});

describe("a client with another token", () => {
  it("cannot use, resume or end a session that is not its own", async () => {
    const { url } = await start();
    const session = await open(url, "alice");
    const headers = { ...as("bob"), "mcp-session-id": session };
    expect(await statusIn(url, "bob", session)).toBe(404);
    const stream = await fetch(url, { headers: { ...headers, accept: "text/event-stream", "last-event-id": "x-1" } });
    expect(stream.status).toBe(404);
    await stream.body?.cancel();
    expect((await fetch(url, { method: "DELETE", headers })).status).toBe(404);
    expect(await statusIn(url, "alice", session)).toBe(200);
  });

  it("cannot push out the sessions of others by opening 1,005 of its own", async () => {
    const { url } = await start();
    const session = await open(url, "alice");
    const first = await open(url, "bob");
    let last = "";
    for (let opened = 1; opened < 1_005; opened++) last = await open(url, "bob");
    expect(await statusIn(url, "alice", session)).toBe(200);
    expect(await statusIn(url, "bob", last)).toBe(200);
    expect(await statusIn(url, "bob", first)).toBe(404);
  }, 60_000);

  it("cannot follow or cancel a task that is not its own", async () => {
    const { url } = await start({ limits: { taskAfterMs: 1, undeclaredTaskAfterMs: 1 } });
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const started = await callModern(url, "hang", {}, { capabilities, headers: as("alice") });
    const taskId: string = started.last.result.taskId;
    expect(taskId, JSON.stringify(started.last)).toBeDefined();
    for (const method of ["tasks/get", "tasks/cancel"]) {
      const stolen = await modern(url, method, { taskId }, { capabilities, headers: as("bob") });
      expect(stolen.last.error?.message).toContain("not found");
    }
    expect(
      (await modern(url, "tasks/get", { taskId }, { capabilities, headers: as("alice") })).last.result.status,
    ).toBe("working");
  });

  it("cannot use up the subscriptions or the requests of others", async () => {
    const { url } = await start({ limits: { maxSubscriptions: 1, maxInFlight: 1 } });
    const listen = async (name: string) => {
      const controller = new AbortController();
      onTestFinished(() => controller.abort());
      const params = { notifications: { toolsListChanged: true }, _meta: envelope() };
      const headers = { ...modernHeaders("subscriptions/listen", params), ...as(name) };
      const body = { jsonrpc: "2.0", id: 5, method: "subscriptions/listen", params };
      return await post(url, body, headers, controller.signal);
    };
    expect((await listen("bob")).headers.get("content-type")).toContain("event-stream");
    expect(JSON.stringify((await read(await listen("bob"))).last)).toContain("Too many subscriptions");
    expect((await listen("alice")).headers.get("content-type")).toContain("event-stream");
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    void callModern(url, "hang", {}, { headers: as("bob"), signal: controller.signal }).catch(() => undefined);
    await vi.waitFor(async () => {
      expect((await callModern(url, "echo", { text: "b" }, { headers: as("bob") })).status).toBe(429);
    });
    expect((await callModern(url, "echo", { text: "a" }, { headers: as("alice") })).status).toBe(200);
  });
});

describe("a client that sends many large bodies at once", () => {
  it("cannot fill the memory, and does not stop others", () => {
    const budget = new BodyBudget(64);
    expect(budget.take("bob", 60)).toBe(true);
    expect(budget.take("bob", 5)).toBe(false);
    expect(budget.take("alice", 5)).toBe(true);
    budget.release("bob", 60);
    expect(budget.take("bob", 5)).toBe(true);
  });

  it("is turned away while it is still sending", async () => {
    const budget = new BodyBudget(64);
    budget.take("bob", 60);
    const body = async (principal: string) => {
      const request = Object.assign(Readable.from([Buffer.alloc(30, "x")]), { headers: {}, complete: true });
      // Only what readBody uses of a request.
      return await readBody(request as unknown as IncomingMessage, { maxBytes: 100, principal, budget });
    };
    expect(await body("bob")).toMatchObject({ status: 429 });
    expect(await body("alice")).toBe("x".repeat(30));
  });
});

describe("a revoked token", () => {
  it("ends the sessions, streams and calls of its principal, and of no other", async () => {
    const { url, principals } = await start();
    const session = await open(url, "alice");
    const other = await open(url, "bob");
    const stream = await fetch(url, {
      headers: { ...as("alice"), accept: "text/event-stream", "mcp-session-id": session },
    });
    expect(stream.status).toBe(200);
    const calling = callModern(url, "hang", {}, { headers: as("alice") });
    await vi.waitFor(async () => expect(await statusIn(url, "bob", other)).toBe(200));
    principals.revoke("alice");
    // The stream ends, and the call is answered.
    await untilEnded(stream);
    const answer: Message = await calling.catch((error: unknown) => error);
    expect(answer.last?.error ?? answer).toBeDefined();
    expect(await statusIn(url, "alice", session)).toBe(401);
    expect(await statusIn(url, "bob", other)).toBe(200);
  });
});

describe("a request that no client sends", () => {
  it.each([
    ["//[", 404],
    ["//[/mcp", 404],
    ["//evil.example/mcp", 404],
    ["/\\[", 404],
    ["http://[", 404],
    ["http://[/mcp", 404],
    ["*", 404],
    ["/%", 404],
    ["/%E0%A4%A/mcp", 404],
    ["/mcp/../mcp/x", 404],
    ["/MCP", 404],
    ["javascript:alert(1)", 404],
  ])("with the target %s is not found, never an internal error", async (target, status) => {
    const { url } = await start();
    const { host } = new URL(url);
    for (const method of ["GET", "POST", "DELETE"]) {
      const line = await sendRaw(
        url,
        `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
      );
      expect(line, method).toMatch(new RegExp(`^HTTP/1\\.1 (${status}|400) `));
    }
  });

  it("in absolute form is served, if it is for this endpoint", async () => {
    const { url } = await start();
    const { host } = new URL(url);
    const head = `host: ${host}\r\nconnection: close\r\nauthorization: Bearer token-alice\r\n\r\n`;
    // 400: there is no session.
    expect(await sendRaw(url, `GET http://${host}/mcp HTTP/1.1\r\n${head}`)).toMatch(/ 400 /);
  });

  it.each([
    ["a bad Host", "GET /mcp HTTP/1.1\r\nhost: [\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 (400|403) /],
    [
      "two Hosts",
      "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n",
      /^HTTP\/1\.1 (400|401|403) /,
    ],
    ["no Host", "GET /mcp HTTP/1.1\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["huge headers", `GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${"y".repeat(100_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    [
      "both a length and chunks",
      "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      /^HTTP\/1\.1 400 /,
    ],
    [
      "an unknown transfer encoding",
      "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked, x\r\nconnection: close\r\n\r\n",
      /^HTTP\/1\.1 (400|401|501) /,
    ],
    ["no HTTP at all", "\u0016\u0003\u0001\u0000\r\n\r\n", /^HTTP\/1\.1 400 /],
  ])("with %s is turned away", async (_, text, expected) => {
    const { url } = await start();
    expect(await sendRaw(url, text)).toMatch(expected);
  });
});
