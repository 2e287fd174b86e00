// The HTTP sessions of legacy clients. Each has its connection, a standalone stream that belongs to no request, and the
// streams of its POSTs.

import { randomUUID } from "node:crypto";
import type { IncomingMessage as HttpRequest, ServerResponse } from "node:http";
import { atMost } from "@trunkline/core";
import {
  BATCH_REVISION,
  errorMessage,
  HEADERS,
  type IncomingMessage,
  isAtLeast,
  LEGACY_REVISIONS,
  type OutgoingMessage,
  RPC_CODES,
  RpcError,
  type RpcRequest,
  readMessage,
} from "@trunkline/protocol";
import type { Protocol } from "../protocol/endpoint-protocol.js";
import { ownedId } from "../protocol/gateway-relay.js";
import type { LegacyConnection } from "../protocol/legacy.js";
import type { Outlet } from "../protocol/request-context.js";
import type { Beating, Heartbeat } from "./endpoint-timing.js";
import { type Refusal, refusal, refuse, SESSION_NOT_FOUND, sendEmpty, sendJson } from "./http-replies.js";
import { checkGetHeaders } from "./http-requests.js";
import { ReplayBuffer, type ReplayLimits, ReplayShare, type ReplayStream } from "./replay-stream.js";

/** The body of a POST, and whose it is. */
export interface ReceivedBody {
  readonly value: unknown;
  readonly principal: string;
}

/** Limits per principal. */
export interface SessionLimits {
  readonly max: number;
  /** Closes a session after this much idle time. */
  readonly idleMs: number;
  readonly replay: ReplayLimits;
}

export class LegacySessions implements Beating {
  readonly #protocol: Protocol;
  readonly #heartbeat: Heartbeat;
  readonly #limits: SessionLimits;
  readonly #gateway: string | undefined;
  /** By principal. */
  readonly #shares = new Map<string, ReplayShare>();
  /** The least recently used one first. */
  readonly #sessions = new Map<string, LegacySession>();
  #latest: LegacySession | undefined;
  readonly #closing = new Set<Promise<void>>();

