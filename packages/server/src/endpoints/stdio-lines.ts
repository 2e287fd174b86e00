// Messages as lines of JSON: a reader, and a writer whose peer may be slow or gone.
import type { Writable } from "node:stream";
import { encodeMessage, type OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/request-context.js";

interface LineListener {
  onLine(line: string): void;
  /** A line exceeded the limit and was dropped. */
  onTooLong(): void;
}

const NEWLINE = 0x0a;

/** Splits input into lines. A line over the limit is dropped, and reading continues with the next one. */
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

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Ends the input: the remaining data counts as a line. */
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

/** Maximum unsent data for a slow reader. */
interface WriterLimits {
  /** Above this much unread data, progress and log messages are dropped. */
  readonly droppableBytes: number;
  /** Above this much unread data, the reader counts as gone. */
  readonly maxBytes: number;
}

const DROPPABLE: ReadonlySet<unknown> = new Set(["notifications/progress", "notifications/message"]);

/**
 * Writes messages to a stream. Progress and log messages are dropped once too much data is unread; above a second
 * limit, the reader counts as gone.
 */
export class LineWriter implements Outlet {
  readonly #stream: Writable;
  readonly #limits: WriterLimits;
  readonly #onGone: (error: Error) => void;
  #isGone = false;
  /** The lines of this turn of the event loop, written together at its end: a write costs more than a message. */
  #lines = "";

  constructor(stream: Writable, options: { limits: WriterLimits; onGone: (error: Error) => void }) {
    this.#stream = stream;
    this.#limits = options.limits;
    this.#onGone = options.onGone;
    // Never removed: a late EPIPE without a listener would crash the process.
    stream.on("error", (error) => this.#give(error));
  }

  send(message: OutgoingMessage): void {
    if (this.#isGone) return;
    const waiting = this.#stream.writableLength + this.#lines.length;
    if (waiting > this.#limits.droppableBytes && DROPPABLE.has(message.method)) return;
    if (waiting > this.#limits.maxBytes) {
      this.#give(new Error("The client does not read its messages."));
      return;
    }
    const encoded = encodeMessage(message);
    if (typeof encoded === "string") {
      if (this.#lines === "") process.nextTick(() => this.#writeLines());
      this.#lines += `${encoded}\n`;
    } else {
      this.#writeLines();
      this.#stream.write(encoded);
      this.#stream.write("\n");
    }
  }

  #writeLines(): void {
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "" && !this.#isGone) this.#stream.write(lines);
  }

  /** Whether the reader is behind. If so, no new work should be accepted for it. */
  get isBehind(): boolean {
    return !this.#isGone && this.#stream.writableNeedDrain;
  }

  /** Calls back once the reader has caught up. */
  onCaughtUp(listener: () => void): void {
    this.#stream.once("drain", listener);
  }

  /** Resolves when everything has been written or the reader is gone. */
  async flushed(): Promise<void> {
    this.#writeLines();
    if (this.#isGone || this.#stream.writableLength === 0) return;
    await new Promise<void>((resolve) => this.#stream.write("", () => resolve()));
  }

  #give(error: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#onGone(error);
  }
}
