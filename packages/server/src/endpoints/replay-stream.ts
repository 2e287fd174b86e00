// Streams of a legacy session that survive their connection: every event has an id and is kept for a while, and a client that
// comes back with the last one it saw gets the rest.
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/request-context.js";
import { EventStream } from "./http-replies.js";

/** What a session keeps of what it said, and what all sessions keep together. */
export interface ReplayLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
}

interface KeptEvent {
  readonly stream: ReplayStream;
  readonly number: number;
  readonly data: string;
}

/** After how long a client should come back for the rest of a stream it lost. */
const RETRY_MS = 1_000;

/**
 * Bounds what the sessions of an endpoint keep together: most of those that hold something are of clients that will never
 * come back for it. Where it gets too much, the session that has said nothing for longest gives up what it kept.
 */
export class ReplayShare {
  readonly #maxBytes: number;
  /** With what each has, the one that spoke last at the end. */
  readonly #buffers = new Map<ReplayBuffer, number>();
  #bytes = 0;

  constructor({ maxTotalBytes }: ReplayLimits) {
    this.#maxBytes = maxTotalBytes;
  }

  /** A buffer has spoken, and keeps so much now. Its own limit is what bounds the last one. */
  update(buffer: ReplayBuffer, bytes: number): void {
    this.remove(buffer);
    this.#buffers.set(buffer, bytes);
    this.#bytes += bytes;
    for (const quiet of this.#buffers.keys()) {
      if (this.#bytes <= this.#maxBytes || quiet === buffer) return;
      this.remove(quiet);
      quiet.forget();
    }
  }

  remove(buffer: ReplayBuffer): void {
    this.#bytes -= this.#buffers.get(buffer) ?? 0;
    this.#buffers.delete(buffer);
  }
}

/** Everything that one session said lately, on all its streams. */
export class ReplayBuffer {
  readonly #limits: ReplayLimits;
  readonly #share: ReplayShare;
  readonly #streams = new Map<string, ReplayStream>();
  #events: KeptEvent[] = [];
  #bytes = 0;

  constructor(limits: ReplayLimits, share: ReplayShare) {
    this.#limits = limits;
    this.#share = share;
  }

  /** Makes a stream. `primed`: its first event gives the client an id before anything was said (from 2025-11-25 on). */
  open(options: { primed: boolean; headers: Readonly<Record<string, string>> }): ReplayStream {
    const stream = new ReplayStream(this, options);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** The stream that an event belongs to, and the number of the event on it. */
  find(eventId: string): { stream: ReplayStream; number: number } | undefined {
    const [, id = "", number] = /^(.+)-(\d+)$/.exec(eventId) ?? [];
    const stream = this.#streams.get(id);
    return stream === undefined ? undefined : { stream, number: Number(number) };
  }

  /** What is kept of a stream after this event. */
  after(stream: ReplayStream, number: number): { number: number; data: string }[] {
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  /** Keeps an event, and lets the oldest go. */
  keep(event: KeptEvent): void {
    this.#events.push(event);
    this.#bytes += event.data.length;
    const { maxEvents, maxBytes } = this.#limits;
    let gone = 0;
    while (this.#events.length - gone > maxEvents || (this.#bytes > maxBytes && gone < this.#events.length)) {
      this.#bytes -= this.#events[gone]?.data.length ?? 0;
      gone += 1;
    }
    if (gone > 0) this.#events = this.#events.slice(gone);
    this.#share.update(this, this.#bytes);
  }

  /** Lets everything go that was said; streams go on. */
  forget(): void {
    this.#events = [];
    this.#bytes = 0;
  }

  /** A stream that has said its last word and of which nothing is kept cannot be asked for any more. */
  forgetEnded(): void {
    const kept = new Set(this.#events.map(({ stream }) => stream));
    for (const [id, stream] of this.#streams) if (stream.hasEnded && !kept.has(stream)) this.#streams.delete(id);
  }

  /** Cuts every stream. */
  close(): void {
    for (const stream of this.#streams.values()) stream.detach();
    this.#streams.clear();
    this.#share.remove(this);
    this.forget();
  }
}

/** One stream: of a POST, or the one that belongs to no request. */
export class ReplayStream implements Outlet {
  readonly id = randomBytes(9).toString("base64url");
  readonly #buffer: ReplayBuffer;
  readonly #options: { primed: boolean; headers: Readonly<Record<string, string>> };
  #live: EventStream | undefined;
  #lastNumber = 0;
  #hasEnded = false;

  constructor(buffer: ReplayBuffer, options: { primed: boolean; headers: Readonly<Record<string, string>> }) {
    this.#buffer = buffer;
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether somebody reads it now. */
  get isLive(): boolean {
    return this.#live?.isOpen ?? false;
  }

  /** Goes on over this response, from the event after `since` on. Whoever read it before is cut off. */
  attach(response: ServerResponse, since?: number): void {
    this.#live?.end();
    const live = new EventStream(response, this.#options.headers);
    this.#live = live;
    // A session outlives its readers: it must not hold on to their connections.
    response.once("close", () => {
      if (this.#live === live) this.#live = undefined;
    });
    if (since === undefined) {
      if (this.#options.primed) live.write({ data: "", id: this.#eventId(this.#lastNumber), retryMs: RETRY_MS });
    } else {
      for (const { number, data } of this.#buffer.after(this, since)) live.write({ data, id: this.#eventId(number) });
    }
    if (this.#hasEnded) live.end();
  }

  send(message: OutgoingMessage): void {
    if (this.#hasEnded) return;
    this.#lastNumber += 1;
    const data = JSON.stringify(message);
    this.#buffer.keep({ stream: this, number: this.#lastNumber, data });
    this.#live?.write({ data, id: this.#eventId(this.#lastNumber) });
  }

  comment(): void {
    this.#live?.comment();
  }

  /** Nothing more will be said on it. */
  end(): void {
    this.#hasEnded = true;
    this.detach();
  }

  /** Cuts off whoever reads it; the stream itself goes on. */
  detach(): void {
    this.#live?.end();
    this.#live = undefined;
  }

  #eventId(number: number): string {
    return `${this.id}-${number}`;
  }
}
