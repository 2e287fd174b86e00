// Reads the messages in an event stream, without ever holding more than the size limit of one. The rest of a longer
// event is skipped, so that the messages after it still arrive.
import { messageOf } from "@trunkline/core";
import { answeredId, ID_WINDOW_BYTES, type RpcId, refusedAnswer, unreadAnswer } from "@trunkline/protocol";
import { LARGE_MESSAGE_BYTES, type LargeMessages, messagesIn } from "../results/large-messages.js";
import { GrowingBytes } from "./growing-bytes.js";
import type { BodyReader } from "./http-body.js";
import { SkippedMessage } from "./line-splitter.js";
import type { WireMessage } from "./message-wire.js";
import { Pace } from "./pace.js";

export interface MessageLimits {
  readonly maxMessageBytes: number;
  /** Reads large messages. */
  readonly large: LargeMessages;
}

export interface EventReaderOptions extends MessageLimits {
  /** The request that the stream belongs to. */
  readonly requestId?: RpcId;
  onMessage(message: WireMessage): void;
  /** An event of another type than `message`. */
  onOther?(type: string, data: string): void;
  /** The id of the latest event: the stream can be resumed after it. */
  onEventId?(id: string): void;
  /** How long the server wants us to wait before we open the stream again. */
  onRetry?(ms: number): void;
  /** An event that is not a message. */
  onNoise(error: Error): void;
  /** Nothing more of the stream is needed or acceptable. Without an error, an answer took the place of the rest. */
  onRefused(error?: Error): void;
  /** The stream has ended, and all of it has been read. */
  onEnd(): void;
}

/** While this many large events are being read, no more are accepted. */
const MOST_READING = 4;
/** In this much of an event, its data begins, and the request that it answers is named. */
const START_BYTES = 4_096;
/** No event of ours has a longer id. */
const MAX_EVENT_ID_CHARS = 4_096;
const BLANK = 0x20;
const LF = 0x0a;
const CR = 0x0d;

export class EventReader implements BodyReader {
  readonly #options: EventReaderOptions;
  readonly #event = new GrowingBytes();
  readonly #ends = new EventEnds();
  readonly #pace = new Pace();
  /** Large events that are being read. Meanwhile, the events after them pass. */
  #reading: Set<Promise<void>> | undefined;
  #skipped: SkippedMessage | undefined;
  #isFirst = true;
  #isRefused = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  onData(chunk: Buffer): Promise<void> | undefined {
    const hasReturns = chunk.includes(CR);
    for (let start = 0; start < chunk.length && !this.#isRefused; ) {
      const end = (hasReturns ? undefined : this.#ends.nextPlain(chunk, start)) ?? this.#ends.next(chunk, start);
      this.#take(chunk.subarray(start, end ?? chunk.length), end !== undefined);
      start = end ?? chunk.length;
    }
    if (this.#reading !== undefined && this.#reading.size >= MOST_READING) return Promise.race(this.#reading);
    return this.#pace.isTooFast ? this.#pace.slowDown() : undefined;
  }

  onEnd(): void {
    if (this.#reading === undefined) this.#options.onEnd();
    else void this.settled().then(() => this.#options.onEnd());
  }

  /** Resolves when the large events received so far have been read. */
  async settled(): Promise<void> {
    await Promise.all(this.#reading ?? []);
  }

  #take(part: Buffer, isEnd: boolean): void {
    const { maxMessageBytes } = this.#options;
    const event = this.#event;
    if (this.#skipped === undefined && event.length + part.length <= maxMessageBytes) {
      if (!isEnd || event.length > 0) event.add(part);
      if (isEnd) this.#read(event.length === 0 ? part : event.take());
      return;
    }
    let rest = part;
    if (this.#skipped === undefined) {
      const start = Buffer.concat([event.view(0, START_BYTES), part.subarray(0, START_BYTES)]);
      this.#skipped = new SkippedMessage(dataOf(start), maxMessageBytes);
      event.clear();
      rest = part.subarray(START_BYTES);
    }
    this.#skip(this.#skipped, rest, isEnd);
    if (isEnd) this.#skipped = undefined;
  }

  /** Skips a part of an event that is too large. An error takes its place, for the request that it answers. */
  #skip(skipped: SkippedMessage, part: Buffer, isEnd: boolean): void {
    const { requestId } = this.#options;
    skipped.add(part);
    if (requestId !== undefined) {
      // The stream of a request has nothing to offer after its answer.
      this.#refuse(requestId);
      this.#isRefused = true;
      this.#options.onRefused();
      return;
    }
    const id = skipped.report() ?? (isEnd && !skipped.isReported ? skipped.finish() : undefined);
    if (id !== undefined) this.#refuse(id);
    if (isEnd || !skipped.isEndless) return;
    this.#isRefused = true;
    this.#options.onRefused(new Error("The server sent an event that does not end."));
  }

  #refuse(id: RpcId): void {
    this.#options.onMessage(refusedAnswer(id, "tooLarge", this.#options.maxMessageBytes) as WireMessage);
  }

  /** Reads a complete event. */
  #read(event: Buffer): void {
    this.#pace.count();
    if (event.length > LARGE_MESSAGE_BYTES) {
      this.#readAside(event);
      return;
    }
    let text = event.toString("utf8");
    if (this.#isFirst) {
      this.#isFirst = false;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    let data: string | undefined;
    let type = "";
    for (const line of text.includes("\r") ? text.split(/\r\n|\n|\r/) : text.split("\n")) {
      if (line.startsWith("data:")) {
        const value = line.slice(line.charCodeAt(5) === BLANK ? 6 : 5);
        data = data === undefined ? value : `${data}\n${value}`;
      } else if (line !== "") type = this.#readField(line) ?? type;
    }
    if (data === undefined || data === "") return;
    if (type === "" || type === "message") this.#parse(data);
    else this.#options.onOther?.(type, data);
  }

  /** Reads a line other than data. Returns the type of the event, if the line names it. */
  #readField(line: string): string | undefined {
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === BLANK ? colon + 2 : colon + 1);
    if (name === "event") return value;
    if (name === "id" && value !== "" && value.length <= MAX_EVENT_ID_CHARS && !value.includes("\0"))
      this.#options.onEventId?.(value);
    if (name === "retry" && /^\d{1,9}$/.test(value)) this.#options.onRetry?.(Number(value));
    return undefined;
  }

  #parse(data: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(data);
    } catch (error) {
      this.#options.onNoise(error as Error); // JSON.parse throws nothing else.
      return;
    }
    this.#deliver(parsed);
  }

  #deliver(parsed: unknown): void {
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
      if (isWireMessage(message)) this.#options.onMessage(message);
      else this.#options.onNoise(new Error("The server sent an event that is not a message."));
    }
  }

  /** Reads a large event on another thread. */
  #readAside(event: Buffer): void {
    const { large, requestId } = this.#options;
    const { data, others } = splitEvent(event);
    let type = "";
    for (const line of others) type = this.#readField(line) ?? type;
    if (type !== "" && type !== "message") return;
    // Looked up first, because the thread takes the bytes.
    const id = requestId ?? idOf(data);
    const reading = messagesIn(large, data)
      .then((messages) => this.#deliver(messages))
      .catch((error: Error) => {
        if (id === undefined) this.#options.onNoise(error);
        else this.#options.onMessage(unreadAnswer(id, messageOf(error)) as WireMessage);
      })
      .finally(() => this.#reading?.delete(reading));
    this.#reading ??= new Set();
    this.#reading.add(reading);
  }
}

