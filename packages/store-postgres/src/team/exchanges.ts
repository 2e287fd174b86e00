// Requests between gateways and their answers, on top of messages: parts ahead of the answer, cancellation, and the end of
// either side.
import { randomUUID } from "node:crypto";
import {
  abortError,
  atMost,
  type GatewayAnswer,
  type GatewayRequest,
  type Logger,
  messageOf,
  sleep,
  TrunklineError,
} from "@trunkline/core";
import type { GatewayStates } from "./gateway-states.js";
import { type Mailbox, type MessageKind, NO_BODY, type ReceivedMessage } from "./mailbox.js";

export type GatewayHandler = (request: GatewayRequest) => Promise<Uint8Array | undefined>;

/** How often the other side of an open exchange is looked at. */
const LOOK_MS = 1_000;
/** How long the database may be away before an open request fails. */
const PATIENCE_MS = 10_000;
const RESEND_MS = 500;
/** Parts that cannot be sent fast enough are dropped above this size. An answer never is. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
const SENT_AT_ONCE = 64;

interface Asked {
  readonly to: string;
  /** The run of the gateway that was asked. */
  readonly run: string;
  readonly onPart: (part: Uint8Array) => void;
  next: number;
  settle(outcome: GatewayAnswer | TrunklineError): void;
}

interface Served {
  readonly sender: string;
  /** The run of the gateway that asked, as it was seen first. */
  run: string | undefined;
  readonly controller: AbortController;
  /** Resolves when the answer has been sent, or never will be. */
  readonly ended: Promise<void>;
}

