// Sends HTTP requests to one server: over pooled connections, with the headers of its entry and its token. A redirect is
// followed only within the server's origin, so neither ever reaches another one.
import { redactedUrl, TrunklineError } from "@trunkline/core";
import type { Dispatcher } from "undici";
import { readChallenge } from "../auth/challenge.js";
import { ACCEPTED_ENCODINGS, type BodyReader, CollectedBody, DecompressedBody, decoderFor } from "./http-body.js";
import { HttpError, InsufficientScopeError } from "./http-errors.js";

export type HttpHeaders = Readonly<Record<string, string>>;

/** What provides the token for the requests. */
interface RequestAuth {
  token(): string | undefined | Promise<string | undefined>;
  /** Called if the server refuses a request with this token. Returns whether the request is worth repeating. */
  onRefused(refusal: { readonly challenge: string | undefined; readonly token: string | undefined }): Promise<boolean>;
}

export interface HttpClientOptions {
  /** The server's name, for errors. */
  readonly server: string;
  readonly url: URL;
  /** The headers of the server's entry. */
  readonly headers: HttpHeaders;
  readonly auth?: RequestAuth;
  /** Our environment. If it says so, requests go through its proxies, as those of Node's `fetch` do. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Default: the server's URL. */
  readonly url?: URL;
  /** By lower-case name. They replace headers of the entry. */
  readonly headers: HttpHeaders;
  readonly body?: string;
  /** How long the body may be silent. Default: forever. */
  readonly silenceMs?: number;
}

export interface HttpResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface ResponseListener {
  /** A successful response has begun. Returns what receives its body. */
  onResponse(response: HttpResponse): BodyReader;
  /** The request failed, or its response broke off. Never called during the call that sent it. */
  onFailure(error: unknown): void;
}

/** How much of an error page is read. */
const REFUSAL_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The ports of other protocols, which `fetch` blocks too: a request must not be taken for one of their commands. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/** Where a request goes. Parsed once, because most requests go to the same place. */
interface Target {
  readonly url: URL;
  readonly origin: string;
  readonly path: string;
}

function targetOf(url: URL): Target {
  return { url, origin: url.origin, path: `${url.pathname}${url.search}` };
}

export class HttpClient {
  readonly url: URL;
  /** The server's URL, taken apart. */
  readonly target: Target;
  readonly auth: RequestAuth | undefined;
  readonly #server: string;
  readonly #entryHeaders: Readonly<Record<string, string>>;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #pools = new Map<string, Dispatcher>();
  #newPool: ((origin: string) => Dispatcher) | undefined;

