// Messages as lines onto a stream whose reader may be slow or gone. What can be missed is left out once too much waits to be
// read; when even that does not help, the reader is given up: it costs its own connection and no memory.
import type { Writable } from "node:stream";
import type { OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/outlet.js";

/** What a slow reader may keep waiting. */
export interface WriterLimits {
  /** From here on progress and log messages are left out. */
  readonly droppableBytes: number;
  /** From here on the reader counts as gone. */
  readonly maxBytes: number;
}

const DROPPABLE: ReadonlySet<unknown> = new Set(["notifications/progress", "notifications/message"]);

/** Writes messages to one stream. */
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
