// POSTs of the modern era. The ordinary request is recognised here, by its envelope and the headers that repeat it; anything
// about which there is a doubt is put to the SDK, which knows every case.
import type { IncomingMessage as HttpRequest, ServerResponse } from "node:http";
import { isRecord, TrunklineError } from "@trunkline/core";
import {
  decodeHeaderText,
  errorMessage,
  findHeaderMismatch,
  HEADERS,
  META,
  MODERN_REVISION,
  MODERN_REVISIONS,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcRequest,
  readMessage,
  readParamHeaders,
} from "@trunkline/protocol";
import type { McpService } from "../interfaces/mcp-service.js";
import type { Protocol } from "../protocol/endpoint-protocol.js";
import { envelopeError, unsupportedVersion } from "../protocol/modern-envelope.js";
import type { Subscription } from "../protocol/modern-subscriptions.js";
import { RequestContext } from "../protocol/request-context.js";
import { toRpcError } from "../protocol/rpc-failures.js";
import type { Heartbeat } from "./endpoint-timing.js";
import { PostReply, type Refusal, refuse, sendEmpty } from "./http-replies.js";

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

interface Running {
  readonly context: RequestContext;
  readonly reply: PostReply;
  readonly id: RpcId;
}

/** The requests of modern clients over HTTP. */
export class ModernPosts {
  readonly #protocol: Protocol;
  readonly #service: McpService;
  readonly #heartbeat: Heartbeat;
  readonly #running = new Set<Running>();
  readonly #streams = new Map<Subscription, PostReply>();
  #idle: (() => void)[] = [];

  constructor(protocol: Protocol, { heartbeat, service }: { heartbeat: Heartbeat; service: McpService }) {
    this.#protocol = protocol;
    this.#service = service;
    this.#heartbeat = heartbeat;
  }

  /** Answers a POST whose body is `value`. Never rejects. */
  async post(request: HttpRequest, response: ServerResponse, value: unknown): Promise<void> {
    const ordinary = ordinaryRequest(request, value);
    if (ordinary !== undefined) return await this.#check(ordinary, request, response);
    const message = readMessage(value);
    const id = message.kind === "request" ? message.id : null;
    const refused = await doubtfulRequest(request, value);
    if (refused !== undefined) return refuse(response, refused, id);
    // Notifications have nothing to say here: a request is cancelled by going away.
    if (message.kind !== "request") return sendEmpty(response, 202);
    await this.#check(message, request, response);
  }

