// Messages as lines of JSON, for a peer that may be slow or gone.
import type { Writable } from "node:stream";
import { encodeMessage, type OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/request-context.js";

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
