// Serves the page and its API on loopback. Every request is checked before anything is done for it: host, origin, token,
// then size and parameters.

import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord, type Logger, parseJson, TrunklineError, toTrunklineError } from "@trunkline/core";
import type { AnswerOf, ApiError, ConsoleEvent, ParamsOf, RequestName } from "../contract/index.js";
import type { ConsoleAccess } from "./console-access.js";
import { EventStreams } from "./event-streams.js";
import { isRequestName, readParams } from "./request-params.js";

const SERVER_ADDRESS = "127.0.0.1";

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

const ASSETS = fileURLToPath(new URL("../../assets/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** What the console can do; the command line provides it. */
export type ConsoleHandlers = {
  readonly [Name in RequestName]: (params: ParamsOf<Name>, context: RequestContext) => Promise<AnswerOf<Name>>;
};

export interface RequestContext {
  /** Aborts if the page goes away before it has its answer. */
  readonly signal: AbortSignal;
  /** Identifies the tab. */
  readonly tab: string;
}

interface ConsoleServerOptions {
  readonly access: ConsoleAccess;
  readonly handlers: ConsoleHandlers;
  readonly version: string;
  readonly logger: Logger;
  /** The port to listen on if it is free. Default: any. */
  readonly port?: number;
  /** Copies a value with all secrets redacted. Everything that is sent passes through it. */
  readonly redact: <T>(value: T) => T;
  /** Called when pages are opened and closed, with how many are open. */
  readonly onViewers?: (count: number) => void;
  /** The folder of the built page. Default: the package's own. */
  readonly pageFolder?: string;
}

const HOST = "127.0.0.1";
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A code or a proof; nothing else is read from programs without a token. */
const MAX_UNKNOWN_BYTES = 2 * 1024;
const MAX_CONNECTIONS = 256;
const TIMEOUT_MS = 30_000;

/** Scripts and styles of our own only; pictures and sounds of servers as data. Nothing from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};

export class ConsoleServer implements AsyncDisposable {
  readonly #options: ConsoleServerOptions;
  readonly #files: ReadonlyMap<string, PageFile>;
  readonly #server: Server;
  readonly #events: EventStreams;
  /** Whether each connection is this user's. */
  readonly #users = new WeakMap<object, Promise<boolean>>();
  #port = 0;
  #closing: Promise<void> | undefined;

  private constructor(options: ConsoleServerOptions) {
    this.#options = options;
    this.#files = readPageFiles(options.pageFolder);
    this.#events = new EventStreams((count) => options.onViewers?.(count));
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.headersTimeout = TIMEOUT_MS;
    this.#server.requestTimeout = TIMEOUT_MS;
  }

  /** Listens on loopback. Rejects with `IO` if `port` is taken. */
  static async open(options: ConsoleServerOptions): Promise<ConsoleServer> {
    const server = new ConsoleServer(options);
    await server.#listen(options.port ?? 0);
    return server;
  }

  get port(): number {
    return this.#port;
  }

  /** How many pages are open. */
  get viewers(): number {
    return this.#events.count;
  }

  /** Creates a link that opens the console once. */
  createLink(query = ""): string {
    // Behind #, so that it is in no request and no log.
    return `http://${HOST}:${this.#port}/#code=${this.#options.access.createCode()}${query}`;
  }

  send(event: ConsoleEvent): void {
    this.#events.send(this.#options.redact(event));
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#events.close();
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", (error: NodeJS.ErrnoException) =>
        reject(new TrunklineError("IO", `The console cannot listen on port ${port}: ${error.code}.`, { cause: error })),
      );
      this.#server.listen(port, HOST, () => {
        this.#port = (this.#server.address() as AddressInfo).port; // A listening server on TCP has one.
        this.#server.on("error", (error) => this.#options.logger.error("the console's socket failed", { error }));
        resolve();
      });
    });
  }

  /** Never rejects. */
  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", (error) => this.#options.logger.debug("a page's connection failed", { error }));
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      if (!(await this.#isOwnUser(request))) return refuse(response, 403, "UNAUTHORIZED", "This is another user's.");
      if (!this.#isOwnHost(request)) return refuse(response, 421, "UNAUTHORIZED", "This host name is not served here.");
      const path = (request.url ?? "/").replace(/\?.*$/s, "");
      if (path.startsWith("/api/")) return await this.#api(path.slice("/api/".length), request, response);
      if (request.method !== "GET" && request.method !== "HEAD")
        return refuse(response, 405, "USAGE", "Method not allowed.");
      const file = this.#files.get(path);
      if (file === undefined) return refuse(response, 404, "NOT_FOUND", "Not found.");
      response.writeHead(200, { "content-type": file.type, "content-length": file.bytes.length });
      response.end(request.method === "HEAD" ? undefined : file.bytes);
    } catch (error) {
      // A body that was not read to the end is not read any more.
      if (!request.complete && !response.headersSent) response.setHeader("connection", "close");
      this.#fail(response, error);
    }
  }

  /**
   * Whether a program of this user has connected. Another user could read the link's code in the arguments of the program
   * that opens the browser. Counts as yes if the system says nothing about connections at all.
   */
  #isOwnUser({ socket }: IncomingMessage): Promise<boolean> {
    const known = this.#users.get(socket);
    if (known !== undefined) return known;
    const own = process.getuid?.();
    const checking =
      own === undefined || process.platform !== "linux"
        ? Promise.resolve(true)
        : peerUser({
            clientAddress: socket.remoteAddress ?? "",
            clientPort: socket.remotePort ?? 0,
            serverPort: this.#port,
          }).then((user) => user === undefined || user === own || user === 0);
    this.#users.set(socket, checking);
    return checking;
  }

  /** A page of another site can make a browser send requests here, under any name that resolves to this machine. */
  #isOwnHost({ headers: { host, origin, "sec-fetch-site": site } }: IncomingMessage): boolean {
    const own = [`${HOST}:${this.#port}`, `localhost:${this.#port}`];
    if (host === undefined || !own.includes(host)) return false;
    if (origin !== undefined && origin !== `http://${host}`) return false;
    // `none`: the person opened the page.
    return site === undefined || site === "same-origin" || site === "none";
  }

  async #api(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return refuse(response, 405, "USAGE", "Requests of the API are POST.");
    // A form of another site cannot send this type without being asked for permission first.
    if (!/^application\/json(;|$)/.test(request.headers["content-type"] ?? ""))
      return refuse(response, 415, "USAGE", "The body must be JSON.");
    const { access, handlers, version, logger } = this.#options;
    if (name === "session") return await this.#exchange(request, response);
    if (name === "prove") return await this.#prove(request, response);
    const tab = access.identify(request.headers.authorization);
    if (tab === undefined) {
      return refuse(response, 401, "UNAUTHORIZED", "This page is not signed in. Open it with: trunkline console");
    }
    if (name === "events") {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      const { authorization } = request.headers;
      this.#events.open(response, {
        first: { kind: "hello", version, pid: process.pid },
        isValid: () => access.identify(authorization) !== undefined,
      });
      request.resume();
      return;
    }
    if (!isRequestName(name)) return refuse(response, 404, "NOT_FOUND", `There is no request "${name}".`);
    const leaving = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished)
        leaving.abort(new TrunklineError("ABORTED", "The page went away before it had its answer."));
    });
    const params = readParams(name, await readJson(request));
    logger.debug("console request", { name });
    const answer = await this.#call(handlers, name, params, { signal: leaving.signal, tab });
    this.#answer(response, answer);
  }

  #call<Name extends RequestName>(
    handlers: ConsoleHandlers,
    name: Name,
    ...given: [ParamsOf<Name>, RequestContext]
  ): Promise<AnswerOf<Name>> {
    return handlers[name](...given);
  }

  async #exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request, MAX_UNKNOWN_BYTES);
    const code = isRecord(body) && typeof body.code === "string" ? body.code : "";
    const token = this.#options.access.exchange(code);
    if (token === undefined) {
      return refuse(response, 401, "UNAUTHORIZED", "This link was used before or is too old. Run: trunkline console");
    }
    // Not redacted: the page needs it.
    sendJson(response, 200, { token });
  }

  async #prove(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request, MAX_UNKNOWN_BYTES);
    const { id, nonce } = isRecord(body) ? body : {};
    const proof =
      typeof id === "string" && typeof nonce === "string" ? this.#options.access.prove(id, nonce) : undefined;
    if (proof === undefined) return refuse(response, 401, "UNAUTHORIZED", "This token is not known here.");
    sendJson(response, 200, { proof });
  }

  #answer(response: ServerResponse, answer: unknown): void {
    sendJson(response, 200, this.#options.redact(answer));
  }

  #fail(response: ServerResponse, error: unknown): void {
    const { code, message, hint } = toTrunklineError(error);
    const status = code === "INVALID_ARGUMENT" || code === "USAGE" ? 400 : code === "NOT_FOUND" ? 404 : 500;
    const shown = this.#options.redact({ code, message, hint });
    if (response.headersSent) response.destroy();
    else sendJson(response, status, { error: shown } satisfies ApiError);
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  // A body that is still being sent is not read.
  response.setHeader("connection", "close");
  sendJson(response, status, { error: { code, message } } satisfies ApiError);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const bytes = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": bytes.length });
  response.end(bytes);
}

