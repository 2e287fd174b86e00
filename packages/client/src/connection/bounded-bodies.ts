// Bounds the responses of HTTP servers before the SDK reads them: a JSON body, each event of a stream, and everything
// else. Decompressed bytes count, so a small compressed body cannot become a large one.
import type { FetchLike } from "@modelcontextprotocol/client";
import { isRecord, messageOf, parseJson } from "@trunkline/core";
import { isRpcId, type RpcId, refusedAnswer, unreadAnswer } from "@trunkline/protocol";
import { LARGE_MESSAGE_BYTES, type LargeMessages, messagesIn } from "../results/large-messages.js";
import { GrowingBytes } from "../wire/growing-bytes.js";
import { SkippedMessage } from "../wire/line-splitter.js";
import { Pace } from "../wire/pace.js";

interface BodyLimits {
  readonly maxMessageBytes: number;
  /** Reads large messages. */
  readonly large: LargeMessages;
}

/** How much of an error page or any other response is read. */
const OTHER_BYTES = 1024 * 1024;

/** Wraps `fetch` so that a response never holds more than the limits allow. */
export function boundedFetch(fetch: FetchLike, limits: BodyLimits): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body, headers } = response;
    if (body === null || isSmall(headers)) return response;
    const type = headers.get("content-type") ?? "";
    if (response.ok && type.startsWith("text/event-stream")) {
      const requestId = init?.method === "POST" ? requestIdOf(init) : undefined;
      return withBody(response, body.pipeThrough(boundedEvents(limits, requestId)));
    }
    if (!response.ok || !type.includes("json")) return withBody(response, body.pipeThrough(firstBytes(OTHER_BYTES)));
    const bytes = await bytesWithin(body, limits.maxMessageBytes);
    if (bytes === undefined) return withBody(response, JSON.stringify(refused(requestIdOf(init), limits)));
    if (bytes.length <= LARGE_MESSAGE_BYTES) return withBody(response, bytes);
    return withBody(response, JSON.stringify(await stubFor(bytes, requestIdOf(init), limits)));
  };
}

/** Whether the server has announced a small body, which it cannot exceed. */
function isSmall(headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && !headers.has("content-encoding") && Number(length) <= LARGE_MESSAGE_BYTES;
}

function withBody(response: Response, body: ReadableStream<Uint8Array> | Uint8Array | string): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.delete("content-encoding");
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, statusText, headers });
}

/** The id of the request that a POST sends. */
function requestIdOf(init: RequestInit | undefined): RpcId | undefined {
  const message = typeof init?.body === "string" ? parseJson(init.body) : undefined;
  return isRecord(message) && isRpcId(message.id) ? message.id : undefined;
}

function refused(id: RpcId | undefined, { maxMessageBytes }: BodyLimits): unknown {
  return id === undefined ? {} : refusedAnswer(id, "tooLarge", maxMessageBytes);
}

/** Reads a large message on another thread. Returns the message, or the messages, that take its place. */
async function stubFor(bytes: Uint8Array, requestId: RpcId | undefined, { large }: BodyLimits): Promise<unknown> {
  try {
    const messages = await messagesIn(large, bytes);
    return messages.length === 1 ? messages[0] : messages;
  } catch (error) {
    return requestId === undefined ? {} : unreadAnswer(requestId, messageOf(error));
  }
}

/** Reads a body; undefined, and the rest is not read, if it exceeds the limit. */
async function bytesWithin(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | undefined> {
  const bytes = new GrowingBytes();
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return bytes.take();
    if (bytes.length + value.length > maxBytes) {
      // Its failure does not matter: the connection is given up.
      await reader.cancel().catch(() => {});
      return undefined;
    }
    bytes.add(value);
  }
}

/** Passes on the first bytes of a stream and ends it there. */
function firstBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}

/** While this many large events are being read, no more are accepted. */
const MOST_READING = 4;
const BLANK = 0x20;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Passes a stream on in whole events. An event that is too large is skipped, and an error takes its place: for the
 * request that it answers, or else for the request that opened the stream.
 */
export function boundedEvents(
  limits: BodyLimits,
  requestId: RpcId | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  const event = new GrowingBytes();
  const ends = new EventEnds();
  let skipped: SkippedMessage | undefined;
  const refuse = (id: RpcId | undefined, controller: TransformStreamDefaultController<Uint8Array>) => {
    const answered = id ?? requestId;
    if (answered === undefined) return;
    controller.enqueue(Buffer.from(`data: ${JSON.stringify(refused(answered, limits))}\n\n`));
    // The stream of a request has nothing to offer after its answer.
    if (requestId !== undefined) controller.terminate();
  };
  const pace = new Pace();
  /** Large events that are being read. Meanwhile, the events after them pass. */
  const reading = new Set<Promise<void>>();
  const readAside = (whole: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>) => {
    const read = stubEvent(whole, requestId, limits)
      .then((stub) => controller.enqueue(stub))
      // The stream has ended, and with it the request.
      .catch(() => {})
      .finally(() => reading.delete(read));
    reading.add(read);
  };
  return new TransformStream({
    async transform(chunk, controller) {
      for (let start = 0; start < chunk.length; ) {
        const end = ends.next(chunk, start);
        const part = chunk.subarray(start, end ?? chunk.length);
        start = end ?? chunk.length;
        if (skipped === undefined && event.length + part.length <= limits.maxMessageBytes) {
          if (end === undefined || event.length > 0) event.add(part);
          if (end === undefined) continue;
          pace.count();
          const whole = event.length === 0 ? part : event.take();
          if (whole.length <= LARGE_MESSAGE_BYTES) controller.enqueue(whole);
          else readAside(whole, controller);
          continue;
        }
        if (skipped === undefined) {
          skipped = new SkippedMessage(dataOf(event.view(0, 4096)), limits.maxMessageBytes);
          event.clear();
        }
        skipped.add(part);
        const id = skipped.report() ?? (requestId !== undefined && !skipped.isReported ? requestId : undefined);
        if (id !== undefined) refuse(id, controller);
        if (requestId !== undefined && id !== undefined) return;
        if (end !== undefined) {
          if (!skipped.isReported) refuse(skipped.finish(), controller);
          skipped = undefined;
        } else if (skipped.isEndless) {
          controller.error(new Error("The server sent an event that does not end."));
          return;
        }
      }
      if (pace.isTooFast) await pace.slowDown();
      if (reading.size >= MOST_READING) await Promise.race(reading);
    },
    async flush(controller) {
      await Promise.all(reading);
      if (event.length > 0) controller.enqueue(event.take());
    },
  });
}

/** Builds the event that takes the place of a large one. */
async function stubEvent(event: Uint8Array, requestId: RpcId | undefined, limits: BodyLimits): Promise<Uint8Array> {
  const { data, others } = readEvent(Buffer.from(event.buffer, event.byteOffset, event.length));
  const stub = await stubFor(data, requestId, limits);
  return Buffer.from([...others, `data: ${JSON.stringify(stub)}`, "", ""].join("\n"));
}

/** Splits an event into its data and its other lines. */
function readEvent(event: Buffer): { data: Uint8Array; others: string[] } {
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
