import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "@trunkline/core";
import { describe, expect, test } from "vitest";
import { listenHttp } from "../../src/endpoints/http.js";
import { createTestService, until } from "../protocol/test-service.js";
import {
  callModern,
  envelope,
  modernHeaders,
  post,
  read,
  Session,
  StreamReader,
  startHttp,
  textOf,
} from "./http-client.js";

/** Sends a request with headers that fetch does not allow. */
async function raw(url: string, headers: Record<string, string>, method = "GET"): Promise<number> {
  return await new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end();
  });
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

describe("the HTTP endpoint rejects", () => {
  test("host names and origins that are not this machine's", async () => {
    const { url } = await startHttp();
    expect(await raw(url, { host: "evil.example" })).toBe(403);
    expect(await raw(url, { origin: "https://evil.example" })).toBe(403);
    expect(await raw(url, { origin: "null" })).toBe(403);
    // 400 means accepted, but there is no session.
    expect(await raw(url, { host: "localhost:1", origin: "http://localhost:3000" })).toBe(400);
    // Twice: the second time the name is cached.
    for (const _ of [1, 2]) expect(await raw(url, { host: "127.0.0.1:99" })).toBe(400);
    for (const _ of [1, 2]) expect(await raw(url, { host: "evil.example" })).toBe(403);
  });

  test("requests without the token", async () => {
    const { url } = await startHttp({ token: "s3cret" });
    for (const authorization of [undefined, "Bearer wrong", "Basic s3cret", "Bearer ", "s3cret"]) {
      const response = await post(url, ping, authorization === undefined ? {} : { authorization });
      expect(response.status, authorization).toBe(401);
      expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
    const headers = { authorization: "bearer s3cret" };
    expect(textOf(await callModern(url, "echo", { text: "in" }, { headers }))).toBe("in");
  });

  test("other machines, unless there is a token", async () => {
    const options = { service: createTestService(), logger: silentLogger, host: "0.0.0.0", port: 0 };
    await expect(listenHttp(options)).rejects.toMatchObject({
      code: "USAGE",
      hint: expect.stringContaining("TRUNKLINE_TOKEN"),
    });
    await expect(listenHttp({ ...options, token: "" })).rejects.toMatchObject({ code: "USAGE" });
    const { url } = await startHttp({ host: "0.0.0.0", token: "t" });
    const address = url.replace("0.0.0.0", "127.0.0.1");
    expect((await post(address, ping, { authorization: "Bearer t" })).status).toBe(400);
  });

  test("unknown host names, even with the token", async () => {
    const headers = { authorization: "Bearer t" };
    const { url } = await startHttp({ host: "0.0.0.0", token: "t", allowedHosts: ["Proxy.Example"] });
    const address = url.replace("0.0.0.0", "127.0.0.1");
    for (const host of ["evil.example", "10.0.0.1"]) expect(await raw(address, { ...headers, host }), host).toBe(403);
    for (const host of ["proxy.example", "PROXY.example:8443", "localhost", "127.0.0.1:1", hostname()])
      expect(await raw(address, { ...headers, host }), host).toBe(400);
    // The address at which the request arrives is always allowed.
    const own = url.replace("0.0.0.0", "127.0.0.2");
    if (process.platform === "linux") expect(await raw(own, headers)).toBe(400);
  });

  test("names that do not resolve and addresses of other machines", async () => {
    const options = { service: createTestService(), logger: silentLogger, port: 0, token: "t" };
    for (const host of ["nosuchhost.invalid", ""])
      await expect(listenHttp({ ...options, host })).rejects.toMatchObject({
        code: "USAGE",
        message: expect.not.stringContaining("let other machines in"),
      });
    await expect(listenHttp({ ...options, host: "192.0.2.1" })).rejects.toMatchObject({
      code: "USAGE",
      message: "192.0.2.1 is not an address of this machine.",
    });
  });

  test("a port that is in use", async () => {
    const { url } = await startHttp();
    const options = { service: createTestService(), logger: silentLogger, host: "127.0.0.1" };
    await expect(listenHttp({ ...options, port: Number(new URL(url).port) })).rejects.toMatchObject({ code: "USAGE" });
  });

  test("bodies that are too large, of another type, or not JSON", async () => {
    const { url } = await startHttp();
    const part = "x".repeat(1024 * 1024);
    expect((await post(url, `${part.repeat(4)}x`)).status).toBe(413);
    const chunked = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new ReadableStream({
        start: (controller) => {
          for (let chunk = 0; chunk < 5; chunk += 1) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      }),
      duplex: "half",
    } as RequestInit);
    expect(chunked.status).toBe(413);
    expect((await post(url, ping, { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(url, ping, { accept: "text/html" })).status).toBe(406);
    expect((await post(url, ping, { accept: "application/json" })).status).toBe(406);
    expect(await read(await post(url, "{nonsense"))).toMatchObject({
      status: 400,
      last: { id: null, error: { code: -32700 } },
    });
    expect(
      await read(await post(url, ping, { "content-type": "application/json; charset=utf-8", accept: "*/*" })),
    ).toMatchObject({ last: { error: { code: -32000 } } });
  });

  test("other methods and paths", async () => {
    const { url } = await startHttp();
    const put = await fetch(url, { method: "PUT", body: "x" });
    expect(put.status).toBe(405);
    expect(put.headers.get("allow")).toBe("GET, POST, DELETE");
    expect((await fetch(url.replace("/mcp", "/other"))).status).toBe(404);
    expect((await fetch(url)).status).toBe(400);
  });

  test("clients that do not read, without buffering for them", async () => {
    const { url, service } = await startHttp();
    const { hostname, port } = new URL(url);
    const session = await Session.open(url);
    const socket = connect(Number(port), hostname);
    const headers = Object.entries({ ...session.headers, accept: "text/event-stream", host: `${hostname}:${port}` });
    socket.write(`GET /mcp HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await session.request("resources/subscribe", { uri: `test://${"x".repeat(100_000)}` });
    await until(() => service.watched.size === 1);
    for (let round = 0; round < 400; round += 1) {
      service.touch([...service.watched.keys()][0] as string);
      if (round % 50 === 0) await sleep(1);
    }
    socket.resume();
    await closed;
    // The session itself lives on.
    expect((await session.request("ping")).last.result).toEqual({});
  });
});

describe("closing the HTTP endpoint", () => {
  test("lets running calls finish in both eras and accepts nothing new", async () => {
    const { url, close, service } = await startHttp({ graceMs: 2_000 });
    const session = await Session.open(url);
    const calls = [
      callModern(url, "wait", { ms: 200, tag: "modern" }),
      session.call("wait", { ms: 200, tag: "legacy" }),
    ];
    await until(() => service.started.length === 2);
    const closed = close();
    expect((await post(url, ping)).status).toBe(503);
    expect((await Promise.all(calls)).map(textOf)).toEqual(["waited modern", "waited legacy"]);
    await closed;
    expect(service.released).toHaveLength(1);
    await expect(fetch(url)).rejects.toThrow();
  });

  test("ends calls that exceed the grace period and notifies their clients", async () => {
    const { url, close, service } = await startHttp({ graceMs: 50 });
    const session = await Session.open(url);
    const calls = [callModern(url, "hang", { tag: "modern" }), session.call("hang", { tag: "legacy" })];
    await until(() => service.started.length === 2);
    await close();
    const replies = await Promise.all(calls);
    for (const { last } of replies) expect(last.error).toMatchObject({ code: -32603 });
    // A load balancer repeats a request that got 503 at another gateway.
    expect(replies[0]?.status).toBe(500);
    expect(service.aborted.sort()).toEqual(["legacy", "modern"]);
  });

  test("ends streams properly and only once", async () => {
    const { url, close } = await startHttp();
    const session = await Session.open(url);
    const stream = new StreamReader(await session.get());
    const params = { notifications: { toolsListChanged: true }, _meta: envelope() };
    const listening = new StreamReader(
      await post(
        url,
        { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params },
        modernHeaders("subscriptions/listen", {}),
      ),
    );
    await listening.next();
    await Promise.all([close(), close()]);
    expect(await stream.next()).toBeUndefined();
    expect(await listening.next()).toMatchObject({ id: 1, result: {} });
  });
});
