// Streamable HTTP on one path, for both eras: modern requests are self-contained, legacy clients have sessions.
import {
  createServer as createHttpServer,
  type IncomingMessage as HttpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import {
  atMost,
  type Gateway,
  isRecord,
  type Logger,
  parseJson,
  sleep,
  TrunklineError,
  toTrunklineError,
  withoutUndefined,
} from "@trunkline/core";
import {
  errorMessage,
  findHeaderMismatch,
  HEADERS,
  isModernRevision,
  type RpcId,
  type RpcRequest,
  readMessage,
  readParamHeaders,
} from "@trunkline/protocol";
import type { McpService } from "../interfaces/mcp-service.js";
import { Protocol } from "../protocol/endpoint-protocol.js";
import type { ProtocolLimits } from "../protocol/limits.js";
import { claimsModern } from "../protocol/modern-envelope.js";
import type { Subscription } from "../protocol/modern-subscriptions.js";
import { RequestContext } from "../protocol/request-context.js";
import { toRpcError } from "../protocol/rpc-failures.js";
import { Heartbeat } from "./endpoint-timing.js";
import { addressOf, hostName, LOOPBACK, listenError, WILDCARDS } from "./http-address.js";
import { HealthPages, type HealthSource } from "./http-health.js";
import { NOT_JSON, PostReply, type Refusal, refusal, refuse, sendEmpty } from "./http-replies.js";
import { BodyBudget, checkPostHeaders, HttpGuard, readBody } from "./http-requests.js";
import { LegacySessions, type ReceivedBody, type SessionLimits } from "./legacy-sessions.js";
import { doubtfulRequest, headerMismatch, ordinaryRequest } from "./modern-headers.js";
import { type Principals, singleToken } from "./principals.js";
import { answeredId, repeatedKeyError } from "./unique-keys.js";

export type { EndpointLoad, HealthSource } from "./http-health.js";
export { DEFAULT_PRINCIPAL, type Principals, tokenDigest } from "./principals.js";

export interface HttpEndpointOptions {
  readonly service: McpService;
  readonly logger: Logger;
  /** An address of this machine. If other machines can reach it, `token` or `principals` is required. */
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  /** The bearer token required in every request. Its principal is `default`. */
  readonly token?: string;
  /** The tokens to accept, instead of `token`. Without either, everyone on this machine can use the endpoint. */
  readonly principals?: Principals;
  /**
   * Host names to accept, and hosts of pages that may call from a browser, in addition to loopback, `host` and the
   * addresses it resolves to.
   */
  readonly allowedHosts?: readonly string[];
  /** Answers `/healthz`, `/readyz` and `/metrics`. Default: there are no such pages. */
  readonly health?: HealthSource;
  /**
   * Called by `close`. Until it resolves, the endpoint takes further requests, while `/readyz` sends load balancers
   * elsewhere. Default: it takes no further requests.
   */
  readonly drain?: () => Promise<void>;
  /**
   * Called after `drain`. Until it resolves and running calls have finished, the endpoint answers new requests with 503
   * and runs none of them, so a load balancer can repeat each at another gateway. Default: only until calls have
   * finished.
   */
  readonly refuse?: () => Promise<void>;
  /** How long running calls may continue after `close`. Default 5 s. */
  readonly graceMs?: number;
  /** How often streams get a keep-alive and idle sessions are checked. Default 15 s. */
  readonly keepAliveMs?: number;
  readonly sessions?: Partial<SessionLimits>;
  readonly limits?: Partial<ProtocolLimits>;
  /**
   * This gateway, if it shares its store with others: requests about its calls and tasks may reach any of them. The code
   * that joined leaves, after the endpoint is closed.
   */
  readonly gateway?: Gateway;
}

interface HttpEndpoint extends AsyncDisposable {
  /** The URL of the endpoint, including the path. */
  readonly url: string;
  /** Whether only this machine can reach the endpoint. */
  readonly isLoopback: boolean;
  /**
   * Stops listening, lets running calls finish within the grace period, and closes everything else cleanly. Idempotent.
   */
  close(): Promise<void>;
}

const PATH = "/mcp";
/** How much of a rejected request is discarded before the response is sent, and for how long. */
const MAX_PASSED_OVER_BYTES = 64 * 1024 * 1024;
const MAX_PASSED_OVER_MS = 5_000;
const ALLOWED_METHODS = { allow: "GET, POST, DELETE" };
const DEFAULTS = { graceMs: 5_000, keepAliveMs: 15_000 };
/** As in the SDK. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const SESSION_LIMITS: SessionLimits = {
  max: 1_000,
  idleMs: 30 * 60_000,
  replay: { keptMs: 2 * 60_000, maxEvents: 500, maxBytes: 4 * 1024 * 1024, maxTotalBytes: 32 * 1024 * 1024 },
};
/** Timeout for clients that send their headers or body very slowly. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CONNECTIONS_CHECKED_MS = 5_000;
/** What the unfinished bodies of one principal may take up together. */
const MAX_BODIES_BYTES = 64 * 1024 * 1024;
// Not 503: a load balancer would leave this gateway out, and so would every gateway that the principal floods.
const TOO_MANY_REQUESTS = refusal(429, "Too many requests.", { "retry-after": "1" });
const STOPPING = refusal(503, "The server is stopping.", { "retry-after": "1" });
/** How often an endpoint that closes looks whether other gateways still need it. */
const SHARED_WORK_MS = 50;
/** How long pending responses may take to reach their clients once the endpoint is closed. */
const FLUSH_MS = 1_000;

/** Starts listening. Rejects with `USAGE` if the address is not allowed or not usable. */
export async function listenHttp(options: HttpEndpointOptions): Promise<HttpEndpoint> {
  const { host, port } = options;
  const address = await addressOf(host);
  const isLoopback = LOOPBACK.includes(hostName(address)) || /^127(\.\d{1,3}){3}$/.test(address);
  if (!isLoopback && principalsOf(options) === undefined) {
    throw new TrunklineError("USAGE", `${host} is not a loopback address, so other machines could connect.`, {
      hint: "Require a token: omit --no-token, or set TRUNKLINE_TOKEN. Or omit --host.",
    });
  }
  const endpoint = new Endpoint(options, address);
  await endpoint.listen(address, port);
  const close = () => endpoint.close();
  const url = `http://${hostName(host)}:${endpoint.port}${PATH}`;
  return { url, isLoopback, close, [Symbol.asyncDispose]: close };
}

function principalsOf({ token, principals }: HttpEndpointOptions): Principals | undefined {
  return principals ?? (token === undefined || token === "" ? undefined : singleToken(token));
}

class Endpoint {
  readonly #logger: Logger;
  readonly #protocol: Protocol;
  readonly #heartbeat: Heartbeat;
  readonly #guard: HttpGuard;
  readonly #sessions: LegacySessions;
  readonly #modern: ModernPosts;
  readonly #server: Server;
  readonly #bodies = new BodyBudget(MAX_BODIES_BYTES);
  readonly #load: PrincipalLoad;
  readonly #forgetPrincipals: (() => void) | undefined;
  readonly #graceMs: number;
  readonly #drain: (() => Promise<void>) | undefined;
  readonly #refuse: (() => Promise<void>) | undefined;
  readonly #health: HealthPages | undefined;
  readonly #responses = new Set<ServerResponse>();
  #inFlight = 0;
  #idle: (() => void)[] = [];
  #closing: Promise<void> | undefined;
  #hasStopped = false;

  constructor(options: HttpEndpointOptions, address: string) {
    const { service, logger, allowedHosts = [] } = options;
    const principals = principalsOf(options);
    this.#logger = logger;
    this.#graceMs = options.graceMs ?? DEFAULTS.graceMs;
    const { limits: protocolLimits, gateway } = options;
    this.#protocol = new Protocol({ service, logger, endpoint: "http", limits: protocolLimits, gateway });
    this.#heartbeat = new Heartbeat(options.keepAliveMs ?? DEFAULTS.keepAliveMs);
    const names = [...LOOPBACK, ...allowedHosts.map(hostName)];
    const bound = WILDCARDS.includes(hostName(address)) ? hostname() : address;
    const hosts = [...names, hostName(options.host), hostName(bound)];
    this.#guard = new HttpGuard({ hosts, origins: names, principals });
    const { health, drain, refuse: refuseUntil } = options;
    this.#drain = drain;
    this.#refuse = refuseUntil;
    if (health !== undefined) {
      this.#health = new HealthPages({
        source: health,
        load: () => ({
          requests: this.#inFlight - 1,
          sessions: this.#sessions.size,
          isDraining: this.#closing !== undefined,
        }),
        checkToken: (request) => {
          const principal = this.#guard.identify(request);
          return typeof principal === "string" ? undefined : principal;
        },
      });
    }
    this.#load = new PrincipalLoad(this.#protocol.limits.maxInFlight);
    const limits = { ...SESSION_LIMITS, ...withoutUndefined(options.sessions) };
    this.#sessions = new LegacySessions(this.#protocol, { heartbeat: this.#heartbeat, limits, gateway: gateway?.name });
    this.#modern = new ModernPosts(this.#protocol, { heartbeat: this.#heartbeat, service });
    this.#server = createHttpServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: 65_000,
        connectionsCheckingInterval: CONNECTIONS_CHECKED_MS,
      },
      (request, response) => this.#receive(request, response),
    );
    this.#forgetPrincipals = principals?.onEnded?.((principal) => {
      this.#modern.endPrincipal(principal);
      this.#sessions.endPrincipal(principal);
    });
  }

  get port(): number {
    // A TCP server always has an AddressInfo; a string is for pipes.
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(listenError(error, host, port)));
      this.#server.listen(port, host, resolve);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#drain?.();
    this.#hasStopped = true;
    this.#forgetPrincipals?.();
    await this.#modern.finishStreams();
    const grace = new AbortController();
    const finished = Promise.all([this.#drained(), this.#sharedWorkDone(grace.signal)]);
    await Promise.all([atMost(this.#graceMs, finished), this.#refuse?.()]);
    grace.abort();
    // Only now: connections that the system has accepted, but we have not, are reset.
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#modern.abort();
    await this.#sessions.close();
    await this.#protocol.close();
    this.#heartbeat.stop();
    await atMost(FLUSH_MS, this.#flushed());
    // Not only idle ones: a connection that never sent anything does not count as idle.
    this.#server.closeAllConnections();
    await stopped;
  }

  async #drained(): Promise<void> {
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Waits until nothing is left that clients could finish through another gateway, or the signal aborts. */
  async #sharedWorkDone(signal: AbortSignal): Promise<void> {
    while (this.#protocol.modern.hasSharedWork && !signal.aborted) await sleep(SHARED_WORK_MS);
  }

  /** Waits until every response has been sent. */
  async #flushed(): Promise<void> {
    const closed = [...this.#responses].map((response) => new Promise((resolve) => response.once("close", resolve)));
    await Promise.all(closed);
  }

  #receive(request: HttpRequest, response: ServerResponse): void {
    // A client that keeps its connection would go on using this gateway.
    if (this.#closing !== undefined) response.setHeader("connection", "close");
    if (this.#hasStopped) {
      this.#turnAway(request, response, STOPPING);
      return;
    }
    this.#inFlight += 1;
    this.#responses.add(response);
    response.on("close", () => this.#responses.delete(response));
    void this.#answer(request, response);
  }

  /** Answers a request. Never rejects. */
  async #answer(request: HttpRequest, response: ServerResponse): Promise<void> {
    try {
      await this.#handle(request, response);
    } catch (error) {
      // The client disconnected while its request was being read: not our failure.
      if (!request.complete && request.destroyed) return;
      this.#logger.error("request failed", { error: toTrunklineError(error) });
      refuse(response, refusal(500, "Internal error."));
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) for (const idle of this.#idle.splice(0)) idle();
    }
  }

  /** Not async, like what it calls: every promise on the way of a call is paid for by each call. */
  #handle(request: HttpRequest, response: ServerResponse): Promise<void> | void {
    const checked = this.#guard.check(request);
    if (checked === undefined) return this.#route(request, response);
    if (!(checked instanceof Promise)) return this.#turnAway(request, response, checked);
    return checked.then((unwanted) =>
      unwanted === undefined ? this.#route(request, response) : this.#turnAway(request, response, unwanted),
    );
  }

  #route(request: HttpRequest, response: ServerResponse): Promise<void> | void {
    const page = this.#health?.pageOf(request);
    if (page !== undefined) return this.#health?.answer(page, request, response);
    // Before the token: a client that looks for an authorization server must find none, and not be asked for a token.
    if (!isEndpointPath(request.url)) {
      return this.#turnAway(request, response, refusal(404, `Not found. MCP is served at ${PATH}.`));
    }
    const principal = this.#guard.identify(request);
    if (typeof principal !== "string") return this.#turnAway(request, response, principal);
    switch (request.method) {
      case "POST":
        return this.#post(request, response, principal);
      case "GET":
        return this.#sessions.get(request, response, principal);
      case "DELETE":
        return this.#sessions.delete(request, response, principal);
      case "HEAD":
      case "OPTIONS":
        return sendEmpty(response, 405, ALLOWED_METHODS);
      default:
        return this.#turnAway(request, response, refusal(405, "Method not allowed.", ALLOWED_METHODS));
    }
  }

  async #post(request: HttpRequest, response: ServerResponse, principal: string): Promise<void> {
    if (!this.#load.enter(principal)) return this.#turnAway(request, response, TOO_MANY_REQUESTS);
    try {
      const unfit = checkPostHeaders(request);
      if (unfit !== undefined) return this.#turnAway(request, response, unfit);
      const text = await readBody(request, { maxBytes: MAX_BODY_BYTES, principal, budget: this.#bodies });
      if (typeof text !== "string") return this.#turnAway(request, response, text);
      const value = parseJson(text);
      if (value === undefined) return refuse(response, NOT_JSON);
      const repeated = repeatedKeyError(text, value);
      if (repeated !== undefined) return refuse(response, { status: 400, error: repeated }, answeredId(value));
      const posts = isLegacy(request, value) ? this.#sessions : this.#modern;
      await posts.post(request, response, { value, principal });
    } finally {
      this.#load.leave(principal);
    }
  }

  /**
   * Rejects a request that has not been read completely. A client that is still sending does not read yet: after an
   * immediate response it would only see the closed connection, not the reason. So the rest of the request is discarded
   * first, up to a limit.
   */
  #turnAway(request: HttpRequest, response: ServerResponse, why: Refusal): void {
    if (request.complete) {
      refuse(response, why);
      return;
    }
    let left = MAX_PASSED_OVER_BYTES;
    let isAnswered = false;
    const answer = () => {
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      // A connection cannot be reused if a request was not read to the end.
      refuse(response, request.complete ? why : { ...why, headers: { ...why.headers, connection: "close" } });
    };
    const timer = setTimeout(answer, MAX_PASSED_OVER_MS).unref();
    request.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) answer();
    });
    request.once("end", answer).once("close", answer).resume();
  }
}

