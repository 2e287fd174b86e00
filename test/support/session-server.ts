// A legacy server over Streamable HTTP, in this process, that counts its sessions.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readJson, sendJson, sendRpcError } from "../servers/network.js";
import { agreeOnVersion, answer, isMessage } from "../servers/raw-tool-server.js";
import { text } from "../servers/tool.js";

export interface SessionServerOptions {
  /** Whether the session has expired for a request with this method. */
  isExpired?: (method: string) => boolean;
  /** What a DELETE does: ends the session, is not allowed (405), or is never answered. */
  onDelete?: "end" | "refuse" | "hang";
  /** A bearer token that every request needs. */
  token?: string;
}

export class SessionServer implements AsyncDisposable {
  /** The ids of the sessions that no one has ended. */
  readonly open = new Set<string>();
  /** How many sessions were opened so far. */
  opened = 0;
  /** The DELETE requests received so far. */
  deletes = 0;
  /** Resolves when a call of `wait` has arrived. */
  readonly waiting: Promise<void>;
  readonly #options: SessionServerOptions;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #arrived: () => void = () => {};

  constructor(options: SessionServerOptions = {}) {
    this.#options = options;
    this.waiting = new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { isExpired = () => false, onDelete = "end", token } = this.#options;
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      return void response.writeHead(401).end();
    }
    const message = request.method === "POST" ? await readJson(request) : undefined;
    const method = isMessage(message) ? (message.method ?? "") : "";
    if (method === "initialize") {
      const id = randomUUID();
      this.open.add(id);
      this.opened++;
      return sendJson(response, 200, await this.#answer(message), { "mcp-session-id": id });
    }
    const id = request.headers["mcp-session-id"];
    if (typeof id !== "string") {
      return sendRpcError(response, 400, { code: -32000, message: "Bad Request: Mcp-Session-Id header is required" });
    }
    if (request.method === "DELETE") {
      this.deletes++;
      if (onDelete === "hang") return;
      if (onDelete === "refuse") return void response.writeHead(405).end();
    }
    if (!this.open.has(id)) return sendRpcError(response, 404, { code: -32001, message: "Session not found" });
    if (request.method === "DELETE") {
      this.open.delete(id);
      return void response.writeHead(200).end();
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (isExpired(method)) {
      this.open.delete(id);
      return sendRpcError(response, 404, { code: -32001, message: "Session not found" });
    }
    const answered = await this.#answer(message);
    if (answered === undefined) return void response.writeHead(202).end();
    sendJson(response, 200, answered);
  }

  async #answer(message: unknown) {
    return await answer(
      {
        name: "sessions",
        protocolVersion: agreeOnVersion,
        tools: [
          { name: "hello", description: "Greets.", inputSchema: { type: "object" }, run: () => text("Hello!") },
          {
            name: "wait",
            description: "Never answers.",
            inputSchema: { type: "object" },
            run: () => {
              this.#arrived();
              return new Promise(() => {});
            },
          },
        ],
      },
      message,
    );
  }
}
