// What the broker and its clients say to each other on the socket: frames of a length, a kind and a payload.

/** The kinds of frames. A number never changes its meaning; PROTOCOL_VERSION changes if one is reused. */
export const FRAME = {
  /** The first frame of a client: a {@link Hello} as JSON. */
  hello: 1,
  /** The broker takes the client: a {@link Welcome} as JSON. */
  welcome: 2,
  /** The broker does not take the client: a {@link Refusal} as JSON. */
  refused: 3,
  /** One MCP message, without its newline. */
  message: 4,
  /** An MCP request that a broker which has ended may already have run. */
  repeated: 5,
  /**
   * The client is to attach to the next broker; this one answers what it has got. The client returns the frame when it
   * sends no more requests.
   */
  drain: 6,
  /** Bytes of the client's stdin. */
  stdin: 7,
  stdinEnd: 8,
  stdout: 9,
  stderr: 10,
  /** Start and stop reading stdin. */
  readStdin: 11,
  pauseStdin: 12,
  /** One byte: whether the terminal passes on every key. */
  rawMode: 13,
  /** `{columns, rows}` as JSON. */
  resize: 14,
  /** The name of a signal. */
  signal: 15,
  /** The exit code of a program as text. */
  exit: 16,
  /** The broker asks whether all input typed so far was sent; the client answers with the same kind. */
  inputSettled: 17,
  /** The answer to a control request, as JSON. */
  report: 18,
  /** The broker has read the hello; its welcome may take a while. */
  heard: 19,
  /** The broker was asked to stop: attach to the next one only when there is something to do. */
  stop: 20,
  /** The broker asks which process this is, with a name to take; the client returns the frame once it has it. */
  proof: 21,
} as const;

export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

/** Changes when an older relay and a newer broker no longer understand each other. */
export const PROTOCOL_VERSION = 1;

/** A message of 64 MB, with room for its envelope. */
export const MAX_FRAME_BYTES = 96 * 1024 * 1024;

/** Arguments and environment of a process: the systems allow 6 MB at most, unless someone raises it. */
export const MAX_HELLO_BYTES = 16 * 1024 * 1024;

const HEADER_BYTES = 5;
const NOTHING = Buffer.alloc(0);
const MOST_PARTS = 256;
const SMALL_BYTES = 1024;

/** Encodes a frame. A large payload is not copied: write all parts. */
export function frameHead(kind: FrameKind, payloadBytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEADER_BYTES);
  head.writeUInt32LE(payloadBytes, 0);
  head.writeUInt8(kind, 4);
  return head;
}

/** Encodes a frame with a text or bytes as one buffer. */
export function encodeFrame(kind: FrameKind, payload: string | Uint8Array = NOTHING): Buffer {
  const size = typeof payload === "string" ? Buffer.byteLength(payload) : payload.length;
  const frame = Buffer.allocUnsafe(HEADER_BYTES + size);
  frame.writeUInt32LE(size, 0);
  frame.writeUInt8(kind, 4);
  if (typeof payload === "string") frame.write(payload, HEADER_BYTES);
  else frame.set(payload, HEADER_BYTES);
  return frame;
}

export function encodeJsonFrame(kind: FrameKind, value: unknown): Buffer {
  return encodeFrame(kind, JSON.stringify(value));
}

/** Splits bytes into frames. Throws a `RangeError` if a frame is too large. */
export class FrameReader {
  readonly #onFrame: (kind: number, payload: Buffer) => void;
  /** The largest payload. Can be changed between frames. */
  maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  #needed = HEADER_BYTES;
  /** How many parts are large, or were joined. */
  #settled = 0;

  constructor(onFrame: (kind: number, payload: Buffer) => void, maxBytes = MAX_FRAME_BYTES) {
    this.#onFrame = onFrame;
    this.maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) {
      if (this.#parts.length - this.#settled >= MOST_PARTS) this.#settle();
      return;
    }
    let rest = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#settled = 0;
    while (rest.length >= HEADER_BYTES) {
      const size = rest.readUInt32LE(0);
      if (size > this.maxBytes) throw new RangeError(`A frame of ${size} bytes is too large.`);
      const end = HEADER_BYTES + size;
      if (rest.length < end) {
        this.#needed = end;
        break;
      }
      this.#onFrame(rest.readUInt8(4), rest.subarray(HEADER_BYTES, end));
      rest = rest.subarray(end);
      this.#needed = HEADER_BYTES;
    }
    this.#size = rest.length;
    if (rest.length > 0) this.#parts.push(rest);
  }

  /** Joins many small parts: a frame that arrives byte by byte would need a hundred times its size. */
  #settle(): void {
    const last = this.#parts.slice(this.#settled);
    if (last.reduce((sum, { length }) => sum + length, 0) < MOST_PARTS * SMALL_BYTES)
      this.#parts.splice(this.#settled, last.length, Buffer.concat(last));
    this.#settled = this.#parts.length;
  }
}
