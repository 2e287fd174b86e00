// A stream of messages from a Streamable HTTP server: the response to a request, or the stream for messages that belong
// to no request. A stream that breaks off is resumed after its last event.
import { isRecord, messageOf, parseJson, systemCodeOf } from "@trunkline/core";
import { type RpcId, refusedAnswer, unreadAnswer } from "@trunkline/protocol";
import { LARGE_MESSAGE_BYTES, type LargeMessages, messagesIn } from "../results/large-messages.js";
import { EventReader, type EventReaderOptions, isWireMessage, type MessageLimits } from "./event-reader.js";
import { type BodyReader, CollectedBody, IGNORED_BODY } from "./http-body.js";
import { type HttpExchange, type HttpResponse, mediaTypeOf, type ResponseListener } from "./http-client.js";
import { HttpError, StreamEndedError } from "./http-errors.js";
import type { WireListener, WireMessage } from "./message-wire.js";

/** What streams need of their wire. */
export interface StreamHost {
  readonly limits: MessageLimits;
  readonly listener: WireListener;
  /** How long the server wants us to wait before we open a stream again. */
  retryMs: number | undefined;
  /** Sends the GET that opens a stream, or resumes it after an event. */
  openStream(stream: ResponseListener, lastEventId: string | undefined): HttpExchange;
  /** Called when the stream needs no further attention. */
  onStreamOver(stream: ServerStream): void;
}

/** The request of a stream. */
interface StreamRequest {
  readonly id: RpcId;
  readonly owner: object | undefined;
  /** Whether the server answers an invalid request with an HTTP error that contains the answer. */
  readonly isModern: boolean;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** The limits for what a server may ask for. */
const MIN_RETRY_MS = 10;
const MAX_RETRY_MS = 600_000;

/** After this many failed attempts the stream counts as lost. */
const ATTEMPTS_BEFORE_LOST = 2;

export class ServerStream implements ResponseListener, EventReaderOptions {
  /** Undefined for the stream that belongs to no request. */
  readonly request: StreamRequest | undefined;
  readonly #host: StreamHost;
  #exchange: HttpExchange | undefined;
  #reader: EventReader | undefined;
  #lastEventId: string | undefined;
  /** How often it was opened again without success; undefined before the first time. */
  #attempts: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #isOver = false;

  constructor(host: StreamHost, request?: StreamRequest) {
    this.#host = host;
    this.request = request;
  }

  /** Follows the exchange that opens the stream. */
  follow(exchange: HttpExchange): void {
    this.#exchange = exchange;
  }

  /** Closes the stream. Nothing more is reported about it. */
  drop(): void {
    this.#over();
    this.#exchange?.abort();
  }

  onResponse(response: HttpResponse): BodyReader {
    const type = mediaTypeOf(response);
    if (type === "text/event-stream") {
      this.#attempts = undefined;
      this.#reader = new EventReader(this);
      return this.#reader;
    }
    const { request } = this;
    if (request !== undefined && this.#attempts === undefined) {
      // The answer arrives elsewhere.
      if (response.status === 202) return IGNORED_BODY;
      if (type === "application/json") return this.#jsonReader(request);
    }
    this.#exchange?.abort();
    this.onFailure(new Error(`Unexpected content type: ${type}`));
    return IGNORED_BODY;
  }