  /** Resolves when every request has been answered. */
  async drained(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Ends the streams of notifications in order. */
  async finishStreams(): Promise<void> {
    for (const [stream, reply] of [...this.#streams]) {
      this.#streams.delete(stream);
      reply.finish(stream.finish());
      await stream.close();
    }
  }

  /** Ends what still runs, and says so to its client. */
  abort(): void {
    for (const { context, reply, id } of [...this.#running]) {
      const reason = new TrunklineError("CLOSED", "The server stopped before the call had ended.");
      context.cancel(reason);
      reply.finish(errorMessage(id, toRpcError(reason)), 503);
    }
  }

  /** Serves a request whose headers repeat the arguments that its tool wants repeated. */
  async #check(message: RpcRequest, { headers }: HttpRequest, response: ServerResponse): Promise<void> {
    const { id, method, params } = message;
    const schema =
      method === "tools/call" && typeof params.name === "string" ? this.#service.inputSchema?.(params.name) : undefined;
    const problem =
      schema === undefined
        ? undefined
        : findHeaderMismatch(readParamHeaders(schema).headers, params.arguments, headers);
    if (problem !== undefined) return refuse(response, mismatch(problem), id);
    await this.#serve(message, response);
  }

  async #serve(request: RpcRequest, response: ServerResponse): Promise<void> {
    const reply = new PostReply(response, this.#heartbeat);
    if (this.#running.size >= this.#protocol.limits.maxInFlight) {
      return reply.finish(errorMessage(request.id, new RpcError(RPC_CODES.internalError, "Too many requests.")), 503);
    }
    const facts = { id: this.#protocol.nextClientId(), endpoint: "http", lasting: false } as const;
    const context = new RequestContext(facts, reply);
    response.on("close", () => {
      if (!response.writableFinished) context.cancel(new TrunklineError("ABORTED", "The client has gone."));
    });
    const running: Running = { context, reply, id: request.id };
    this.#running.add(running);
    try {
      if (request.method === "subscriptions/listen") return await this.#listen(request, { context, reply });
      const answer = await this.#protocol.modern.handle(request, context);
      reply.finish(answer?.message, answer?.status);
    } finally {
      this.#running.delete(running);
      if (this.#running.size === 0) for (const idle of this.#idle.splice(0)) idle();
    }
  }

  async #listen(request: RpcRequest, { context, reply }: { context: RequestContext; reply: PostReply }): Promise<void> {
    const { modern } = this.#protocol;
    let stream: Subscription;
    try {
      stream = await modern.subscriptions.open(request.id, request.params, reply);
    } catch (error) {
      const refused = modern.refuse(request, toRpcError(error));
      return reply.finish(refused.message, refused.status);
    }
    if (stream.isEmpty) {
      reply.finish(stream.finish());
      return await stream.close();
    }
    this.#streams.set(stream, reply);
    context.onCancel(() => {
      this.#streams.delete(stream);
      reply.finish(undefined);
      // It never rejects.
      void stream.close();
    });
  }
}

/** The request, where everything about it is as it should be. */
function ordinaryRequest({ headers }: HttpRequest, value: unknown): RpcRequest | undefined {
  if (headers[HEADERS.protocolVersion] !== MODERN_REVISION) return undefined;
  const message = readMessage(value);
  if (message.kind !== "request" || headers[HEADERS.method] !== message.method) return undefined;
  const { params, method } = message;
  if (!isRecord(params._meta) || params._meta[META.protocolVersion] !== MODERN_REVISION) return undefined;
  const source = NAMED_BY[method];
  // A name that is encoded, or not there, is for the SDK to judge.
  if (source !== undefined && (params[source] === undefined || headers[HEADERS.name] !== params[source]))
    return undefined;
  return envelopeError(params) === undefined ? message : undefined;
}

/** Why a request is not served; undefined where there is nothing wrong with it after all. */
async function doubtfulRequest({ headers }: HttpRequest, value: unknown): Promise<Refusal | undefined> {
  const { classifyInboundRequest } = await import("@modelcontextprotocol/server");
  const version = headerText(headers[HEADERS.protocolVersion]);
  const method = headerText(headers[HEADERS.method]);
  const name = headerText(headers[HEADERS.name]);
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
    ...(name === undefined ? {} : { mcpNameHeader: name }),
    body: value,
  });
  if (outcome.kind === "reject") {
    const { httpStatus, code, message, data } = outcome;
    return { status: httpStatus, error: new RpcError(code, message, { data }) };
  }
  if (outcome.kind === "legacy") {
    return { status: 400, error: unsupportedVersion(version) };
  }
  const { revision } = outcome.classification;
  if (revision === undefined || !MODERN_REVISIONS.includes(revision)) {
    return { status: 400, error: unsupportedVersion(revision) };
  }
  if (outcome.messageKind !== "request") return undefined;
  return missingHeader({ version, method, name }, outcome.message);
}

/** The presence of the headers, and the name: what the SDK's classification leaves to the endpoint. */
function missingHeader(
  headers: { version: string | undefined; method: string | undefined; name: string | undefined },
  { method, params }: { method: string; params?: unknown },
): Refusal | undefined {
  if (headers.version === undefined) return mismatch("MCP-Protocol-Version is missing");
  if (headers.method === undefined) return mismatch("Mcp-Method is missing");
  const source = NAMED_BY[method];
  const named = source === undefined || !isRecord(params) ? undefined : params[source];
  if (source === undefined || typeof named !== "string") return undefined;
  if (headers.name === undefined) return mismatch(`Mcp-Name is missing, params.${source} is "${named}"`);
  const decoded = decodeHeaderText(headers.name);
  if (decoded === undefined) return mismatch("Mcp-Name is not encoded as it says");
  return decoded === named ? undefined : mismatch(`Mcp-Name is "${decoded}", params.${source} is "${named}"`);
}

function mismatch(what: string): Refusal {
  return { status: 400, error: new RpcError(RPC_CODES.headerMismatch, `Header mismatch: ${what}.`) };
}

function headerText(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header.trim() : undefined;
}
