import { createServer, request as forward } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { openHub } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";
import { Told } from "../hub/told.js";

interface Listening extends AsyncDisposable {
  readonly port: number;
}

async function listen(server: Server): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** The error of a server that could not be connected. */
async function failureAt(url: string, type: "http" | "sse") {
  await using hub = await openHub(configOf(http("far", url, { type })));
  const [status] = hub.status();
  expect(status?.state).toBe("failed");
  const { code, message, hint, retryable, data } = status?.error ?? {};
  return { code, message, hint, retryable, cause: data?.cause };
}

describe.each(["http", "sse"] as const)("an %s entry that cannot be connected", (type) => {
  const open: Listening[] = [];
  const ports = { free: 0, plain: 0, tls: 0, dropping: 0 };

  beforeAll(async () => {
    const free = await listen(createServer());
    ports.free = free.port;
    await free[Symbol.asyncDispose]();
    const plain = await listen(createServer((_, response) => response.writeHead(404).end()));
    // Has no certificate at all, so every handshake fails.
    const tls = await listen(createTlsServer({}));
    const dropping = await listen(createTcpServer((socket) => socket.destroy()));
    open.push(plain, tls, dropping);
    Object.assign(ports, { plain: plain.port, tls: tls.port, dropping: dropping.port });
  });

  afterAll(async () => {
    for (const server of open) await server[Symbol.asyncDispose]();
  });

  it("reports a refused connection", async () => {
    expect(await failureAt(`http://127.0.0.1:${ports.free}/mcp`, type)).toEqual({
      code: "CONNECTION_FAILED",
      message: `Server "far" at http://127.0.0.1:${ports.free}/mcp refused the connection.`,
      hint: "Nothing is listening there: is the server running, and is the port right?",
      retryable: true,
      cause: "refused",
    });
  });

  it("reports an unknown host", async () => {
    expect(await failureAt("http://no-such-host.invalid/mcp", type)).toMatchObject({
      code: "CONNECTION_FAILED",
      message: 'Server "far" at http://no-such-host.invalid/mcp cannot be reached (ENOTFOUND).',
      hint: "Cannot resolve the host name: check the spelling and the network.",
      retryable: true,
      cause: "unreachable",
    });
  });

  it.each(["plain", "tls"] as const)("reports wrong TLS (%s)", async (server) => {
    expect(await failureAt(`https://127.0.0.1:${ports[server]}/mcp`, type)).toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining("has no trusted TLS certificate ("),
      hint: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
      retryable: true,
      cause: "tls",
    });
  });

  it("reports a connection that is dropped", async () => {
    expect(await failureAt(`http://127.0.0.1:${ports.dropping}/mcp`, type)).toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringMatching(/cannot be reached \((ECONNRESET|UND_ERR_SOCKET)\)/),
      retryable: true,
      cause: "unreachable",
    });
  });

  it("reports a port that fetch blocks", async () => {
    expect(await failureAt("http://127.0.0.1:6000/mcp", type)).toMatchObject({
      code: "CONNECTION_FAILED",
      message: 'Server "far" at http://127.0.0.1:6000/mcp cannot be reached: its port is blocked.',
      cause: "unreachable",
    });
  });

  it("reports an HTTP status as what it is", async () => {
    expect(await failureAt(`http://127.0.0.1:${ports.plain}/mcp`, type)).toMatchObject({
      code: "PROTOCOL",
      message: `Server "far" at http://127.0.0.1:${ports.plain}/mcp answered with HTTP 404.`,
      retryable: false,
      cause: "protocol",
    });
  });
});

describe("an sse entry", () => {
  it("whose event stream ends at once says so", async () => {
    await using server = await listen(
      createServer((request, response) => {
        if (request.method === "GET") response.writeHead(200, { "content-type": "text/event-stream" }).end();
        else response.writeHead(404).end();
      }),
    );
    expect(await failureAt(`http://127.0.0.1:${server.port}/sse`, "sse")).toMatchObject({
      code: "PROTOCOL",
      message: 'Server "far" does not respond like an MCP server: the event stream ended before it began.',
    });
  });

  it("fails a call at once when the server dies, and connects again when it is back", async () => {
    const server = await startServer("slow", ["--sse"]);
    await using hub = await openHub(configOf(http("slow", server.url, { type: "sse", callTimeoutMs: 600_000 })));
    const progress = new Told<unknown>();
    const call = hub.call("slow.wait", { ms: 600_000, progressEveryMs: 10 }, { onProgress: progress.tell });
    call.catch(() => {});
    await progress.next();
    await server.close();
    await expect(call).rejects.toMatchObject({
      code: "SERVER_EXITED",
      message: 'tools/call on "slow" failed: the connection closed.',
    });
    await using _again = await startServer("slow", ["--sse", "--port", String(server.port)]);
    expect((await hub.call("slow.wait", { ms: 1 })).isError).toBe(false);
  });

  it("opens a new session when the server has forgotten the old one", async () => {
    await using server = await startServer("hello", ["--sse"]);
    let isForgotten = false;
    await using relay = await listen(
      createServer((request, response) => {
        if (isForgotten && request.method === "POST") {
          isForgotten = false;
          return void response.writeHead(404).end("unknown session");
        }
        const { method, headers, url = "/" } = request;
        const upstream = forward({ port: server.port, method, headers, path: url }, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        });
        request.pipe(upstream);
        response.once("close", () => upstream.destroy());
      }),
    );
    await using hub = await openHub(configOf(http("hello", `http://127.0.0.1:${relay.port}/sse`, { type: "sse" })));
    isForgotten = true;
    expect((await hub.call("hello.hello", { name: "Ada" })).text).toBe("Hello, Ada!");
  });
});
