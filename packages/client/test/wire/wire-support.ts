// A local HTTP server, and a listener that records what a wire reports.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RpcId } from "@trunkline/protocol";
import { onTestFinished } from "vitest";
import { LargeMessages } from "../../src/results/large-messages.js";
import type { WireListener, WireMessage } from "../../src/wire/message-wire.js";
import type { HttpWireOptions } from "../../src/wire/streamable-http-wire.js";
import { Told } from "../hub/told.js";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The message of a POST. */
  readonly message: { readonly id?: RpcId; readonly method?: string };
  readonly response: ServerResponse;
}

/** Starts an HTTP server for this test. Returns its URL and what it has received. */
export async function listen(answer: (request: Received) => void) {
  const received: Received[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, message: text === "" ? {} : JSON.parse(text), response };
    received.push(one);
    answer(one);
  };
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), received };
}

export class Heard implements WireListener {
  readonly messages = new Told<{ message: WireMessage; owner: object | undefined }>();
  readonly failures = new Told<{ id: RpcId; error: unknown }>();
  readonly errors: unknown[] = [];
  readonly lost = new Told<string>();
  closed = 0;
  /** Everything in the order it came. */
  readonly order: unknown[] = [];

  onMessage(message: WireMessage, owner: object | undefined): void {
    this.order.push(message.result ?? message.error ?? message.params);
    this.messages.tell({ message, owner });
  }
  onFailure(id: RpcId, error: unknown): void {
    this.order.push(error);
    this.failures.tell({ id, error });
  }
  onError(error: unknown): void {
    this.errors.push(error);
  }
  onStreamLost(): void {
    this.lost.tell("lost");
  }
  onClose(): void {
    this.closed++;
  }
}

/** The options of a wire in this test. */
export function optionsFor(url: URL, more: Partial<HttpWireOptions> = {}): HttpWireOptions {
  const large = new LargeMessages("test");
  onTestFinished(() => large.close());
  return { server: "test", url, headers: {}, maxMessageBytes: 64 * 1024 * 1024, large, ...more };
}

export const EVENTS = { "content-type": "text/event-stream" };

export function sendJson(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function eventOf(value: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`;
}

export function result(id: unknown, value: object = { ok: true }) {
  return { jsonrpc: "2.0", id, result: value };
}

export function note(text: string) {
  return { jsonrpc: "2.0", method: "notifications/message", params: { data: text } };
}

export function call(id: RpcId, name = "echo") {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name } };
}