  onFailure(error: unknown): void {
    if (this.#isOver) return;
    const reader = this.#reader;
    const { request } = this;
    if (reader !== undefined) {
      this.#reader = undefined;
      this.#host.listener.onError(error);
      // The answer may be among the messages that are still being read.
      void reader.settled().then(() => this.#onStreamEnd(error));
    } else if (request === undefined) this.#onOpenFailed(error);
    else if (this.#attempts !== undefined) this.#onResumeFailed(error);
    else if (!this.#isAnsweredBy(error, request)) this.#fail(error);
  }

  get maxMessageBytes(): number {
    return this.#host.limits.maxMessageBytes;
  }

  get large(): LargeMessages {
    return this.#host.limits.large;
  }

  get requestId(): RpcId | undefined {
    return this.request?.id;
  }

  onMessage(message: WireMessage): void {
    if (this.#isOver) return;
    if (this.request !== undefined && message.id === this.request.id && !("method" in message)) this.#isAnswered = true;
    this.#host.listener.onMessage(message, this.request?.owner);
  }

  onEventId(id: string): void {
    this.#lastEventId = id;
  }

  onRetry(ms: number): void {
    this.#host.retryMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, ms));
  }

  onNoise(error: Error): void {
    if (!this.#isOver) this.#host.listener.onError(error);
  }

  onRefused(error?: Error): void {
    this.#exchange?.abort();
    if (error === undefined) this.#over();
    else this.onFailure(error);
  }

  onEnd(): void {
    this.#reader = undefined;
    this.#onStreamEnd();
  }

  #jsonReader({ id }: StreamRequest): BodyReader {
    const { maxMessageBytes } = this;
    return new CollectedBody(maxMessageBytes, {
      onBody: (bytes) => this.#takeJson(bytes, id),
      onTooLarge: () => {
        this.#exchange?.abort();
        this.onMessage(refusedAnswer(id, "tooLarge", maxMessageBytes) as WireMessage);
        this.#over();
      },
    });
  }

  #takeJson(bytes: Buffer, id: RpcId): void {
    if (bytes.length > LARGE_MESSAGE_BYTES) {
      messagesIn(this.large, bytes).then(
        (messages) => this.#takeAnswer(messages),
        (error: unknown) => this.#takeAnswer(unreadAnswer(id, messageOf(error))),
      );
      return;
    }
    let parsed: unknown;
    try {
      parsed = JSON.parse(bytes.toString("utf8"));
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#takeAnswer(parsed);
  }

  /** Takes a whole body: a message, or a batch of them. */
  #takeAnswer(body: unknown): void {
    const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
    if (messages.every(isWireMessage)) {
      for (const message of messages) this.onMessage(message);
      if (this.#isAnswered) this.#over();
      else this.#fail(new StreamEndedError());
    } else this.#fail(new Error("its answer is not a protocol message."));
  }

  /** Takes the answer out of an HTTP error, if it has one. */
  #isAnsweredBy(error: unknown, { id, isModern }: StreamRequest): boolean {
    if (!isModern || !(error instanceof HttpError) || error.status !== 400) return false;
    const message = parseJson(error.text);
    if (!isWireMessage(message) || message.id !== id || !isRecord(message.error)) return false;
    this.onMessage(message);
    this.#over();
    return true;
  }

  /** The stream has ended, or has broken off. */
  #onStreamEnd(cause?: unknown): void {
    if (this.#isOver) return;
    if (this.#isAnswered) this.#over();
    else if (this.request === undefined || this.#lastEventId !== undefined) this.#reopen(0);
    else this.#fail(new StreamEndedError(cause));
  }

  #onOpenFailed(error: unknown): void {
    const { listener } = this.#host;
    const status = error instanceof HttpError ? error.status : undefined;
    // The server has no such stream.
    if (status === 405) {
      this.#over();
      return;
    }
    listener.onError(error);
    if (this.#attempts !== undefined) {
      this.#reopen(this.#attempts + 1, { isLost: status === 404 });
      return;
    }
    this.#over();
    if (status === 404) listener.onStreamLost();
  }

  #onResumeFailed(error: unknown): void {
    const { listener } = this.#host;
    const status = error instanceof HttpError ? error.status : undefined;
    const isTransient = systemCodeOf(error) !== undefined || (status !== undefined && isWorthRepeating(status));
    if (isTransient) {
      listener.onError(error);
      this.#reopen((this.#attempts ?? 0) + 1);
      return;
    }
    this.#fail(new StreamEndedError(error));
    if (status === 404) listener.onStreamLost();
  }

  #reopen(attempts: number, { isLost = false } = {}): void {
    const { listener, retryMs } = this.#host;
    this.#attempts = attempts;
    if (isLost || attempts >= ATTEMPTS_BEFORE_LOST) listener.onStreamLost();
    if (this.#isOver) return;
    this.#timer = setTimeout(
      () => {
        this.#exchange = this.#host.openStream(this, this.#lastEventId);
      },
      retryMs ?? Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts),
    );
  }

  #fail(error: unknown): void {
    const { request } = this;
    if (this.#isOver || request === undefined) return;
    this.#over();
    this.#host.listener.onFailure(request.id, error);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#host.onStreamOver(this);
  }
}

function isWorthRepeating(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}