/** Counts the requests in progress of each principal. */
class PrincipalLoad {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns false if the principal has too many already. */
  enter(principal: string): boolean {
    const count = this.#counts.get(principal) ?? 0;
    if (count >= this.#max) return false;
    this.#counts.set(principal, count + 1);
    return true;
  }

  leave(principal: string): void {
    const count = (this.#counts.get(principal) ?? 1) - 1;
    if (count === 0) this.#counts.delete(principal);
    else this.#counts.set(principal, count);
  }
}

interface Running {
  readonly context: RequestContext;
  readonly reply: PostReply;
  readonly id: RpcId;
}

/** A POST that has been read. */
interface Posted {
  readonly request: HttpRequest;
  readonly response: ServerResponse;
  readonly principal: string;
}

/** Handles the requests of modern HTTP clients. */
class ModernPosts {
  readonly #protocol: Protocol;
  readonly #service: McpService;
  readonly #heartbeat: Heartbeat;
  readonly #running = new Set<Running>();
  readonly #streams = new Map<Subscription, { reply: PostReply; principal: string }>();

  constructor(protocol: Protocol, { heartbeat, service }: { heartbeat: Heartbeat; service: McpService }) {
    this.#protocol = protocol;
    this.#service = service;
    this.#heartbeat = heartbeat;
  }

  /** Handles a POST with the body `value`. Never rejects. */
  post(request: HttpRequest, response: ServerResponse, { value, principal }: ReceivedBody): Promise<void> | void {
    const ordinary = ordinaryRequest(request, value);
    const posted = { request, response, principal };
    return ordinary === undefined ? this.#doubt(value, posted) : this.#check(ordinary, posted);
  }

  async #doubt(value: unknown, posted: Posted): Promise<void> {
    const { request, response } = posted;
    const message = readMessage(value);
    const id = message.kind === "request" ? message.id : null;
    const refused = await doubtfulRequest(request, value);
    if (refused !== undefined) return refuse(response, refused, id);
    // Notifications have no effect here: a client cancels a request by disconnecting.
    if (message.kind !== "request") return sendEmpty(response, 202);
    await this.#check(message, posted);
  }

  /** Ends the notification streams cleanly. */
  async finishStreams(): Promise<void> {
    await this.#finish([...this.#streams.keys()]);
  }

  /** The principal's tokens are no longer valid: ends its streams and aborts its calls. */
  endPrincipal(principal: string): void {
    const reason = new TrunklineError("ABORTED", "The token is no longer valid.");
    for (const { context, reply, id } of [...this.#running]) {
      if (context.client.principal !== principal) continue;
      context.cancel(reason);
      reply.finish(errorMessage(id, toRpcError(reason)), 401);
    }
    // `close` of a stream never rejects.
    void this.#finish([...this.#streams].flatMap(([stream, open]) => (open.principal === principal ? [stream] : [])));
    this.#protocol.endPrincipal(principal);
  }

  async #finish(streams: readonly Subscription[]): Promise<void> {
    for (const stream of streams) {
      const open = this.#streams.get(stream);
      this.#streams.delete(stream);
      open?.reply.finish(stream.finish());
      await stream.close();
    }
  }

  /** Aborts running calls and notifies their clients. */
  abort(): void {
    for (const { context, reply, id } of [...this.#running]) {
      const reason = new TrunklineError("CLOSED", "The server stopped before the call had finished.");
      context.cancel(reason);
      // Not 503: load balancers repeat that, and the call may have had an effect.
      reply.finish(errorMessage(id, toRpcError(reason)), 500);
    }
  }

  /** Serves a request after checking that its headers match the arguments that the tool wants repeated there. */
  #check(message: RpcRequest, posted: Posted): Promise<void> | void {
    const {
      request: { headers },
      response,
    } = posted;
    const { id, method, params } = message;
    const schema =
      method === "tools/call" && typeof params.name === "string" ? this.#service.inputSchema?.(params.name) : undefined;
    const problem =
      schema === undefined
        ? undefined
        : findHeaderMismatch(readParamHeaders(schema).headers, params.arguments, headers);
    if (problem !== undefined) return refuse(response, headerMismatch(problem), id);
    return this.#serve(message, posted);
  }

  async #serve(request: RpcRequest, { response, principal }: Posted): Promise<void> {
    const reply = new PostReply(response, this.#heartbeat);
    const facts = { id: this.#protocol.nextClientId(), principal, endpoint: "http", lasting: false } as const;
    const context = new RequestContext(facts, reply);
    response.on("close", () => {
      if (!response.writableFinished) context.cancel(new TrunklineError("ABORTED", "The client has disconnected."));
    });
    const running: Running = { context, reply, id: request.id };
    this.#running.add(running);
    try {
      if (request.method === "subscriptions/listen") return await this.#listen(request, { context, reply });
      const answer = await this.#protocol.modern.handle(request, context);
      reply.finish(answer?.message, answer?.status);
    } finally {
      this.#running.delete(running);
    }
  }

  async #listen(request: RpcRequest, { context, reply }: { context: RequestContext; reply: PostReply }): Promise<void> {
    const { modern } = this.#protocol;
    let stream: Subscription;
    try {
      stream = await modern.subscriptions.open(request, context);
    } catch (error) {
      const refused = modern.refuse(request, toRpcError(error));
      return reply.finish(refused.message, refused.status);
    }
    if (stream.isEmpty) {
      reply.finish(stream.finish());
      return await stream.close();
    }
    this.#streams.set(stream, { reply, principal: context.client.principal });
    context.onCancel(() => {
      this.#streams.delete(stream);
      reply.finish(undefined);
      // `close` never rejects.
      void stream.close();
    });
  }
}

/** Whether a request target is the path of the endpoint, with or without a query. Anything can be sent as a target. */
function isEndpointPath(target = "/"): boolean {
  if (target === PATH) return true;
  // `//host/mcp` would be parsed as another host.
  if (!/^(?:https?:\/\/|\/(?!\/))/i.test(target) || !URL.canParse(target, "http://localhost")) return false;
  return new URL(target, "http://localhost").pathname === PATH;
}

/** Decides which era a body belongs to. If the body does not tell, the header decides. */
function isLegacy({ headers }: HttpRequest, value: unknown): boolean {
  if (Array.isArray(value)) return !value.some((one) => isRecord(one) && claimsModern(one.params));
  if (isRecord(value) && claimsModern(value.params)) return false;
  const version = headers[HEADERS.protocolVersion];
  return typeof version !== "string" || !isModernRevision(version.trim());
}
