// Splits the output of a server into lines without ever holding more than the size limit. The rest of a longer line is
// skipped, so that the messages after it still arrive.
import { answeredId, ID_WINDOW_BYTES, type RpcId } from "@trunkline/protocol";
import { GrowingBytes } from "./growing-bytes.js";

interface LineListener {
  /** Receives a line. The bytes may be part of a larger buffer. */
  onLine(bytes: Buffer): void;
  /** A line exceeded the limit. Has the id of the request that it answers, if it answers one. */
  onTooLarge(id: RpcId | undefined): void;
  /** A line did not end within several times the limit. */
  onEndless(): void;
}

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #listener: LineListener;
  readonly #maxBytes: number;
  readonly #line = new GrowingBytes();
  #skipped: SkippedMessage | undefined;
  #isEndless = false;

  constructor(listener: LineListener, { maxBytes }: { maxBytes: number }) {
    this.#listener = listener;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end);
      start = end + 1;
      // Most lines arrive in one piece.
      if (this.#line.length === 0 && this.#skipped === undefined && tail.length <= this.#maxBytes) {
        this.#listener.onLine(tail);
        continue;
      }
      this.#add(tail);
      this.#finish();
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer): void {
    if (this.#isEndless) return;
    if (this.#skipped === undefined && this.#line.length + part.length <= this.#maxBytes) {
      this.#line.add(part);
      return;
    }
    if (this.#skipped === undefined) {
      this.#skipped = new SkippedMessage(this.#line.view(0, ID_WINDOW_BYTES), this.#maxBytes);
      this.#line.clear();
    }
    this.#skipped.add(part);
    const id = this.#skipped.report();
    if (id !== undefined) this.#listener.onTooLarge(id);
    if (!this.#skipped.isEndless) return;
    this.#isEndless = true;
    this.#listener.onEndless();
  }

  #finish(): void {
    if (this.#isEndless) return;
    const skipped = this.#skipped;
    this.#skipped = undefined;
    if (skipped === undefined) this.#listener.onLine(this.#line.take());
    else if (!skipped.isReported) this.#listener.onTooLarge(skipped.finish());
  }
}

/** How many times the limit is skipped before a message counts as endless. */
const SKIPPED_TIMES = 4;

/** A message that is too large. Only its first and last bytes are retained, to find the request that it answers. */
export class SkippedMessage {
  readonly #maxBytes: number;
  #start: Buffer;
  #end: Buffer;
  #sizeBytes: number;
  #isReported = false;

  /** `start` is what has been received so far, at least its first bytes. */
  constructor(start: Buffer, maxBytes: number) {
    this.#start = Buffer.from(start);
    this.#end = this.#start;
    this.#sizeBytes = maxBytes;
    this.#maxBytes = maxBytes;
  }

  /** Whether the request has been reported. */
  get isReported(): boolean {
    return this.#isReported;
  }

  get isEndless(): boolean {
    return this.#sizeBytes > this.#maxBytes * (SKIPPED_TIMES + 1);
  }

  add(part: Uint8Array): void {
    this.#sizeBytes += part.length;
    const missing = ID_WINDOW_BYTES - this.#start.length;
    if (missing > 0) this.#start = Buffer.concat([this.#start, part.subarray(0, missing)]);
    this.#end = Buffer.concat([this.#end, part.subarray(-ID_WINDOW_BYTES)]).subarray(-ID_WINDOW_BYTES);
  }

  /** Returns the request that the message answers, once, if its beginning says so. */
  report(): RpcId | undefined {
    if (this.#isReported || this.#start.length < ID_WINDOW_BYTES) return undefined;
    const id = answeredId(this.#start.toString("utf8"), "");
    this.#isReported = id !== undefined;
    return id;
  }

  /** Returns the request that the message answers, now that its end is known. */
  finish(): RpcId | undefined {
    return answeredId(this.#start.toString("utf8"), this.#end.toString("utf8"));
  }
}