export class Exchanges {
  readonly #mailbox: Mailbox;
  readonly #states: GatewayStates;
  readonly #logger: Logger;
  readonly #asked = new Map<string, Asked>();
  /** By sender and exchange. */
  readonly #served = new Map<string, Served>();
  /** Requests that came before there was a handler. */
  #waiting: ReceivedMessage[] = [];
  #handler: GatewayHandler | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastLook = performance.now();
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: { mailbox: Mailbox; states: GatewayStates; logger: Logger }) {
    this.#mailbox = options.mailbox;
    this.#states = options.states;
    this.#logger = options.logger;
  }

  serve(handler: GatewayHandler): () => void {
    this.#handler = handler;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) this.#begin(message);
    return () => {
      if (this.#handler === handler) this.#handler = undefined;
    };
  }

  async ask(
    to: string,
    body: Uint8Array,
    { signal, onPart }: { signal: AbortSignal; onPart: (part: Uint8Array) => void },
  ): Promise<GatewayAnswer> {
    const state = await this.#states.settled(to, signal);
    if (state === undefined) return { kind: "unknown" };
    if (state.isGone) return { kind: "gone" };
    if (this.#isClosed) throw closed();
    const exchange = randomUUID();
    const answer = new Promise<GatewayAnswer>((resolve, reject) => {
      const settle: Asked["settle"] = (outcome) => {
        this.#asked.delete(exchange);
        this.#rest();
        if (outcome instanceof TrunklineError) reject(outcome);
        else resolve(outcome);
      };
      this.#asked.set(exchange, { to, run: state.run, onPart, next: 0, settle });
      this.#watch();
    });
    const onAbort = () => {
      this.#asked.get(exchange)?.settle(abortError(signal, "The request to another gateway"));
      const cancel = { exchange, kind: "cancel", number: 1, body: NO_BODY } as const;
      this.#mailbox.send(to, [cancel]).catch((error: unknown) => {
        this.#logger.debug("a request to another gateway was not cancelled", { error: messageOf(error) });
      });
    };
    try {
      await this.#mailbox.send(to, [{ exchange, kind: "request", number: 0, body }]);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      return await answer;
    } catch (error) {
      // Nothing waits for it anymore.
      answer.catch(() => {});
      this.#asked.get(exchange)?.settle(closed());
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  receive(message: ReceivedMessage): void {
    const { exchange, kind, sender, number, body } = message;
    switch (kind) {
      case "request":
        this.#begin(message);
        return;
      case "cancel":
        this.#waiting = this.#waiting.filter((other) => keyOf(other) !== keyOf(message));
        this.#served.get(keyOf(message))?.controller.abort(cancelled());
        return;
      default: {
        const asked = this.#asked.get(exchange);
        // Only the gateway that was asked may answer, and each message counts once.
        if (asked === undefined || asked.to !== sender || number < asked.next) return;
        asked.next = number + 1;
        if (kind === "part") asked.onPart(body);
        else asked.settle(kind === "end" ? { kind: "answer", body } : { kind: "gone" });
      }
    }
  }

  /** Looks at the other sides of all open exchanges. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const peers = new Set([
      ...[...this.#asked.values()].map(({ to }) => to),
      ...[...this.#served.values()].map(({ sender }) => sender),
    ]);
    if (peers.size === 0) return;
    try {
      const states = await this.#states.look([...peers]);
      // A gateway that is gone may have answered first.
      await this.#mailbox.read();
      this.#lastLook = performance.now();
      for (const { to, run, settle } of [...this.#asked.values()]) {
        const state = states.get(to);
        if (state === undefined || state.isGone || state.run !== run) settle({ kind: "gone" });
      }
      for (const served of this.#served.values()) {
        const state = states.get(served.sender);
        served.run ??= state?.run;
        // Another run with the same name waits for nothing.
        if (state === undefined || state.isGone || state.run !== served.run) served.controller.abort(cancelled());
      }
    } catch (error) {
      if (performance.now() - this.#lastLook < PATIENCE_MS || !(error instanceof TrunklineError)) return;
      for (const { settle } of [...this.#asked.values()]) settle(error);
    }
  }

  /** Waits until the requests of others have been answered, up to a limit. */
  async answered(limitMs: number): Promise<void> {
    await atMost(limitMs, Promise.all([...this.#served.values()].map(({ ended }) => ended)));
  }

  close(): void {
    this.#isClosed = true;
    this.#handler = undefined;
    clearInterval(this.#timer);
    for (const { settle } of [...this.#asked.values()]) settle(closed());
    for (const { controller } of this.#served.values()) controller.abort(cancelled());
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#lastLook = performance.now();
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  #rest(): void {
    if (this.#asked.size > 0 || this.#served.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #begin(message: ReceivedMessage): void {
    const key = keyOf(message);
    if (this.#isClosed || this.#served.has(key)) return;
    const handler = this.#handler;
    if (handler === undefined) {
      this.#waiting.push(message);
      return;
    }
    const controller = new AbortController();
    const ended = this.#answer(handler, message, controller.signal).finally(() => {
      this.#served.delete(key);
      this.#rest();
    });
    this.#served.set(key, { sender: message.sender, run: undefined, controller, ended });
    this.#watch();
  }

  /** Never rejects. */
  async #answer(handler: GatewayHandler, message: ReceivedMessage, signal: AbortSignal): Promise<void> {
    const replies = new Replies(this.#mailbox, message, this.#logger);
    let answer: Uint8Array | undefined;
    try {
      answer = await handler({ body: message.body, signal, send: (part) => replies.part(part) });
    } catch (error) {
      this.#logger.error("a request of another gateway failed", { error });
    }
    // Nothing waits for the answer to a cancelled request.
    if (signal.aborted) return;
    try {
      await replies.end(answer, signal);
    } catch (error) {
      this.#logger.debug("another gateway got no answer", { error: messageOf(error) });
    }
  }
}

/** Sends parts and the answer of one request in order, several at once if there are several. */
class Replies {
  readonly #mailbox: Mailbox;
  readonly #request: ReceivedMessage;
  readonly #logger: Logger;
  #queue: { kind: MessageKind; number: number; body: Uint8Array }[] = [];
  #waitingBytes = 0;
  #next = 0;
  #sending: Promise<void> | undefined;

  constructor(mailbox: Mailbox, request: ReceivedMessage, logger: Logger) {
    this.#mailbox = mailbox;
    this.#request = request;
    this.#logger = logger;
  }

  part(body: Uint8Array): void {
    if (this.#waitingBytes + body.length > MOST_WAITING_BYTES) return;
    this.#put("part", body);
    void this.#flush();
  }

  /** Resolves when the answer is sent. Tries until the signal aborts, because the other side waits for it. */
  async end(answer: Uint8Array | undefined, signal: AbortSignal): Promise<void> {
    this.#put(answer === undefined ? "none" : "end", answer ?? NO_BODY);
    while (this.#queue.length > 0) {
      await this.#flush();
      if (this.#queue.length > 0) await sleep(RESEND_MS, signal);
    }
  }

  #put(kind: MessageKind, body: Uint8Array): void {
    this.#queue.push({ kind, number: this.#next++, body });
    this.#waitingBytes += body.length;
  }

  /** Sends what waits. Never rejects: what could not be sent stays in the queue. */
  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    const { sender, exchange } = this.#request;
    try {
      while (this.#queue.length > 0) {
        const some = this.#queue.slice(0, SENT_AT_ONCE);
        await this.#mailbox.send(
          sender,
          some.map((message) => ({ ...message, exchange })),
        );
        this.#queue = this.#queue.slice(some.length);
        for (const { body } of some) this.#waitingBytes -= body.length;
      }
    } catch (error) {
      this.#logger.debug("a message to another gateway was not sent", { error: messageOf(error) });
    }
  }
}

function keyOf({ sender, exchange }: ReceivedMessage): string {
  return `${sender} ${exchange}`;
}

function cancelled(): TrunklineError {
  return new TrunklineError("ABORTED", "The client has disconnected.");
}

function closed(): TrunklineError {
  return new TrunklineError("CLOSED", "The gateway is stopping.");
}