  constructor(protocol: Protocol, options: { heartbeat: Heartbeat; limits: SessionLimits; gateway?: string }) {
    this.#gateway = options.gateway;
    this.#protocol = protocol;
    this.#heartbeat = options.heartbeat;
    this.#limits = options.limits;
    options.heartbeat.add(this);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Handles a POST with the body `value`. Never rejects. */
  post(request: HttpRequest, response: ServerResponse, { value, principal }: ReceivedBody): Promise<void> | void {
    const isNew = request.headers[HEADERS.sessionId] === undefined;
    if (!Array.isArray(value)) {
      const message = readMessage(value);
      if (isNew && isOpening(message)) return this.#open(response, message, principal);
      const session = this.#sessionOf(request, principal);
      if (!(session instanceof LegacySession)) return refuse(response, session, idOf(message));
      return session.post(response, message);
    }
    const messages = value.map(readMessage);
    if (isNew && messages.some(isOpening)) return sendJson(response, 400, errorMessage(null, OPENING_IN_BATCH));
    const session = this.#sessionOf(request, principal);
    if (!(session instanceof LegacySession)) return refuse(response, session, idOf(messages[0]));
    const error = this.#batchError(session, messages);
    if (error !== undefined) return sendJson(response, 400, errorMessage(null, error));
    return session.postBatch(response, messages);
  }

  /** Handles a GET. */
  get(request: HttpRequest, response: ServerResponse, principal: string): void {
    const unfit = checkGetHeaders(request);
    if (unfit !== undefined) {
      refuse(response, unfit);
      return;
    }
    const session = this.#sessionOf(request, principal);
    if (!(session instanceof LegacySession)) {
      refuse(response, session);
      return;
    }
    const last = request.headers["last-event-id"];
    session.get(response, typeof last === "string" && last !== "" ? last : undefined);
  }

  /** Handles a DELETE, which ends the session. */
  async delete(request: HttpRequest, response: ServerResponse, principal: string): Promise<void> {
    const session = this.#sessionOf(request, principal);
    if (!(session instanceof LegacySession)) return refuse(response, session);
    await this.#end(session);
    sendEmpty(response, 200);
  }

  beat(): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.idleMs > this.#limits.idleMs) void this.#end(session);
    }
  }

  /** Ends the sessions of a principal whose tokens are no longer valid, with their calls and streams. */
  endPrincipal(principal: string): void {
    for (const session of [...this.#sessions.values()]) if (session.principal === principal) void this.#end(session);
    this.#shares.delete(principal);
  }

  /** Ends every session. Never rejects. */
  async close(): Promise<void> {
    this.#heartbeat.remove(this);
    for (const session of [...this.#sessions.values()]) void this.#end(session);
    await Promise.allSettled(this.#closing);
  }

  #open(response: ServerResponse, message: IncomingMessage, principal: string): Promise<void> | void {
    if (!this.#hasRoom(principal)) {
      return refuse(response, refusal(429, "Too many sessions are open.", { "retry-after": "5" }), idOf(message));
    }
    const session = new LegacySession({
      // A load balancer can find the gateway of a session by its name.
      id: ownedId(this.#gateway, randomUUID()),
      principal,
      protocol: this.#protocol,
      heartbeat: this.#heartbeat,
      replay: this.#limits.replay,
      share: this.#shareOf(principal),
    });
    this.#sessions.set(session.id, session);
    this.#latest = session;
    return session.post(response, message);
  }

  /** Returns the session that a request names, marked as most recently used, or the reason for the rejection. */
  #sessionOf({ headers }: HttpRequest, principal: string): LegacySession | Refusal {
    const version = headers[HEADERS.protocolVersion];
    if (version !== undefined && !(LEGACY_REVISIONS as readonly unknown[]).includes(version)) {
      const known = LEGACY_REVISIONS.join(", ");
      return refusal(400, `Unsupported protocol version ${version}: a session needs one of ${known}.`);
    }
    const id = headers[HEADERS.sessionId];
    if (typeof id !== "string") return refusal(400, "Mcp-Session-Id is missing. Initialize first.");
    const session = this.#sessions.get(id);
    if (session?.principal !== principal) return { status: 404, error: SESSION_NOT_FOUND };
    if (session !== this.#latest) {
      this.#sessions.delete(id);
      this.#sessions.set(id, session);
      this.#latest = session;
    }
    return session;
  }

  #batchError(session: LegacySession, messages: readonly unknown[]): RpcError | undefined {
    const { maxBatch } = this.#protocol.limits;
    const { revision } = session.connection;
    if (revision !== BATCH_REVISION) {
      return new RpcError(RPC_CODES.invalidRequest, `Invalid request: revision ${revision} does not support batches.`);
    }
    if (messages.length > 0 && messages.length <= maxBatch) return undefined;
    return new RpcError(RPC_CODES.invalidRequest, `Invalid request: a batch needs 1 to ${maxBatch} messages.`);
  }

  /**
   * Makes room for another session of this principal: ends its least recently used one, never one of another principal.
   * Returns false if all of its sessions are in use.
   */
  #hasRoom(principal: string): boolean {
    if (this.#sessions.size < this.#limits.max) return true;
    const own = [...this.#sessions.values()].filter((session) => session.principal === principal);
    if (own.length < this.#limits.max) return true;
    const idle = own.find((session) => session.idleMs !== 0);
    if (idle === undefined) return false;
    void this.#end(idle);
    return true;
  }

  #shareOf(principal: string): ReplayShare {
    let share = this.#shares.get(principal);
    if (share === undefined) {
      share = new ReplayShare(this.#limits.replay);
      this.#shares.set(principal, share);
    }
    return share;
  }

  #end(session: LegacySession): Promise<void> {
    this.#sessions.delete(session.id);
    if (this.#latest === session) this.#latest = undefined;
    const closing = session.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    return closing;
  }
}

function isOpening(message: IncomingMessage): boolean {
  return message.kind === "request" && message.method === "initialize";
}

const OPENING_IN_BATCH = new RpcError(
  RPC_CODES.invalidRequest,
  "Invalid request: initialize cannot be part of a batch.",
);

function idOf(message: IncomingMessage | undefined) {
  return message?.kind === "request" ? message.id : null;
}

interface LegacySessionOptions {
  readonly id: string;
  readonly principal: string;
  readonly protocol: Protocol;
  readonly heartbeat: Heartbeat;
  readonly replay: ReplayLimits;
  readonly share: ReplayShare;
}

const ENDING_MS = 200;

class LegacySession implements Beating {
  readonly id: string;
  readonly principal: string;
  readonly connection: LegacyConnection;
  readonly #options: LegacySessionOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly #buffer: ReplayBuffer;
  readonly #standing: ReplayStream;
  #usedAt = performance.now();
  #running = 0;

  constructor(options: LegacySessionOptions) {
    this.id = options.id;
    this.principal = options.principal;
    this.#options = options;
    this.headers = { [HEADERS.sessionId]: options.id };
    this.#buffer = new ReplayBuffer(options.replay, options.share);
    this.#standing = this.#buffer.open({ primed: true, headers: this.headers });
    this.connection = options.protocol.connectLegacy(this.#standing, options.principal);
    options.heartbeat.add(this);
  }

  /** Idle time; 0 while in use. */
  get idleMs(): number {
    return this.#running > 0 || this.#standing.isLive ? 0 : performance.now() - this.#usedAt;
  }

  /** Handles a POST with one message. Resolves when the POST has been answered; never rejects. */
  async post(response: ServerResponse, message: IncomingMessage): Promise<void> {
    if (message.kind !== "request") {
      const [invalid] = this.#take([message]);
      return invalid === undefined ? sendEmpty(response, 202) : sendJson(response, 400, invalid);
    }
    const reply = this.#begin(response);
    try {
      reply.finish(await this.connection.request(message, reply));
    } finally {
      this.#end(reply);
    }
  }

  /** The same for a batch. */
  async postBatch(response: ServerResponse, messages: readonly IncomingMessage[]): Promise<void> {
    const invalid = this.#take(messages);
    const requests = messages.filter((message) => message.kind === "request");
    if (requests.length === 0) {
      return invalid.length === 0 ? sendEmpty(response, 202) : sendJson(response, 400, invalid);
    }
    const reply = this.#begin(response);
    try {
      const answers = await Promise.all(requests.map((request) => this.#answer(request, reply)));
      reply.finishBatch([...invalid, ...answers.filter((answer) => answer !== undefined)]);
    } finally {
      this.#end(reply);
    }
  }

  #begin(response: ServerResponse): SessionReply {
    const reply = new SessionReply(response, this);
    this.#options.heartbeat.add(reply);
    this.#running += 1;
    return reply;
  }

  #end(reply: SessionReply): void {
    this.#running -= 1;
    this.#usedAt = performance.now();
    this.#options.heartbeat.remove(reply);
  }

  /** Handles notifications and responses. Returns the answers to invalid messages. */
  #take(messages: readonly IncomingMessage[]): OutgoingMessage[] {
    this.#usedAt = performance.now();
    const invalid: OutgoingMessage[] = [];
    for (const message of messages) {
      if (message.kind === "notification") this.connection.notification(message);
      else if (message.kind === "response") this.connection.response(message);
      else if (message.kind === "invalid") invalid.push(errorMessage(message.id, message.error));
    }
    return invalid;
  }

  /** Handles a GET: opens the standalone stream, or resumes a lost one. */
  get(response: ServerResponse, lastEventId: string | undefined): void {
    this.#usedAt = performance.now();
    if (lastEventId === undefined) {
      this.#standing.attach(response);
      return;
    }
    const found = this.#buffer.find(lastEventId);
    if (found === undefined) refuse(response, refusal(400, "The stream with this Last-Event-ID no longer exists."));
    else found.stream.attach(response, found.number);
  }

  beat(): void {
    this.#standing.comment();
    this.#buffer.forgetOld();
  }

  /** Ends the session with its calls, its streams and the client's own state. Never rejects. */
  async close(): Promise<void> {
    this.#options.heartbeat.remove(this);
    await this.connection.close();
    // Aborted calls report their end on their streams, which takes a moment.
    await atMost(ENDING_MS, this.connection.drained());
    this.#buffer.close();
  }

  /** Opens the stream of a POST whose answer does not come alone. */
  openStream(): ReplayStream {
    const primed = isAtLeast(this.connection.revision, "2025-11-25");
    return this.#buffer.open({ primed, headers: this.headers });
  }

  async #answer(request: RpcRequest, reply: SessionReply): Promise<OutgoingMessage | undefined> {
    const answer = await this.connection.request(request, reply);
    if (answer === undefined || !reply.isStream) return answer;
    // Finished answers of a batch need not wait for the others.
    reply.send(answer);
    return undefined;
  }
}

/** The response to one POST of a session. */
class SessionReply implements Outlet, Beating {
  readonly #response: ServerResponse;
  readonly #session: LegacySession;
  #stream: ReplayStream | undefined;
  #beats = 0;

  constructor(response: ServerResponse, session: LegacySession) {
    this.#response = response;
    this.#session = session;
  }

  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  send(message: OutgoingMessage): void {
    this.#upgrade().send(message);
  }

  beat(): void {
    this.#beats += 1;
    if (this.#beats > 1) this.#upgrade().comment();
  }

  /** Ends the response with the answer to a single request; without one if the request was cancelled. */
  finish(answer: OutgoingMessage | undefined): void {
    if (this.#stream !== undefined) this.#endStream(this.#stream, answer === undefined ? [] : [answer]);
    else if (answer === undefined) sendEmpty(this.#response, 202, this.#session.headers);
    else sendJson(this.#response, 200, answer, this.#session.headers);
  }

  /** Ends the response with the remaining answers to a batch. */
  finishBatch(answers: readonly OutgoingMessage[]): void {
    if (this.#stream !== undefined) this.#endStream(this.#stream, answers);
    else if (answers.length === 0) sendEmpty(this.#response, 202, this.#session.headers);
    else sendJson(this.#response, 200, answers, this.#session.headers);
  }

  #endStream(stream: ReplayStream, answers: readonly OutgoingMessage[]): void {
    for (const answer of answers) stream.send(answer);
    stream.end();
  }

  #upgrade(): ReplayStream {
    if (this.#stream === undefined) {
      this.#stream = this.#session.openStream();
      if (!this.#response.destroyed) this.#stream.attach(this.#response);
    }
    return this.#stream;
  }
}
