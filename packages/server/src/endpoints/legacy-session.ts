// One legacy session over HTTP: the connection of its client, the stream that belongs to no request, and those of its POSTs.
import type { ServerResponse } from "node:http";
import {
  errorMessage,
  HEADERS,
  type IncomingMessage,
  isAtLeast,
  type OutgoingMessage,
  type RpcRequest,
} from "@trunkline/protocol";
import type { LegacyConnection } from "../protocol/legacy.js";
import type { Outlet } from "../protocol/outlet.js";
import type { Protocol } from "../protocol/protocol.js";
import { atMost } from "./at-most.js";
import type { Beating, Heartbeat } from "./heartbeat.js";
import { refusal, refuse, sendEmpty, sendJson } from "./http-answers.js";
import { ReplayBuffer, type ReplayLimits, type ReplayShare, type ReplayStream } from "./replay-stream.js";

/** What a session needs of its endpoint. */
export interface LegacySessionOptions {
  readonly id: string;
  readonly protocol: Protocol;
  readonly heartbeat: Heartbeat;
  readonly replay: ReplayLimits;
  readonly share: ReplayShare;
}

const ENDING_MS = 200;

/** One session. */
export class LegacySession implements Beating {
  readonly id: string;
  readonly connection: LegacyConnection;
  readonly #options: LegacySessionOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #buffer: ReplayBuffer;
  readonly #standing: ReplayStream;
  #usedAt = performance.now();
  #running = 0;

  constructor(options: LegacySessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#headers = { [HEADERS.sessionId]: options.id };
    this.#buffer = new ReplayBuffer(options.replay, options.share);
    this.#standing = this.#buffer.open({ primed: true, headers: this.#headers });
    this.connection = options.protocol.connectLegacy(this.#standing);
    options.heartbeat.add(this);
  }

  /** How long nobody has used it; 0 while somebody does. */
  get idleMs(): number {
    return this.#running > 0 || this.#standing.isLive ? 0 : performance.now() - this.#usedAt;
  }

  /** Answers a POST: one message, or a batch. Resolves when it is answered; never rejects. */
  async post(response: ServerResponse, messages: readonly IncomingMessage[], isBatch: boolean): Promise<void> {
    this.#usedAt = performance.now();
    const requests = messages.filter((message) => message.kind === "request");
    const invalid = messages.flatMap((message) =>
      message.kind === "invalid" ? [errorMessage(message.id, message.error)] : [],
    );
    for (const message of messages) {
      if (message.kind === "notification") this.connection.notification(message);
      else if (message.kind === "response") this.connection.response(message);
    }
    if (requests.length === 0) {
      if (invalid.length === 0) return sendEmpty(response, 202);
      return sendJson(response, 400, isBatch ? invalid : (invalid[0] as OutgoingMessage));
    }
    const reply = new SessionReply(response, {
      headers: this.#headers,
      open: () => this.#buffer.open({ primed: this.#isPrimed, headers: this.#headers }),
    });
    this.#options.heartbeat.add(reply);
    this.#running += 1;
    try {
      const answers = await Promise.all(requests.map((request) => this.#answer(request, reply)));
      reply.finish([...invalid, ...answers.filter((answer) => answer !== undefined)], isBatch);
    } finally {
      this.#running -= 1;
      this.#usedAt = performance.now();
      this.#options.heartbeat.remove(reply);
    }
  }

  /** Answers a GET: the stream that belongs to no request, or the rest of one that was lost. */
  get(response: ServerResponse, lastEventId: string | undefined): void {
    this.#usedAt = performance.now();
    if (lastEventId === undefined) {
      this.#standing.attach(response);
      return;
    }
    const found = this.#buffer.find(lastEventId);
    if (found === undefined) refuse(response, refusal(400, "There is no stream with this Last-Event-ID any more."));
    else found.stream.attach(response, found.number);
  }

  beat(): void {
    this.#standing.comment();
    this.#buffer.forgetEnded();
  }

  /** Ends the session: its calls, its streams, and what the client had to itself. Never rejects. */
  async close(): Promise<void> {
    this.#options.heartbeat.remove(this);
    await this.connection.close();
    // Calls that were ended say so on their streams, which takes a moment.
    await atMost(ENDING_MS, this.connection.drained());
    this.#buffer.close();
  }

  async #answer(request: RpcRequest, reply: SessionReply): Promise<OutgoingMessage | undefined> {
    const answer = await this.connection.request(request, reply);
    if (answer === undefined || !reply.isStream) return answer;
    // Those of a batch that come first need not wait for the others.
    reply.send(answer);
    return undefined;
  }

  get #isPrimed(): boolean {
    return isAtLeast(this.connection.revision, "2025-11-25");
  }
}

/** The answer to one POST of a session. */
class SessionReply implements Outlet, Beating {
  readonly #response: ServerResponse;
  readonly #options: { headers: Readonly<Record<string, string>>; open: () => ReplayStream };
  #stream: ReplayStream | undefined;
  #beats = 0;

  constructor(
    response: ServerResponse,
    options: { headers: Readonly<Record<string, string>>; open: () => ReplayStream },
  ) {
    this.#response = response;
    this.#options = options;
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

  finish(answers: readonly OutgoingMessage[], isBatch: boolean): void {
    const [first] = answers;
    if (this.#stream !== undefined) {
      for (const answer of answers) this.#stream.send(answer);
      this.#stream.end();
    } else if (first === undefined) sendEmpty(this.#response, 202, this.#options.headers);
    else sendJson(this.#response, 200, isBatch ? answers : first, this.#options.headers);
  }

  #upgrade(): ReplayStream {
    if (this.#stream === undefined) {
      this.#stream = this.#options.open();
      if (!this.#response.destroyed) this.#stream.attach(this.#response);
    }
    return this.#stream;
  }
}
