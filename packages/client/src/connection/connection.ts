// One server definition, one live connection. Each attempt to connect is a generation of its own: what an old
// generation reports late (a close, an error) never touches the state of a newer one.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { abortError, type Logger, type ToolCallOptions, TrunklineError, withDeadline } from "@trunkline/core";
import { z } from "zod";
import type { ServerDefinition } from "../config/types.js";
import { connectError, requestError } from "./errors.js";
import { StdioTransport } from "./stdio-transport.js";

/** The states of a server, visible while they happen. */
export type ServerState = "pending" | "connected" | "failed" | "disabled";

/** How this program introduces itself to servers. */
export interface ClientInfo {
  name: string;
  version: string;
}

/** What a connection needs besides its definition. */
export interface ConnectionOptions {
  clientInfo: ClientInfo;
  logger: Logger;
}

interface Generation {
  readonly number: number;
  readonly client: Client;
  readonly stdio: StdioTransport | undefined;
}

/** How long a server may leave the question which protocol era it speaks unanswered before it counts as a legacy one. */
const PROBE_TIMEOUT_MS = 3_000;

/** Results pass through as they are: the typed calls of the SDK would strip what they do not know. */
const untouched = z.looseObject({});

/** A connection to one server. */
export class Connection {
  readonly definition: ServerDefinition;
  readonly #options: ConnectionOptions;
  #generation: Generation | undefined;
  #generationCount = 0;
  #connecting: Promise<void> | undefined;
  #state: ServerState;
  #error: TrunklineError | undefined;
  #closed = false;

  constructor(definition: ServerDefinition, options: ConnectionOptions) {
    this.definition = definition;
    this.#options = options;
    this.#state = definition.disabled ? "disabled" : "pending";
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why the server failed. */
  get error(): TrunklineError | undefined {
    return this.#error;
  }

  /** The revision that was negotiated. */
  get protocolVersion(): string | undefined {
    return this.#generation?.client.getNegotiatedProtocolVersion();
  }

  /** The server's name and version, as it gives them. */
  get serverInfo(): { name: string; version: string } | undefined {
    const info = this.#generation?.client.getServerVersion();
    return info === undefined ? undefined : { name: info.name, version: info.version };
  }

  /** What the server says it can do. */
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#generation?.client.getServerCapabilities() ?? {};
  }

  /** The last lines of the server's stderr. */
  get stderrTail(): readonly string[] {
    return this.#generation?.stdio?.stderrTail ?? [];
  }

