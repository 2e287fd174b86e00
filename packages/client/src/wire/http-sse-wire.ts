// HTTP+SSE, the transport of the first revision: one event stream for everything the server sends, which begins with
// the address for our messages. The session ends with its stream: answers to open requests cannot arrive on another one.
import { isTrunklineError, TrunklineError } from "@trunkline/core";
import { HEADERS, isRpcId, type OutgoingMessage, type RpcId } from "@trunkline/protocol";
import { EventReader, type MessageLimits } from "./event-reader.js";
import { type BodyReader, IGNORED_BODY } from "./http-body.js";
import { HttpClient, type HttpExchange, type HttpHeaders, type HttpResponse, mediaTypeOf } from "./http-client.js";
import { EventStreamError, HttpError } from "./http-errors.js";
import { HttpPosts } from "./http-posts.js";
import type { Wire, WireListener } from "./message-wire.js";
import type { HttpWireOptions } from "./streamable-http-wire.js";

export class HttpSseWire implements Wire {
  readonly hasOwnStreams = false;
  readonly hasSession = true;
  readonly #limits: MessageLimits;
  readonly #http: HttpClient;
  readonly #posts: HttpPosts;
  #listener: WireListener | undefined;
  #opening: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  #stream: HttpExchange | undefined;
  #endpoint: URL | undefined;
  #revision: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpWireOptions) {
    const { maxMessageBytes, large } = options;
    this.#limits = { maxMessageBytes, large };
    this.#http = new HttpClient(options);
    this.#posts = new HttpPosts(this.#http);
  }

  async start(listener: WireListener): Promise<void> {
    this.#listener = listener;
    await this.#http.open();
    await new Promise<void>((resolve, reject) => {
      this.#opening = { resolve, reject };
      this.#stream = this.#http.send(
        { method: "GET", headers: this.#headers({ accept: "text/event-stream" }) },
        {
          onResponse: (response) => this.#read(response),
          onFailure: (error) =>
            this.#onLost(
              error instanceof HttpError ? new EventStreamError(error.status, { reason: error.message }) : error,
            ),
        },
      );
    });
  }

  /** Returns what reads the stream. */
  #read(response: HttpResponse): BodyReader {
    const type = mediaTypeOf(response);
    if (type !== "text/event-stream") {
      this.#stream?.abort();
      this.#onLost(new EventStreamError(response.status, { reason: `Unexpected content type: ${type}` }));
      return IGNORED_BODY;
    }
    return new EventReader({
      ...this.#limits,
      onMessage: (message) => this.#listener?.onMessage(message, undefined),
      onOther: (kind, data) => {
        if (kind === "endpoint") this.#onEndpoint(data);
      },
      onNoise: (error) => this.#listener?.onError(error),
      onRefused: (error) => this.#onLost(error),
      onEnd: () => this.#onLost(new EventStreamError(0, { reason: "the event stream ended before it began." })),
    });
  }

  /** Takes the address for our messages. It must be at the server itself, which alone gets the headers of its entry. */
  #onEndpoint(path: string): void {
    const { url } = this.#http;
    const endpoint = URL.canParse(path, url.href) ? new URL(path, url) : undefined;
    if (endpoint?.origin === url.origin) {
      this.#endpoint = endpoint;
      this.#opening?.resolve();
    } else this.#onLost(new Error(`the server names an endpoint at another origin: ${endpoint?.origin ?? "none"}.`));
  }

  send(request: OutgoingMessage): void {
    const { id } = request;
    if (!isRpcId(id)) throw new TrunklineError("INTERNAL", "A request needs an id.");
    const isClosed = this.#closing !== undefined;
    this.#send(request, id).catch((error: unknown) => {
      // A request that was dropped, or that ended with the wire.
      if (isTrunklineError(error, "CLOSED") && !isClosed) return;
      this.#listener?.onFailure(id, error);
    });
  }

  async post(message: OutgoingMessage): Promise<void> {
    await this.#send(message);
  }

  async #send(message: OutgoingMessage, id?: RpcId): Promise<void> {
    if (this.#endpoint === undefined || this.#closing !== undefined)
      throw new TrunklineError("CLOSED", "The connection is closed.");
    const headers = this.#headers({ "content-type": "application/json" });
    await this.#posts.send({ method: "POST", url: this.#endpoint, headers, body: JSON.stringify(message) }, id);
  }

  drop(id: RpcId): void {
    this.#posts.drop(id);
  }

  setRevision(revision: string): void {
    this.#revision = revision;
  }

  listen(): void {}

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** The stream cannot be opened, has ended, or is unusable. */
  #onLost(error: unknown): void {
    if (this.#closing !== undefined) return;
    if (this.#endpoint === undefined) this.#opening?.reject(error);
    else this.#listener?.onError(error);
    void this.close();
  }

  async #end(): Promise<void> {
    this.#stream?.abort();
    this.#opening?.reject(new TrunklineError("CLOSED", "The connection is closed."));
    this.#posts.drop();
    this.#listener?.onClose();
    await this.#http.close();
  }

  #headers(own: HttpHeaders): HttpHeaders {
    const version: HttpHeaders = this.#revision === undefined ? {} : { [HEADERS.protocolVersion]: this.#revision };
    return this.#http.headersWith({ ...own, ...version });
  }
}
