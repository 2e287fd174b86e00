// A test client for the HTTP endpoint. It sends raw requests, so that a test sees what is on the wire.
import { silentLogger } from "@trunkline/core";
import { onTestFinished } from "vitest";
import { type HttpEndpointOptions, listenHttp } from "../../src/endpoints/http.js";
import { createTestService, type TestService } from "../protocol/test-service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it likes
export type Message = any;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Every message, in order; only one if the answer is JSON. */
  readonly messages: Message[];
  readonly last: Message;
  readonly isStream: boolean;
}

export const MODERN = "2026-07-28";

/** Starts an endpoint over a test service. It is closed when the test ends. */
export async function startHttp(
  options: Partial<HttpEndpointOptions> & { service?: TestService } = {},
): Promise<{ url: string; service: TestService; close: () => Promise<void> }> {
  const service = options.service ?? createTestService();
  const endpoint = await listenHttp({
    logger: silentLogger,
    host: "127.0.0.1",
    port: 0,
    graceMs: 200,
    ...options,
    service,
  });
  onTestFinished(() => endpoint.close());
  return { url: endpoint.url, service, close: () => endpoint.close() };
}

/** Waits until the server ends a stream. Rejects if it stays open, which would otherwise hang the test. */
export async function untilEnded(stream: Response): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const stays = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream stays open.")), 30_000);
  });
  try {
    await Promise.race([stream.text(), stays]);
  } finally {
    clearTimeout(timer);
  }
}

/** Builds the `_meta` of a modern request. */
export function envelope(capabilities: object = {}, more: object = {}): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...more,
  };
}

/** Sends a body unchanged. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Builds the headers that repeat parts of a modern request. */
export function modernHeaders(method: string, params: Message): Record<string, string> {
  const name = params.name ?? params.uri ?? params.taskId;
  return {
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": String(name) }),
  };
}

/** Sends a modern request and reads the whole answer. */
export async function modern(
  url: string,
  method: string,
  params: Message = {},
  options: { capabilities?: object; meta?: object; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Reply> {
  const full = { ...params, _meta: envelope(options.capabilities, options.meta) };
  const headers = { ...modernHeaders(method, params), ...options.headers };
  return await read(await post(url, { jsonrpc: "2.0", id: 7, method, params: full }, headers, options.signal));
}

export async function callModern(
  url: string,
  name: string,
  args: object = {},
  options: Parameters<typeof modern>[3] & { more?: object } = {},
): Promise<Reply> {
  return await modern(url, "tools/call", { name, arguments: args, ...options.more }, options);
}

/** Reads an answer to its end. */
export async function read(response: Response): Promise<Reply> {
  const text = await response.text();
  const isStream = (response.headers.get("content-type") ?? "").includes("text/event-stream");
  const messages = isStream
    ? eventsOf(text).flatMap(({ data }) => (data === "" ? [] : [JSON.parse(data)]))
    : parse(text);
  return { status: response.status, headers: response.headers, messages, last: messages.at(-1), isStream };
}

/** Parses the events of a stream so far. */
export function eventsOf(text: string): { id: string | undefined; data: string }[] {
  return text.split("\n\n").flatMap((block) => {
    const data = /^data: ?(.*)$/m.exec(block)?.[1];
    return data === undefined ? [] : [{ id: /^id: (.*)$/m.exec(block)?.[1], data }];
  });
}

function parse(text: string): Message[] {
  return text === "" ? [] : [JSON.parse(text)];
}

export class Session {
  readonly url: string;
  readonly id: string;
  readonly revision: string;
  readonly initialized: Message;
  #lastId = 1;

  private constructor(url: string, id: string, initialized: Message) {
    this.url = url;
    this.id = id;
    this.initialized = initialized;
    this.revision = initialized.protocolVersion;
  }

  static async open(url: string, options: { revision?: string; capabilities?: object } = {}): Promise<Session> {
    const params = {
      protocolVersion: options.revision ?? "2025-11-25",
      capabilities: options.capabilities ?? {},
      clientInfo: { name: "old", version: "0.1" },
    };
    const reply = await read(await post(url, { jsonrpc: "2.0", id: 1, method: "initialize", params }));
    const session = new Session(url, reply.headers.get("mcp-session-id") ?? "", reply.last.result);
    await session.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return session;
  }

  get headers(): Record<string, string> {
    return { "mcp-session-id": this.id, "mcp-protocol-version": this.revision };
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  async send(body: unknown, signal?: AbortSignal): Promise<Response> {
    return await post(this.url, body, this.headers, signal);
  }

  async request(method: string, params: object = {}): Promise<Reply> {
    return await read(await this.send({ jsonrpc: "2.0", id: this.nextId(), method, params }));
  }

  async call(name: string, args: object = {}, more: object = {}): Promise<Reply> {
    return await this.request("tools/call", { name, arguments: args, ...more });
  }

  async get(lastEventId?: string): Promise<Response> {
    return await fetch(this.url, {
      headers: {
        ...this.headers,
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
    });
  }

  async delete(): Promise<Response> {
    return await fetch(this.url, { method: "DELETE", headers: this.headers });
  }
}

/** Reads an open stream message by message. */
export class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly events: { id: string | undefined; data: string }[] = [];
  #text = "";
  #taken = 0;
  isOver = false;

  constructor(response: Response) {
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  /** Reads the next message; undefined at the end. */
  async next(): Promise<Message> {
    for (;;) {
      const event = this.events[this.#taken];
      if (event !== undefined) {
        this.#taken += 1;
        if (event.data !== "") return JSON.parse(event.data);
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) {
        this.isOver = true;
        return undefined;
      }
      this.#text += new TextDecoder().decode(value);
      const end = this.#text.lastIndexOf("\n\n");
      if (end === -1) continue;
      this.events.push(...eventsOf(this.#text.slice(0, end + 2)));
      this.#text = this.#text.slice(end + 2);
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Returns the text that a tool answered with. */
export function textOf({ last }: { last: Message }): string {
  return last.result.content[0].text;
}