  /** Connects, or joins the attempt that is under way. Rejects with a `TrunklineError`. */
  connect(signal?: AbortSignal): Promise<void> {
    if (this.#closed) return Promise.reject(new TrunklineError("CLOSED", "The hub is closed."));
    if (this.#state === "connected") return Promise.resolve();
    this.#connecting ??= this.#connect(signal).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Sends a request and returns the result as the server sent it. Progress starts the time anew. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: ToolCallOptions = {},
  ): Promise<Record<string, unknown>> {
    const generation = this.#generation;
    const { name, callTimeoutMs } = this.definition;
    if (generation === undefined || this.#state !== "connected") {
      throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${name}" is not connected.`, { cause: this.#error });
    }
    const { signal, timeoutMs = callTimeoutMs, onProgress } = options;
    const what = `${method} on "${name}"`;
    if (signal?.aborted) throw abortError(signal, what);
    try {
      return await generation.client.request({ method, params }, untouched, {
        ...(signal === undefined ? {} : { signal }),
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        // A progress token is sent only where a handler is set, and without one a server has no way to ask for more time.
        onprogress: (progress) => onProgress?.(progress),
      });
    } catch (error) {
      throw requestError(error, { what, timeoutMs, signal, exit: generation.stdio?.exit });
    }
  }

  /** Follows `nextCursor` to the end of a list. An empty or repeated cursor ends it with a warning. */
  async listAll(
    method: string,
    key: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    const seen = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const page = await this.request(method, cursor === undefined ? {} : { cursor }, options);
      const entries = page[key];
      if (Array.isArray(entries)) items.push(...entries);
      const next = page.nextCursor;
      if (typeof next !== "string") return items;
      if (next === "" || seen.has(next)) {
        this.#options.logger.warn("the server's list does not end", { server: this.definition.name, method });
        return items;
      }
      seen.add(next);
      cursor = next;
    }
  }

  /** Ends the connection and the server's process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#drop();
  }

  async #connect(signal: AbortSignal | undefined): Promise<void> {
    const { name, connectTimeoutMs } = this.definition;
    this.#state = "pending";
    this.#error = undefined;
    try {
      await withDeadline(
        {
          what: `Connecting to "${name}"`,
          timeoutMs: connectTimeoutMs,
          signal,
          hint: `Does the server start when its command is run by hand? "timeout" in its entry allows more than ${connectTimeoutMs / 1000} s.`,
        },
        (deadline) => this.#open(deadline),
      );
      if (this.#closed) throw new TrunklineError("CLOSED", "The hub was closed while connecting.");
      this.#state = "connected";
    } catch (error) {
      const failed = this.#generation?.stdio;
      // The process may be about to report why it ended: its exit and last words are part of the answer.
      await this.#drop({ keepForDiagnosis: true });
      this.#error = connectError(error, {
        server: this.definition,
        exit: failed?.exit,
        stderr: failed?.stderrTail ?? [],
      });
      this.#state = "failed";
      throw this.#error;
    }
  }

  async #open(signal: AbortSignal): Promise<void> {
    try {
      await this.#openOnce(signal, "auto");
    } catch (error) {
      // Some old servers end when they meet a request they do not know, and the era probe is one. Ask again as an old client.
      const diedOnProbe = this.#generation?.stdio?.exit !== undefined;
      if (!diedOnProbe || signal.aborted) throw error;
      await this.#drop();
      await this.#openOnce(signal, "legacy");
    }
  }

  async #openOnce(signal: AbortSignal, mode: "auto" | "legacy"): Promise<void> {
    const { definition } = this;
    const { clientInfo, logger } = this.#options;
    const client = new Client(clientInfo, {
      capabilities: {},
      versionNegotiation: { mode, probe: { timeoutMs: PROBE_TIMEOUT_MS } },
    });
    const stdio =
      definition.type === "stdio"
        ? new StdioTransport({
            command: definition.command,
            args: definition.args,
            cwd: definition.cwd,
            env: { ...getDefaultEnvironment(), ...definition.env },
            onNoise: () => logger.debug("not a protocol message on stdout", { server: definition.name }),
          })
        : undefined;
    const generation: Generation = { number: ++this.#generationCount, client, stdio };
    this.#generation = generation;
    client.onclose = () => this.#onClose(generation.number);
    client.onerror = (error) => logger.debug("transport error", { server: definition.name, error });
    const transport = stdio ?? httpTransport(definition);
    // An abort must end the process as well, not only the waiting for it.
    const onAbort = () => void transport.close();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect(transport, { signal, timeout: definition.connectTimeoutMs });
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #onClose(generationNumber: number): void {
    if (this.#generation?.number !== generationNumber || this.#state !== "connected" || this.#closed) return;
    const { name } = this.definition;
    this.#state = "failed";
    this.#error = new TrunklineError("SERVER_EXITED", `Server "${name}" ended unexpectedly.`);
    this.#options.logger.warn("server ended unexpectedly", { server: name });
  }

  async #drop(options: { keepForDiagnosis?: boolean } = {}): Promise<void> {
    const generation = this.#generation;
    if (generation === undefined) return;
    if (!options.keepForDiagnosis) this.#generation = undefined;
    await generation.client.close();
    // A transport that never got as far as the client has to be closed by hand.
    await generation.stdio?.close();
  }
}

function httpTransport(definition: ServerDefinition): StreamableHTTPClientTransport {
  if (definition.type !== "http") throw new TrunklineError("INTERNAL", `"${definition.name}" is not an HTTP server.`);
  return new StreamableHTTPClientTransport(new URL(definition.url), {
    requestInit: { headers: { ...definition.headers } },
  });
}
