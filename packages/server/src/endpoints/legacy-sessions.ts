// The sessions of all legacy clients over HTTP: who is there, and who has to go.
import { randomUUID } from "node:crypto";
import type { IncomingMessage as HttpRequest, ServerResponse } from "node:http";
import {
  BATCH_REVISION,
  errorMessage,
  HEADERS,
  type IncomingMessage,
  LEGACY_REVISIONS,
  RPC_CODES,
  RpcError,
  readMessage,
} from "@trunkline/protocol";
import type { Protocol } from "../protocol/protocol.js";
import type { Beating, Heartbeat } from "./heartbeat.js";
import { type Refusal, refusal, refuse, SESSION_NOT_FOUND, sendEmpty, sendJson } from "./http-answers.js";
import { checkGetHeaders } from "./http-body.js";
import { LegacySession } from "./legacy-session.js";
import { type ReplayLimits, ReplayShare } from "./replay-stream.js";

/** What bounds the sessions. */
export interface SessionLimits {
  readonly max: number;
  /** A session that nobody has used for so long ends. */
  readonly idleMs: number;
  readonly replay: ReplayLimits;
}

/** The sessions of one endpoint. */
export class LegacySessions implements Beating {
  readonly #protocol: Protocol;
  readonly #heartbeat: Heartbeat;
  readonly #limits: SessionLimits;
  readonly #share: ReplayShare;
  readonly #sessions = new Map<string, LegacySession>();
  readonly #closing = new Set<Promise<void>>();

  constructor(protocol: Protocol, options: { heartbeat: Heartbeat; limits: SessionLimits }) {
    this.#protocol = protocol;
    this.#heartbeat = options.heartbeat;
    this.#limits = options.limits;
    this.#share = new ReplayShare(options.limits.replay);
    options.heartbeat.add(this);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Answers a POST whose body is `value`. Never rejects. */
  async post(request: HttpRequest, response: ServerResponse, value: unknown): Promise<void> {
    const isBatch = Array.isArray(value);
    const messages = isBatch ? value.map(readMessage) : [readMessage(value)];
    const opening = messages.find((message) => message.kind === "request" && message.method === "initialize");
    const sessionId = request.headers[HEADERS.sessionId];
    if (opening !== undefined && sessionId === undefined) return await this.#open(response, messages, isBatch);

    const session = this.#sessionOf(request);
    if (!(session instanceof LegacySession)) return refuse(response, session, idOf(messages));
    if (isBatch) {
      const error = this.#batchError(session, messages);
      if (error !== undefined) return sendJson(response, 400, errorMessage(null, error));
    }
    await session.post(response, messages, isBatch);
  }

  /** Answers a GET. */
  get(request: HttpRequest, response: ServerResponse): void {
    const unfit = checkGetHeaders(request);
    if (unfit !== undefined) {
      refuse(response, unfit);
      return;
    }
    const session = this.#sessionOf(request);
    if (!(session instanceof LegacySession)) {
      refuse(response, session);
      return;
    }
    const last = request.headers["last-event-id"];
    session.get(response, typeof last === "string" && last !== "" ? last : undefined);
  }

  /** Answers a DELETE: the session ends. */
  async delete(request: HttpRequest, response: ServerResponse): Promise<void> {
    const session = this.#sessionOf(request);
    if (!(session instanceof LegacySession)) return refuse(response, session);
    await this.#end(session);
    sendEmpty(response, 200);
  }

  beat(): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.idleMs > this.#limits.idleMs) void this.#end(session);
    }
  }

  /** Ends every session. Never rejects. */
  async close(): Promise<void> {
    this.#heartbeat.remove(this);
    for (const session of [...this.#sessions.values()]) void this.#end(session);
    await Promise.allSettled(this.#closing);
  }

  async #open(response: ServerResponse, messages: readonly IncomingMessage[], isBatch: boolean): Promise<void> {
    if (isBatch || messages.length !== 1) {
      const error = new RpcError(RPC_CODES.invalidRequest, "Invalid request: initialize comes by itself.");
      return sendJson(response, 400, errorMessage(null, error));
    }
    if (this.#sessions.size >= this.#limits.max && !this.#makeRoom()) {
      return refuse(response, refusal(503, "Too many sessions are open.", { "retry-after": "5" }), idOf(messages));
    }
    const session = new LegacySession({
      id: randomUUID(),
      protocol: this.#protocol,
      heartbeat: this.#heartbeat,
      replay: this.#limits.replay,
      share: this.#share,
    });
    this.#sessions.set(session.id, session);
    await session.post(response, messages, false);
  }

  /** The session that a request names, now the most recently used one; or why there is none. */
  #sessionOf({ headers }: HttpRequest): LegacySession | Refusal {
    const version = headers[HEADERS.protocolVersion];
    if (version !== undefined && !(LEGACY_REVISIONS as readonly unknown[]).includes(version)) {
      const known = LEGACY_REVISIONS.join(", ");
      return refusal(400, `Unsupported protocol version ${version}: with a session it is one of ${known}.`);
    }
    const id = headers[HEADERS.sessionId];
    if (typeof id !== "string") return refusal(400, "There is no Mcp-Session-Id: initialize first.");
    const session = this.#sessions.get(id);
    if (session === undefined) return { status: 404, error: SESSION_NOT_FOUND };
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  #batchError(session: LegacySession, messages: readonly unknown[]): RpcError | undefined {
    const { maxBatch } = this.#protocol.limits;
    const { revision } = session.connection;
    if (revision !== BATCH_REVISION) {
      return new RpcError(RPC_CODES.invalidRequest, `Invalid request: there are no batches in revision ${revision}.`);
    }
    if (messages.length > 0 && messages.length <= maxBatch) return undefined;
    return new RpcError(RPC_CODES.invalidRequest, `Invalid request: a batch has 1 to ${maxBatch} messages.`);
  }

  /** Ends the session that has been unused longest. False where all of them are in use. */
  #makeRoom(): boolean {
    for (const session of this.#sessions.values()) {
      if (session.idleMs === 0) continue;
      void this.#end(session);
      return true;
    }
    return false;
  }

  #end(session: LegacySession): Promise<void> {
    this.#sessions.delete(session.id);
    const closing = session.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    return closing;
  }
}

function idOf([first]: readonly IncomingMessage[]) {
  return first?.kind === "request" ? first.id : null;
}
