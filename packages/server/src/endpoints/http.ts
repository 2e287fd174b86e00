// Streamable HTTP. One path serves both eras: the stateless revision through the SDK's handler, and the sessions of the
// older revisions through one transport each, because elicitation, cancellation and list_changed need them there.
import { randomUUID } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  NodeStreamableHTTPServerTransport,
  originValidation,
  toNodeHandler,
  toWebRequest,
} from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "@modelcontextprotocol/server";
import { type Logger, parseJson, systemCodeOf, TrunklineError, toTrunklineError } from "@trunkline/core";
import { createServer, type ServerInfo } from "../surface/create-server.js";

/** What the HTTP endpoint needs. */
export interface HttpEndpointOptions {
  info: ServerInfo;
  logger: Logger;
  host: string;
  /** 0 takes any free port. */
  port: number;
}

/** A listening endpoint. */
export interface HttpEndpoint extends AsyncDisposable {
  /** The address of the endpoint, path included. */
  readonly url: string;
  /** Stops listening and ends every session. Idempotent. */
  close(): Promise<void>;
}

const PATH = "/mcp";
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]", "::1"]);
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** More sessions than this at a time are a client that never ends them: the one longest unused goes. */
const MAX_SESSIONS = 1_000;

/** Starts listening. Rejects with `USAGE` where the address must not or cannot be used. */
export async function listenHttp(options: HttpEndpointOptions): Promise<HttpEndpoint> {
  const { info, logger, host, port } = options;
  if (!LOOPBACK.has(host)) {
    throw new TrunklineError("USAGE", `Listening on ${host} would let other machines in.`, {
      hint: "Only loopback addresses are served: leave --host out, or give 127.0.0.1, localhost or ::1.",
    });
  }
  const sessions = new LegacySessions(info);
  const modern = createMcpHandler(() => createServer(info), {
    legacy: "reject",
    onerror: (error) => logger.debug("request refused", { error }),
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  const serveModern = toNodeHandler(modern, {
    onerror: (error) => logger.error("request failed", { error }),
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  const hostAllowed = hostHeaderValidation([...LOOPBACK]);
  const originAllowed = originValidation([...LOOPBACK]);

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!hostAllowed(request, response) || !originAllowed(request, response)) return;
    if (new URL(request.url ?? "/", "http://localhost").pathname !== PATH) {
      response.writeHead(404, { "content-type": "text/plain" }).end(`MCP is served at ${PATH}.\n`);
      return;
    }
    if (request.method !== "POST") {
      await sessions.handle(request, response, undefined);
      return;
    }
    // The SDK's type is exact about optional properties, Node's is not; at run time they are the same.
    const incoming = request as NodeIncomingMessageLike;
    const web = await toWebRequest(incoming, undefined, { maxRequestBodySize: MAX_BODY_BYTES });
    const body = parseJson(await web.clone().text());
    if (body === undefined) {
      refuse(response, 400, { code: -32700, message: "Parse error: the body is not JSON." });
      return;
    }
    if (await isLegacyRequest(web, body)) await sessions.handle(request, response, body);
    else await serveModern(incoming, response, body);
  };

  const server = createHttpServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const status = (error as { status?: unknown }).status === 413 ? 413 : 500;
      if (status === 500) logger.error("request failed", { error: toTrunklineError(error) });
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(status, { "content-type": "text/plain" })
          .end(status === 413 ? "Body too large.\n" : "Internal error.\n");
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, host, port)));
    server.listen(port, host.replace(/^\[|\]$/g, ""), resolve);
  });

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= (async () => {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.allSettled([sessions.close(), modern.close()]);
      server.closeAllConnections();
      await stopped;
    })();
    return closing;
  };
  // A TCP server always has an AddressInfo; a string is for pipes.
  const { port: actualPort } = server.address() as AddressInfo;
  const shownHost = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return { url: `http://${shownHost}:${actualPort}${PATH}`, close, [Symbol.asyncDispose]: close };
}

/** The sessions of clients that speak 2025-11-25 or older. */
class LegacySessions {
  readonly #transports = new Map<string, NodeStreamableHTTPServerTransport>();
  readonly #info: ServerInfo;

  constructor(info: ServerInfo) {
    this.#info = info;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers["mcp-session-id"];
    const transport = typeof id === "string" ? this.#use(id) : isInitialize(body) ? await this.#open() : undefined;
    if (transport !== undefined) {
      await transport.handleRequest(request, response, body);
      return;
    }
    if (typeof id === "string")
      refuse(response, 404, { code: -32001, message: "Session not found: initialize again." });
    else refuse(response, 400, { code: -32000, message: "Initialize first: there is no Mcp-Session-Id." });
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#transports.values()].map((transport) => transport.close()));
    this.#transports.clear();
  }

  /** The session, now the most recently used one. */
  #use(id: string): NodeStreamableHTTPServerTransport | undefined {
    const transport = this.#transports.get(id);
    if (transport === undefined) return undefined;
    this.#transports.delete(id);
    this.#transports.set(id, transport);
    return transport;
  }

  async #open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        this.#transports.set(id, transport);
        const [oldest] = this.#transports;
        if (this.#transports.size > MAX_SESSIONS && oldest !== undefined) void oldest[1].close();
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#transports.delete(transport.sessionId);
    };
    await createServer(this.#info).connect(transport);
    return transport;
  }
}

function isInitialize(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body);
}

/** Answers a request that reached no server with a JSON-RPC error. */
function refuse(response: ServerResponse, status: number, error: { code: number; message: string }): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
}

function listenError(error: Error, host: string, port: number): TrunklineError {
  if (systemCodeOf(error) === "EADDRINUSE") {
    return new TrunklineError("USAGE", `Port ${port} on ${host} is in use.`, {
      cause: error,
      hint: "Give another one with --port, or 0 for any that is free.",
    });
  }
  if (systemCodeOf(error) === "EACCES") {
    return new TrunklineError("USAGE", `Port ${port} needs more rights than this process has.`, {
      cause: error,
      hint: "Give a port above 1023 with --port.",
    });
  }
  return new TrunklineError("IO", `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error });
}
