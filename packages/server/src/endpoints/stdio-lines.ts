// Messages as lines of JSON, on a stream that is read and on one whose reader may be slow or gone.
import type { Writable } from "node:stream";
import type { OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/request-context.js";

/** What is done with lines. */
interface LineListener {
  onLine(line: string): void;
  /** A line was longer than it may be; what there was of it is gone. */
  onTooLong(): void;
}

const NEWLINE = 0x0a;

/** Cuts what comes in into lines. A line beyond the limit is dropped, and reading goes on with the next one. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #listener: LineListener;
  #parts: Buffer[] = [];
  #size = 0;
  #isSkipping = false;

  constructor(listener: LineListener, { maxBytes }: { maxBytes: number }) {
    this.#listener = listener;
    this.#maxBytes = maxBytes;
  }

  /** Takes what came in. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Nothing more comes: what there is counts as a line. */
  end(): void {
    if (this.#size > 0 || this.#isSkipping) this.#finish();
  }

  #add(part: Buffer): void {
    if (this.#isSkipping) return;
    this.#size += part.length;
    if (this.#size <= this.#maxBytes) {
      this.#parts.push(part);
      return;
    }
    this.#isSkipping = true;
    this.#parts = [];
  }

  #finish(): void {
    const { 0: first, length } = this.#parts;
    const tooLong = this.#isSkipping;
    const bytes = length === 1 ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#isSkipping = false;
    if (tooLong) {
      this.#listener.onTooLong();
      return;
    }
    const line = bytes?.toString("utf8").trim() ?? "";
    if (line !== "") this.#listener.onLine(line);
  }
}

/** What a slow reader may keep waiting. */
interface WriterLimits {
  /** From here on progress and log messages are left out. */
  readonly droppableBytes: number;
  /** From here on the reader counts as gone. */
  readonly maxBytes: number;
}

const DROPPABLE: ReadonlySet<unknown> = new Set(["notifications/progress", "notifications/message"]);

/**
 * Writes messages to one stream. Progress and log messages are left out once too much waits to be read; beyond the second
 * limit the reader counts as gone.
 */
export class LineWriter implements Outlet {
  readonly #stream: Writable;
  readonly #limits: WriterLimits;
  readonly #onGone: (error: Error) => void;
  #isGone = false;

  constructor(stream: Writable, options: { limits: WriterLimits; onGone: (error: Error) => void }) {
    this.#stream = stream;
    this.#limits = options.limits;
    this.#onGone = options.onGone;
    // Stays attached for good: a late EPIPE without a listener would end the process.
    stream.on("error", (error) => this.#give(error));
  }

  send(message: OutgoingMessage): void {
    if (this.#isGone) return;
    const waiting = this.#stream.writableLength;
    if (waiting > this.#limits.droppableBytes && DROPPABLE.has(message.method)) return;
    if (waiting > this.#limits.maxBytes) {
      this.#give(new Error("The client does not read what it is sent."));
      return;
    }
    this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  /** Whether the reader is behind: nothing new should be taken on for it. */
  get isBehind(): boolean {
    return !this.#isGone && this.#stream.writableNeedDrain;
  }

  /** Calls back when the reader has caught up. */
  onCaughtUp(listener: () => void): void {
    this.#stream.once("drain", listener);
  }

  /** Resolves when everything is out, or nobody reads any more. */
  async flushed(): Promise<void> {
    if (this.#isGone || this.#stream.writableLength === 0) return;
    await new Promise<void>((resolve) => this.#stream.write("", () => resolve()));
  }

  #give(error: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onGone(error);
  }
}
