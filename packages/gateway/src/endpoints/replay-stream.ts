// Streams of a legacy session that survive their connection: every event has an id and is buffered for a while. A
// client that reconnects with the last id it saw gets the events after it.
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { encodeMessage, type OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/request-context.js";
import { EventStream } from "./http-replies.js";

/** Buffer limits per session, and in total across sessions. */
export interface ReplayLimits {
  /** How long an event is buffered: a client that comes back does so within seconds. */
  readonly keptMs: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
}

interface KeptEvent {
  readonly atMs: number;
  readonly stream: ReplayStream;
  readonly number: number;
  readonly data: string | Uint8Array;
  /** Replaces an earlier event of the same kind on the stream. */
  readonly kind?: string;
}

/** How long a client should wait before it reconnects to a lost stream. */
const RETRY_MS = 1_000;

/**
 * Limits what all sessions of an endpoint buffer together: most buffered events belong to clients that never come back.
 * Over the limit, the session that has been silent the longest loses its buffer.
 */
export class ReplayShare {
  readonly #maxBytes: number;
  /** Buffer sizes, most recently written last. */
  readonly #buffers = new Map<ReplayBuffer, number>();
  #bytes = 0;

  constructor({ maxTotalBytes }: ReplayLimits) {
    this.#maxBytes = maxTotalBytes;
  }

  /** Records a buffer's new size after a write. Never evicts that buffer: it has its own limit. */
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

  /** Records that a buffer has dropped events. Its place in the order stays. */
  shrink(buffer: ReplayBuffer, bytes: number): void {
    this.#bytes += bytes - (this.#buffers.get(buffer) ?? 0);
    this.#buffers.set(buffer, bytes);
  }

  remove(buffer: ReplayBuffer): void {
    this.#bytes -= this.#buffers.get(buffer) ?? 0;
    this.#buffers.delete(buffer);
  }
}

/** The recent events of one session, on all its streams. */
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

  /** Opens a stream. `primed`: its first event gives the client an id before any message is sent (since 2025-11-25). */
  open(options: { primed: boolean; headers: Readonly<Record<string, string>> }): ReplayStream {
    const stream = new ReplayStream(this, options);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** Finds the stream that an event belongs to, and the event's number on it. */
  find(eventId: string): { stream: ReplayStream; number: number } | undefined {
    const [, id = "", number] = /^(.+)-(\d+)$/.exec(eventId) ?? [];
    const stream = this.#streams.get(id);
    return stream === undefined ? undefined : { stream, number: Number(number) };
  }

  /** The stream's buffered events after this event number. */
  after(stream: ReplayStream, number: number): { number: number; data: string | Uint8Array }[] {
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  /** Buffers an event and drops the oldest ones over the limit. */
  keep(event: Omit<KeptEvent, "atMs">): void {
    if (event.kind !== undefined) this.#drop(event.stream, event.kind);
    this.#events.push({ ...event, atMs: performance.now() });
    this.#bytes += event.data.length;
    const { maxEvents, maxBytes } = this.#limits;
    const tooMany = this.#events.length - maxEvents;
    this.#dropWhile((_, gone) => gone < tooMany || this.#bytes > maxBytes);
    this.#share.update(this, this.#bytes);
  }

  #drop(stream: ReplayStream, kind: string): void {
    const at = this.#events.findLastIndex((event) => event.stream === stream && event.kind === kind);
    if (at === -1) return;
    this.#bytes -= this.#events[at]?.data.length ?? 0;
    this.#events.splice(at, 1);
  }

  #dropWhile(isTooMuch: (oldest: KeptEvent, gone: number) => boolean): void {
    let gone = 0;
    for (const event of this.#events) {
      if (!isTooMuch(event, gone)) break;
      this.#bytes -= event.data.length;
      gone += 1;
    }
    if (gone > 0) this.#events = this.#events.slice(gone);
  }

  /** Drops all events. Streams stay open. */
  forget(): void {
    this.#events = [];
    this.#bytes = 0;
  }

  /** Drops old events, and ended streams without buffered events: they cannot be resumed any more. */
  forgetOld(): void {
    const sinceMs = performance.now() - this.#limits.keptMs;
    const before = this.#bytes;
    this.#dropWhile(({ atMs }) => atMs < sinceMs);
    if (this.#bytes < before) this.#share.shrink(this, this.#bytes);
    const kept = new Set(this.#events.map(({ stream }) => stream));
    for (const [id, stream] of this.#streams) if (stream.hasEnded && !kept.has(stream)) this.#streams.delete(id);
  }

  /** Disconnects every stream. */
  close(): void {
    for (const stream of this.#streams.values()) stream.detach();
    this.#streams.clear();
    this.#share.remove(this);
    this.forget();
  }
}

/** One stream: of a POST, or the standalone one. */
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

  /** Whether a client is connected to the stream. */
  get isLive(): boolean {
    return this.#live?.isOpen ?? false;
  }

  /** Continues the stream on this response, starting with the event after `since`. Disconnects the previous reader. */
  attach(response: ServerResponse, since?: number): void {
    this.#live?.end();
    const live = new EventStream(response, this.#options.headers);
    this.#live = live;
    // A session outlives its readers, so it must not hold on to their connections.
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
    const data = encodeMessage(message);
    this.#buffer.keep({ stream: this, number: this.#lastNumber, data, kind: repeatedKind(message) });
    this.#live?.write({ data, id: this.#eventId(this.#lastNumber) });
  }

  comment(): void {
    this.#live?.comment();
  }

  /** Ends the stream: no more messages will be sent on it. */
  end(): void {
    this.#hasEnded = true;
    this.detach();
  }

  /** Disconnects the reader. The stream stays open. */
  detach(): void {
    this.#live?.end();
    this.#live = undefined;
  }

  #eventId(number: number): string {
    return `${this.id}-${number}`;
  }
}

/**
 * A client that has missed ten changes of a list has to be told once. Without this, the sessions of clients that are gone
 * would fill up with the changes of every server that restarts.
 */
function repeatedKind(message: OutgoingMessage): string | undefined {
  const { method } = message;
  return typeof method === "string" && method.endsWith("/list_changed") ? method : undefined;
}