/** Reads the body. Throws `INVALID_ARGUMENT` if it is too large or not JSON. */
async function readJson(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new TrunklineError("INVALID_ARGUMENT", `The request is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  const value = parseJson(Buffer.concat(chunks).toString("utf8"));
  if (value === undefined) throw new TrunklineError("INVALID_ARGUMENT", "The body is not valid JSON.");
  return value;
}

// The built page, read into memory once: a few small files.

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Returns the files by path: `/`, `/main-abc.js` … */
function readPageFiles(folder: string = ASSETS): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw new TrunklineError("IO", "The console's page is not built.", { cause: error, hint: "Run: npm run build" });
  }
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    files.set(name === "index.html" ? "/" : `/${name}`, { type, bytes: readFileSync(join(folder, name)) });
  }
  return files;
}

// Whose program is at the other end of a connection on loopback. Linux only: other systems do not say.

/** The two ends of a connection, as the client sees them. */
interface Ends {
  /** A client chooses its address: all of 127.0.0.0/8 is this machine. */
  readonly clientAddress: string;
  readonly clientPort: number;
  readonly serverPort: number;
}

/**
 * Returns the id of the user whose program has connected: undefined if the system does not say, "hidden" if it shows our
 * end of the connection but not theirs.
 */
async function peerUser(ends: Ends): Promise<number | "hidden" | undefined> {
  const tables = await Promise.all(TABLES.map((table) => readFile(table, "latin1").catch(() => "")));
  return userIn(tables.join("\n"), ends);
}

/** Finds the client's end of a connection in the kernel's tables. */
export function userIn(tables: string, { clientAddress, clientPort, serverPort }: Ends): number | "hidden" | undefined {
  const clients = spellings(clientAddress, clientPort);
  const servers = spellings(SERVER_ADDRESS, serverPort);
  let isOurEndThere = false;
  for (const line of tables.split("\n")) {
    const [, local = "", remote = "", , , , , user] = line.trim().split(/\s+/);
    if (clients.includes(local) && servers.includes(remote) && user !== undefined) return Number(user);
    isOurEndThere ||= servers.includes(local) && clients.includes(remote);
  }
  return isOurEndThere ? "hidden" : undefined;
}

/** Returns an IPv4 address with its port as the IPv4 and the IPv6 table show it: bytes in hex, the last one first. */
function spellings(address: string, port: number): string[] {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, "0");
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .reverse();
  const shown = bytes.map((byte) => hex(Number(byte), 2)).join("");
  return [shown, `0000000000000000FFFF0000${shown}`].map((each) => `${each}:${hex(port, 4)}`);
}