  constructor({ server, url, headers, auth, env = {} }: HttpClientOptions) {
    this.#server = server;
    this.url = url;
    this.target = targetOf(url);
    this.auth = auth;
    this.#env = env;
    this.#entryHeaders = Object.fromEntries(
      // A value read from a file often ends with a line break.
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
    );
  }

  /** Loads what sends requests. Rejects if the server's URL or headers cannot be used. */
  async open(): Promise<void> {
    if (BLOCKED_PORTS.has(Number(this.url.port))) throw new Error("bad port");
    if (this.url.username !== "" || this.url.password !== "") {
      throw new TrunklineError("CONFIG_INVALID", `Server "${this.#server}" has a user name or a password in its URL.`, {
        hint: 'Put them into an Authorization header under "headers" in its entry.',
      });
    }
    for (const [name, value] of Object.entries(this.#entryHeaders)) {
      if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
      throw new TrunklineError(
        "CONFIG_INVALID",
        `Server "${this.#server}" has a header "${name}" that cannot be sent.`,
        {
          hint: "The value of a header has no line breaks and no characters outside of Latin-1.",
        },
      );
    }
    this.#newPool = this.#env.NODE_USE_ENV_PROXY === "1" ? await proxies(this.#env) : await pools();
  }

  /** Adds the headers of the entry to those of a request. */
  headersWith(own: HttpHeaders): HttpHeaders {
    const accept = [this.#entryHeaders.accept, own.accept].filter((each) => each !== undefined).join(", ");
    return {
      "user-agent": "trunkline",
      "accept-encoding": ACCEPTED_ENCODINGS,
      ...this.#entryHeaders,
      ...own,
      ...(accept === "" ? {} : { accept }),
    };
  }

  /** Sends a request. Its headers are from {@link headersWith}. */
  send(request: HttpRequest, listener: ResponseListener): HttpExchange {
    const exchange = new HttpExchange(this, request, listener);
    exchange.start();
    return exchange;
  }

  /** The connections to an origin. */
  poolFor(origin: string): Dispatcher {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      if (this.#newPool === undefined) throw new TrunklineError("CLOSED", "The connection is closed.");
      pool = this.#newPool(origin);
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** Ends all connections. Requests in flight fail. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    this.#newPool = undefined;
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

/** Without time limits, because a call has its own, and without a limit on connections: no call waits for another one. */
const CONNECTIONS = {
  headersTimeout: 0,
  bodyTimeout: 0,
  // Some servers allow minutes, which would keep every connection of a burst of calls open that long.
  keepAliveMaxTimeout: 15_000,
};

async function pools(): Promise<(origin: string) => Dispatcher> {
  const { default: Pool } = await import("undici/lib/dispatcher/pool.js");
  return (origin) => new Pool(origin, CONNECTIONS);
}

async function proxies(env: Readonly<Record<string, string | undefined>>): Promise<() => Dispatcher> {
  const { EnvHttpProxyAgent } = await import("undici");
  const httpProxy = env.http_proxy ?? env.HTTP_PROXY ?? "";
  const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY ?? "";
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? "";
  return () => new EnvHttpProxyAgent({ ...CONNECTIONS, httpProxy, httpsProxy, noProxy });
}

/** A request and its response, including redirects and the repetition with another token. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #client: HttpClient;
  readonly #request: HttpRequest;
  readonly #listener: ResponseListener;
  #target: Target;
  #redirects = 0;
  #token: string | undefined;
  #isRepeated = false;
  /** Whether the response is known to be a refusal. */
  #isRefused = false;
  #isOver = false;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader | undefined;

  constructor(client: HttpClient, request: HttpRequest, listener: ResponseListener) {
    this.#client = client;
    this.#request = request;
    this.#listener = listener;
    this.#target = request.url === undefined ? client.target : targetOf(request.url);
  }

  start(): void {
    const token = this.#client.auth?.token();
    if (!(token instanceof Promise)) {
      this.#dispatch(token);
      return;
    }
    token.then(
      (fresh) => this.#dispatch(fresh),
      (error: unknown) => this.#fail(error),
    );
  }

  /** Gives up the request and closes its connection. Nothing more is reported. */
  abort(): void {
    this.#isOver = true;
    if (this.#reader instanceof DecompressedBody) this.#reader.destroy();
    this.#controller?.abort(new Error("The request was abandoned."));
  }

  #dispatch(token: string | undefined): void {
    if (this.#isOver) return;
    this.#token = token;
    this.#isRefused = false;
    const { method, headers, body, silenceMs } = this.#request;
    const { origin, path } = this.#target;
    const options: Dispatcher.DispatchOptions = {
      origin,
      path,
      method,
      headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
      body: body ?? null,
      bodyTimeout: silenceMs ?? 0,
    };
    try {
      this.#client.poolFor(origin).dispatch(options, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpResponse["headers"]): void {
    if (this.#isOver || status < 200) return;
    const reader = status < 300 ? this.#listener.onResponse({ status, headers }) : this.#refusalReader(status, headers);
    if (this.#isOver) return;
    const encoding = textOf(headers["content-encoding"]);
    if (encoding === undefined || encoding === "identity") {
      this.#reader = reader;
      return;
    }
    const decoder = decoderFor(encoding);
    if (decoder === undefined) throw new Error(`The response has the unknown encoding "${encoding}".`);
    this.#reader = new DecompressedBody(decoder, reader, (error) => {
      this.#fail(error);
      this.abort();
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    const taken = this.#isOver ? undefined : this.#reader?.onData(piece);
    if (taken === undefined) return;
    controller.pause();
    void taken.then(() => controller.resume());
  }

  onResponseEnd(): void {
    if (!this.#isOver) this.#reader?.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isRefused) this.#fail(error);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    queueMicrotask(() => this.#listener.onFailure(error));
  }

  #refusalReader(status: number, headers: HttpResponse["headers"]): BodyReader {
    const handle = (bytes: Buffer) => {
      this.#isRefused = true;
      const refusal = { status, headers, text: bytes.toString("utf8") };
      this.#handleRefusal(refusal).catch((error: unknown) => this.#fail(error));
    };
    return new CollectedBody(REFUSAL_BYTES, {
      onBody: handle,
      onTooLarge: (start) => {
        handle(start);
        this.#controller?.abort(new Error("The error page is too long."));
      },
    });
  }

  /** Sends the request again, to another place or with another token, or throws. */
  async #handleRefusal({ status, headers, text }: HttpResponse & { text: string }): Promise<void> {
    const location = REDIRECTS.has(status) ? textOf(headers.location) : undefined;
    if (location !== undefined && URL.canParse(location, this.#target.url.href)) {
      const target = new URL(location, this.#target.url);
      if (!this.#mayFollow(status, target)) throw new HttpError(status, { reason: notFollowed(target), text });
      this.#redirects++;
      this.#target = targetOf(target);
      this.start();
      return;
    }
    const challenge = textOf(headers["www-authenticate"]);
    if (status === 401 && this.#client.auth !== undefined && !this.#isRepeated) {
      this.#isRepeated = true;
      if (!(await this.#client.auth.onRefused({ challenge, token: this.#token })))
        throw new HttpError(status, { text });
      this.start();
      return;
    }
    const { error, scope } = status === 403 ? readChallenge(challenge) : {};
    throw error === "insufficient_scope" ? new InsufficientScopeError(scope) : new HttpError(status, { text });
  }

  /** Within the origin, or to its https form, and only if the request stays the same. */
  #mayFollow(status: number, to: URL): boolean {
    const from = this.#target.url;
    const isSameRequest = this.#request.method === "GET" || status === 307 || status === 308;
    const isUpgrade =
      from.protocol === "http:" && to.protocol === "https:" && from.hostname === to.hostname && !from.port && !to.port;
    const hasCredentials = to.username !== "" || to.password !== "";
    return (
      isSameRequest && !hasCredentials && (to.origin === from.origin || isUpgrade) && this.#redirects < MAX_REDIRECTS
    );
  }
}

/** The media type of a response, without its parameters. */
export function mediaTypeOf({ headers }: HttpResponse): string | undefined {
  const type = textOf(headers["content-type"]);
  // As almost every server writes it.
  if (type === "application/json" || type === "text/event-stream") return type;
  return type?.split(";", 1)[0]?.trim().toLowerCase();
}

/** A header as one text. */
export function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

function notFollowed(target: URL): string {
  return `the redirect to ${redactedUrl(target.href)} was not followed. If that is the server, use its URL in the entry.`;
}
