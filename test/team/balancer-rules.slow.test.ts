// What nginx does with the configuration of deploy/, seen from the gateways' side: plain servers in their place count requests.
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "../support/needs.js";
import { freePort } from "./gateway-process.js";
import { hasNginx, startBalancer } from "./nginx.js";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const OK: Answer = (_, response, body) => response.end(body);
const STOPPING: Answer = (_, response) => response.writeHead(503, { "retry-after": "1" }).end("stopping");

/** A server that records what it receives and answers as it is told. */
async function stub(answer: Answer) {
  const received: { method: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  const state = { answer };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    received.push({ method: request.method ?? "", headers: request.headers, body });
    state.answer(request, response, body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received, state };
}

async function balanced(one: Answer, two: Answer, options?: Parameters<typeof startBalancer>[1]) {
  const gateways = [await stub(one), await stub(two)] as const;
  const balancer = await startBalancer(gateways, options);
  onTestFinished(() => balancer[Symbol.asyncDispose]());
  const send = async (headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(balancer.url, { method: "POST", body: "the call", headers, ...init });
    return { status: response.status, text: await response.text() };
  };
  return { ...balancer, gateways, send };
}

describe.skipIf(!hasNginx)(`nginx in front of gateways${needs("nginx", hasNginx)}`, () => {
  it("repeats a POST that a gateway rejected with 503, with its body, and leaves that gateway out", async () => {
    const { gateways, send } = await balanced(STOPPING, OK);
    for (let call = 0; call < 20; call += 1) expect(await send()).toEqual({ status: 200, text: "the call" });
    // It is tried once and then left out for a while. On a slow machine the while can pass.
    expect(gateways[0].received.length).toBeLessThan(10);
    expect(gateways[1].received).toHaveLength(20);
  });

  it("leaves no gateway out because it is not ready: its tools work without the database", async () => {
    const notReady: Answer = (request, response, body) =>
      request.url === "/readyz" ? STOPPING(request, response, body) : OK(request, response, body);
    const { gateways, send, url } = await balanced(notReady, notReady);
    for (let call = 0; call < 5; call += 1) {
      expect((await fetch(new URL("/readyz", url))).status).toBe(503);
      expect(await send()).toEqual({ status: 200, text: "the call" });
    }
    gateways[1].state.answer = OK;
    expect((await fetch(new URL("/readyz", url))).status).toBe(200);
  });

  it("repeats a POST at another gateway if the first one cannot be connected to", async () => {
    const gone = { port: await freePort() };
    const there = await stub(OK);
    await using balancer = await startBalancer([gone, there]);
    for (let call = 0; call < 20; call += 1) {
      const response = await fetch(balancer.url, { method: "POST", body: "the call" });
      expect([response.status, await response.text()]).toEqual([200, "the call"]);
    }
    expect(there.received).toHaveLength(20);
  });

  it.each(["POST", "DELETE", "GET"])("never repeats a %s that was sent and lost", async (method) => {
    const lost: Answer = (request) => request.socket.destroy();
    const { gateways, send } = await balanced(lost, lost);
    const { status } = await send({}, { method, body: method === "GET" ? null : "the call" });
    expect(status).toBe(502);
    expect(gateways[0].received.length + gateways[1].received.length).toBe(1);
  });

  it("never repeats a POST that a gateway does not answer in time", async () => {
    const { gateways, send } = await balanced(
      () => {},
      () => {},
      { change: (config) => config.replace("proxy_read_timeout 120s", "proxy_read_timeout 1s") },
    );
    expect((await send()).status).toBe(502);
    expect(gateways[0].received.length + gateways[1].received.length).toBe(1);
  });

  it("never repeats other errors of a gateway", async () => {
    for (const status of [400, 401, 404, 413, 429, 500, 502, 504]) {
      const answer: Answer = (_, response) => response.writeHead(status).end("its own words");
      const { gateways, send } = await balanced(answer, answer);
      expect(await send()).toEqual({ status, text: "its own words" });
      expect(gateways[0].received.length + gateways[1].received.length).toBe(1);
    }
  });

  it("sends a session to its own gateway, and to another one only if that is stopping or gone", async () => {
    const { gateways, send } = await balanced(OK, OK);
    const session = { "mcp-session-id": "gateway-2.b3b0e7c4" };
    for (let call = 0; call < 10; call += 1) await send(session);
    expect(gateways.map(({ received }) => received.length)).toEqual([0, 10]);
    gateways[1].state.answer = STOPPING;
    expect(await send(session)).toEqual({ status: 200, text: "the call" });
    expect(gateways.map(({ received }) => received.length)).toEqual([1, 11]);
    for (const unknown of ["gateway-3.b3b0e7c4", "gateway-20.x", "b3b0e7c4", "xgateway-2.x"]) {
      expect((await send({ "mcp-session-id": unknown })).status).toBe(200);
    }
  });

  it("passes host, credentials and protocol headers on, and replaces forged addresses", async () => {
    const { gateways, url } = await balanced(OK, OK);
    const headers = {
      host: "team.example:8443",
      origin: "https://team.example",
      authorization: "Bearer abc",
      "mcp-method": "tools/call",
      "mcp-protocol-version": "2026-07-28",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "x-forwarded-for": "203.0.113.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "evil.example",
    };
    await new Promise((resolve, reject) => {
      const sent = httpRequest(url, { method: "POST", headers }, (response) => response.resume().on("end", resolve));
      sent.on("error", reject).end("{}");
    });
    const [received] = gateways.flatMap((gateway) => gateway.received);
    expect(received?.headers).toMatchObject({
      ...headers,
      host: "team.example",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-host": "team.example",
    });
  });

  it("rejects bodies that no gateway would take, and keeps the figures of operators inside", async () => {
    const { gateways, send, url } = await balanced(OK, OK);
    expect((await send({}, { body: "x".repeat(7 * 1024 * 1024) })).status).toBe(200);
    expect((await send({}, { body: "x".repeat(9 * 1024 * 1024) })).status).toBe(413);
    expect((await fetch(new URL("/metrics", url))).status).toBe(404);
    expect(gateways[0].received.length + gateways[1].received.length).toBe(1);
  });

  it("passes events on as they come", async () => {
    let finish = () => {};
    const streaming: Answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: first\n\n");
      finish = () => response.end("data: last\n\n");
    };
    const { url } = await balanced(streaming, streaming);
    const response = await fetch(url, { method: "POST", body: "{}" });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    // The gateway sends the rest only after this has arrived.
    expect(await reader?.read()).toEqual({ done: false, value: "data: first\n\n" });
    finish();
    expect(await reader?.read()).toEqual({ done: false, value: "data: last\n\n" });
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  it.skipIf(!hasOpenssl)(`speaks HTTPS with deploy/tls.conf${needs("openssl", hasOpenssl)}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "trunkline-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [certificate, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", key, "-out", certificate];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...subject], {
      stdio: "ignore",
    });
    const { gateways, tlsUrl } = await balanced(OK, OK, { tls: { certificate, key } });
    const status = await new Promise((resolve, reject) => {
      const options = { method: "POST", ca: readFileSync(certificate), host: "localhost", family: 4 };
      httpsRequest(tlsUrl, options, (response) => response.resume().on("end", () => resolve(response.statusCode)))
        .on("error", reject)
        .end("{}");
    });
    expect(status).toBe(200);
    const [received] = gateways.flatMap((gateway) => gateway.received);
    expect(received?.headers["x-forwarded-proto"]).toBe("https");
  });
});
