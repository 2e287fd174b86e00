// How these tests talk to a test server: with the SDK's client in either era, or line by line.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Stream } from "node:stream";
import {
  Client,
  type ClientOptions,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serverPath, startServer } from "../servers/start.js";

export type Era = "legacy" | "modern";
export type Over = "stdio" | "http" | "sse";

export interface OpenOptions {
  over?: Over;
  era?: Era;
  args?: string[];
  env?: Record<string, string>;
  client?: ClientOptions;
  maxBufferSize?: number;
  /** Runs before the client connects, to register its handlers. */
  prepare?: (client: Client) => void;
}

export interface Opened extends AsyncDisposable {
  client: Client;
  /** Resolves when the server has written the text to its stderr. */
  stderrContains(text: string): Promise<void>;
  /** Resolves when the connection is gone. */
  closed: Promise<void>;
}

/** Starts a server and connects the SDK v2 client to it; disposing ends both. */
export async function open(name: string, options: OpenOptions = {}): Promise<Opened> {
  const { over = "stdio", era = "legacy", args = [], env } = options;
  const client = new Client(
    { name: "servers-check", version: "1.0.0" },
    { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" }, ...options.client },
  );
  options.prepare?.(client);
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });

  if (over === "stdio") {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [serverPath(name), ...args],
      stderr: "pipe",
      ...(env && { env }),
      ...(options.maxBufferSize && { maxBufferSize: options.maxBufferSize }),
    });
    const stderrContains = watchStderr(transport.stderr);
    await client.connect(transport);
    return { client, stderrContains, closed, [Symbol.asyncDispose]: () => client.close() };
  }

  const server = await startServer(name, [`--${over}`, ...args], env && { env });
  const dispose = async () => {
    await client.close();
    await server.close();
  };
  try {
    await client.connect(networkTransport(over, server.url));
  } catch (error) {
    await dispose();
    throw error;
  }
  return { client, stderrContains: server.stderrContains, closed, [Symbol.asyncDispose]: dispose };
}

export function networkTransport(over: "http" | "sse", url: string): Transport {
  return over === "sse" ? new SSEClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url));
}

function watchStderr(stderr: Stream | null): Opened["stderrContains"] {
  let written = "";
  const looks = new Set<() => void>();
  stderr?.on("data", (chunk: Buffer | string) => {
    written += chunk.toString();
    for (const look of looks) look();
  });
  return (text) =>
    new Promise((resolve) => {
      const look = () => {
        if (written.includes(text)) resolve();
      };
      looks.add(look);
      look();
    });
}

/** Creates a promise that the test settles itself (Promise.withResolvers is not in Node 20). */
export function pending<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

export function textOf(result: object): string {
  const content = "content" in result && Array.isArray(result.content) ? result.content : [];
  return content.map((block: { text?: string }) => block.text ?? "").join("\n");
}

export interface Lines extends AsyncDisposable {
  child: ChildProcess;
  send(message: unknown): void;
  /** The next line of stdout; rejects if there are no more. */
  next(): Promise<string>;
  /** The exit code, once the process has exited and its output has been read. */
  exited: Promise<number | null>;
  stderr(): string;
  /** Resolves when the server has written the text to its stderr. */
  stderrContains(text: string): Promise<void>;
}

/** Starts a server over stdio without a client. */
export function openLines(name: string, args: string[] = []): Lines {
  const child = spawn(process.execPath, [serverPath(name), ...args], { stdio: "pipe" });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "close").then(([code]) => code as number | null);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
  });
  return {
    child,
    exited,
    stderr: () => stderr,
    stderrContains: watchStderr(child.stderr),
    send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    next: async () => {
      const line = await lines.next();
      if (line.done) throw new Error(`${name} has nothing more to say:\n${stderr}`);
      return line.value;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "lines", version: "1" } },
};

/** Posts a JSON-RPC message like a Streamable HTTP client. */
export function post(url: string, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(message),
  });
}
