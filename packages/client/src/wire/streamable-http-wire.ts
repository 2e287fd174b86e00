// Streamable HTTP, all revisions: each message is a POST, whose response is the answer or a stream that ends with it.
// Messages that belong to no request come on a stream of their own, opened with a GET.
import { isRecord, TrunklineError } from "@trunkline/core";
import {
  encodeHeaderText,
  HEADERS,
  isModernRevision,
  isRpcId,
  META,
  type OutgoingMessage,
  type RpcId,
} from "@trunkline/protocol";
import type { MessageLimits } from "./event-reader.js";
import {
  HttpClient,
  type HttpClientOptions,
  type HttpExchange,
  type HttpHeaders,
  type ResponseListener,
  textOf,
} from "./http-client.js";
import { HttpError } from "./http-errors.js";
import { HttpPosts } from "./http-posts.js";
import type { SendOptions, Wire, WireListener } from "./message-wire.js";
import { ServerStream, type StreamHost } from "./server-stream.js";

export interface HttpWireOptions extends HttpClientOptions, MessageLimits {}

/** How long a server may take to end a session. */
const END_SESSION_MS = 2_000;
/** A stream that is silent for this long may have lost its server without noticing, so it is opened again. */
const SILENCE_MS = 300_000;

/** The parameter that is repeated in the `Mcp-Name` header, by method. */
const NAME_PARAMS: ReadonlyMap<unknown, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** Headers that no caller sets for a single request: they belong to the connection, or repeat what is in the body. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "dpop",
  "content-type",
  ...Object.values(HEADERS),
]);

export class StreamableHttpWire implements Wire, StreamHost {
  readonly hasOwnStreams = true;
  readonly limits: MessageLimits;
  retryMs: number | undefined;
  readonly #http: HttpClient;
  readonly #posts: HttpPosts;
  readonly #requests = new Map<RpcId, ServerStream>();
  #listener: WireListener | undefined;
  #shared: ServerStream | undefined;
  #sessionId: string | undefined;
  #revision: string | undefined;
  /** The headers of every POST; undefined if they have to be built again. */
  #postHeaders: HttpHeaders | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpWireOptions) {
    const { maxMessageBytes, large } = options;
    this.limits = { maxMessageBytes, large };
    this.#http = new HttpClient(options);
    this.#posts = new HttpPosts(this.#http);
  }

  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  get listener(): WireListener {
    if (this.#listener === undefined) throw new TrunklineError("INTERNAL", "The wire has not been started.");
    return this.#listener;
  }

  async start(listener: WireListener): Promise<void> {
    this.#listener = listener;
    await this.#http.open();
  }

  send(request: OutgoingMessage, { owner, headers }: SendOptions = {}): void {
    const { id, method } = request;
    if (!isRpcId(id)) throw new TrunklineError("INTERNAL", "A request needs an id.");
    const version = versionOf(request);
    const isModern = version !== undefined && isModernRevision(version);
    const stream = new ServerStream(this, { id, owner, isModern });
    this.#requests.set(id, stream);
    let body: string;
    try {
      if (this.#closing !== undefined) throw closed();
      body = JSON.stringify(request);
    } catch (error) {
      queueMicrotask(() => stream.onFailure(error));
      return;
    }
    if (method === "initialize") this.#setSession(undefined);
    const own = version === undefined ? undefined : headersOf(request, version);
    const extra = headers === undefined ? own : { ...withoutReserved(headers), ...own };
    this.#postHeaders ??= this.#headers(POST_HEADERS);
    const allHeaders = extra === undefined ? this.#postHeaders : { ...this.#postHeaders, ...extra };
    const receiver = method === "initialize" ? this.#noticingSession(stream) : stream;
    stream.follow(this.#http.send({ method: "POST", headers: allHeaders, body }, receiver));
  }

  async post(message: OutgoingMessage): Promise<void> {
    if (this.#closing !== undefined) throw closed();
    this.#postHeaders ??= this.#headers(POST_HEADERS);
    await this.#posts.send({ method: "POST", headers: this.#postHeaders, body: JSON.stringify(message) });
  }

  drop(id: RpcId): void {
    this.#requests.get(id)?.drop();
  }

  setRevision(revision: string): void {
    this.#revision = revision;
    this.#postHeaders = undefined;
  }

  listen(): void {
    // A modern server sends such messages in response to a request.
    const isModern = this.#revision !== undefined && isModernRevision(this.#revision);
    if (isModern || this.#shared !== undefined || this.#closing !== undefined) return;
    this.#shared = new ServerStream(this);
    this.#shared.follow(this.openStream(this.#shared, undefined));
  }

  close({ isExpired = false }: { readonly isExpired?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#end(isExpired);
    return this.#closing;
  }

  openStream(stream: ResponseListener, lastEventId: string | undefined): HttpExchange {
    const headers = this.#headers({
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    });
    return this.#http.send({ method: "GET", headers, silenceMs: SILENCE_MS }, stream);
  }

  onStreamOver(stream: ServerStream): void {
    if (stream.request !== undefined) this.#requests.delete(stream.request.id);
  }

  async #end(isExpired: boolean): Promise<void> {
    for (const stream of this.#requests.values()) stream.drop();
    this.#shared?.drop();
    this.#posts.drop();
    this.#listener?.onClose();
    if (!isExpired && this.#sessionId !== undefined) await this.#endSession();
    await this.#http.close();
  }

  async #endSession(): Promise<void> {
    const timer = setTimeout(() => this.#posts.drop(), END_SESSION_MS);
    try {
      await this.#posts.send({ method: "DELETE", headers: this.#headers({}) });
    } catch (error) {
      // Servers may refuse to end sessions.
      if (!(error instanceof HttpError && error.status === 405)) this.#listener?.onError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #headers(own: HttpHeaders): HttpHeaders {
    return this.#http.headersWith({
      ...own,
      ...(this.#sessionId === undefined ? {} : { [HEADERS.sessionId]: this.#sessionId }),
      ...(this.#revision === undefined ? {} : { [HEADERS.protocolVersion]: this.#revision }),
    });
  }

  #setSession(id: string | undefined): void {
    this.#sessionId = id;
    this.#postHeaders = undefined;
  }

  /** Takes the session from the response to the handshake. */
  #noticingSession(stream: ServerStream): ResponseListener {
    return {
      onResponse: (response) => {
        this.#setSession(textOf(response.headers[HEADERS.sessionId]) || undefined);
        return stream.onResponse(response);
      },
      onFailure: (error) => stream.onFailure(error),
    };
  }
}

const POST_HEADERS: HttpHeaders = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
};

function closed(): TrunklineError {
  return new TrunklineError("CLOSED", "The connection is closed.");
}

/** The revision that a request names itself. Only modern ones do. */
function versionOf({ params }: OutgoingMessage): string | undefined {
  const version = isRecord(params) && isRecord(params._meta) ? params._meta[META.protocolVersion] : undefined;
  return typeof version === "string" ? version : undefined;
}

/** The headers that repeat what is in the body, so that proxies can route by them. */
function headersOf({ method, params }: OutgoingMessage, version: string): HttpHeaders {
  const nameParam = NAME_PARAMS.get(method);
  const name = nameParam !== undefined && isRecord(params) ? params[nameParam] : undefined;
  return {
    [HEADERS.protocolVersion]: version,
    [HEADERS.method]: String(method),
    ...(typeof name === "string" ? { [HEADERS.name]: encodeHeaderText(name) } : {}),
  };
}

function withoutReserved(headers: HttpHeaders): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!RESERVED_HEADERS.has(lower)) allowed[lower] = value;
  }
  return allowed;
}