/** The request that a message answers. */
function idOf(data: Buffer): RpcId | undefined {
  const end = data.toString("utf8", Math.max(0, data.length - ID_WINDOW_BYTES));
  return answeredId(data.toString("utf8", 0, ID_WINDOW_BYTES), end);
}

/** Whether a value has the envelope of a message. */
export function isWireMessage(value: unknown): value is WireMessage {
  return typeof value === "object" && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === "2.0";
}

/** Splits an event into its data and its other lines. */
function splitEvent(event: Buffer): { data: Buffer; others: string[] } {
  const data = new GrowingBytes();
  const others: string[] = [];
  let lines = 0;
  for (let start = 0; start < event.length; ) {
    const end = endOfLine(event, start);
    const line = event.subarray(start, end);
    start = end + 1;
    if (line.length === 0) continue;
    if (line.toString("latin1", 0, 5) !== "data:") {
      others.push(line.toString("utf8"));
      continue;
    }
    if (lines++ > 0) data.add(Buffer.from("\n"));
    data.add(line.subarray(line[5] === BLANK ? 6 : 5));
  }
  return { data: data.take(), others };
}

/** The data of an event, given the beginning of the event. */
function dataOf(start: Buffer): Buffer {
  const at = start.indexOf("data:");
  return at === -1 ? start : start.subarray(at + "data:".length);
}

/** Finds the empty lines that end events, across chunks. Looks at each byte once. */
class EventEnds {
  /** Whether the current line has no characters so far. */
  #isLineEmpty = true;
  #wasReturn = false;
  /** Whether the last event ended with a carriage return, whose line feed may follow. */
  #endedWithReturn = false;

  /** Finds the end of an event that begins here and ends with two line feeds; undefined for any other. */
  nextPlain(chunk: Buffer, start: number): number | undefined {
    if (!this.#isLineEmpty || this.#wasReturn) return undefined;
    const end = chunk.indexOf("\n\n", start, "latin1");
    return end === -1 ? undefined : end + 2;
  }

  /** Returns the position after the next event; undefined if it does not end in this chunk. */
  next(chunk: Uint8Array, start: number): number | undefined {
    let at = start;
    while (at < chunk.length) {
      const byte = chunk[at++];
      if (byte === LF && this.#wasReturn) {
        // The second half of a line ending.
        this.#wasReturn = false;
        if (this.#endedWithReturn) return at;
        continue;
      }
      this.#wasReturn = byte === CR;
      this.#endedWithReturn = false;
      if (byte !== LF && byte !== CR) {
        this.#isLineEmpty = false;
        // Most of a large event is one line.
        at = endOfLine(chunk, at);
        continue;
      }
      const isEnd = this.#isLineEmpty;
      this.#isLineEmpty = true;
      if (!isEnd) continue;
      this.#endedWithReturn = this.#wasReturn;
      if (!this.#wasReturn || chunk[at] !== LF) return at;
      this.#wasReturn = false;
      return at + 1;
    }
    return undefined;
  }
}

function endOfLine(chunk: Uint8Array, from: number): number {
  const lf = chunk.indexOf(LF, from);
  const end = lf === -1 ? chunk.length : lf;
  const cr = chunk.subarray(from, end).indexOf(CR);
  return cr === -1 ? end : from + cr;
}
