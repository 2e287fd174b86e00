// HTTP responses: a JSON body, just a status, or a stream of server-sent events.
import type { ServerResponse } from "node:http";
import {
  encodeBatch,
  encodeMessage,
  errorMessage,
  type OutgoingMessage,
  RPC_CODES,
  RpcError,
  type RpcId,
} from "@trunkline/protocol";
import type { Outlet } from "../protocol/request-context.js";
import type { Beating, Heartbeat } from "./endpoint-timing.js";

/** A rejected request. */
export interface Refusal {
  readonly status: number;
  readonly error: RpcError;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Builds a rejection for cases without their own protocol error code. */
export function refusal(status: number, message: string, headers?: Readonly<Record<string, string>>): Refusal {
  return { status, error: new RpcError(RPC_CODES.serverError, message), headers };
}

/** The requested session does not exist: the client has to initialize again. */
export const SESSION_NOT_FOUND = new RpcError(RPC_CODES.sessionNotFound, "Session not found. Initialize again.");

export const NOT_JSON: Refusal = {
  status: 400,
  error: new RpcError(RPC_CODES.parseError, "Parse error: the body is not valid JSON."),
};

export function sendJson(
  response: ServerResponse,
  status: number,
  body: OutgoingMessage | readonly OutgoingMessage[],
  headers?: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = isBatch(body) ? encodeBatch(body) : encodeMessage(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

function isBatch(body: OutgoingMessage | readonly OutgoingMessage[]): body is readonly OutgoingMessage[] {
  return Array.isArray(body);
}

/** Sends a rejection. */
export function refuse(response: ServerResponse, { status, error, headers }: Refusal, id: RpcId | null = null): void {
  sendJson(response, status, errorMessage(id, error), headers);
}

/** Sends a status without a body. */
export function sendEmpty(response: ServerResponse, status: number, headers?: Readonly<Record<string, string>>): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-length": 0, ...headers });
  response.end();
}

interface StreamEvent {
  /** JSON on one line; empty for an event that only carries its id. */
  readonly data: string | Uint8Array;
  readonly id?: string;
  /** How long a client that lost the stream should wait before it reconnects. */
  readonly retryMs?: number;
}

/** Maximum unsent data for a slow reader. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * A stream of events as the body of one response. A reader that does not keep up is disconnected, so that unsent data
 * does not fill the memory.
 */
export class EventStream {
  readonly #response: ServerResponse;
  #isOpen = true;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>) {
    this.#response = response;
    response.on("close", () => {
      this.#isOpen = false;
    });
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      // Proxies that buffer a response before they pass it on would break the stream.
      "x-accel-buffering": "no",
      ...headers,
    });
    response.flushHeaders();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Writes an event. Does nothing if the reader has disconnected. */
  write({ data, id, retryMs }: StreamEvent): void {
    const head = `${id === undefined ? "" : `id: ${id}\n`}${retryMs === undefined ? "" : `retry: ${retryMs}\n`}`;
    if (typeof data === "string") this.#put(`event: message\n${head}data: ${data}\n\n`);
    else this.#put(Buffer.concat([Buffer.from(`event: message\n${head}data: `), data, Buffer.from("\n\n")]));
  }

  /** Keeps proxies from closing an idle stream. */
  comment(): void {
    this.#put(": keep-alive\n\n");
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#response.end();
  }

  #put(text: string | Uint8Array): void {
    if (!this.#isOpen) return;
    if (this.#response.writableLength > MAX_WAITING_BYTES) {
      this.#isOpen = false;
      this.#response.destroy();
      return;
    }
    this.#response.write(text);
  }
}

/**
 * The response to one modern POST: JSON if the first message is the answer, otherwise an event stream. A long call
 * becomes a stream too, so that proxies do not time out.
 */
export class PostReply implements Outlet, Beating {
  readonly #response: ServerResponse;
  readonly #heartbeat: Heartbeat;
  #stream: EventStream | undefined;
  #beats = 0;
  #hasEnded = false;

  constructor(response: ServerResponse, heartbeat: Heartbeat) {
    this.#response = response;
    this.#heartbeat = heartbeat;
    heartbeat.add(this);
  }

  send(message: OutgoingMessage): void {
    if (!this.#hasEnded) this.#upgrade().write({ data: encodeMessage(message) });
  }

  /** Ends the response with this message, or without one if the request was cancelled. */
  finish(message: OutgoingMessage | undefined, status = 200): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#heartbeat.remove(this);
    if (this.#stream === undefined) {
      if (message === undefined) sendEmpty(this.#response, 202);
      else sendJson(this.#response, status, message);
      return;
    }
    if (message !== undefined) this.#stream.write({ data: encodeMessage(message) });
    this.#stream.end();
  }

  beat(): void {
    this.#beats += 1;
    // The first beat can come right after the request.
    if (this.#beats > 1) this.#upgrade().comment();
  }

  #upgrade(): EventStream {
    this.#stream ??= new EventStream(this.#response, {});
    return this.#stream;
  }
}
