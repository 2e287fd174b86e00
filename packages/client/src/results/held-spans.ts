// The spans that a thread holds. Their memory is freed with the last span that uses it, not by a garbage collection: the
// thread creates few objects of its own, so it rarely runs one, and would hold hundreds of megabytes until then.
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Span } from "@trunkline/core";

export class HeldSpans {
  readonly #spans = new Map<number, Span>();
  /** How many spans use each buffer. */
  readonly #uses = new Map<ArrayBufferLike, number>();
  #last = 0;

  /** Holds a span and returns its reference. */
  hold(span: Span): number {
    const { buffer } = span.bytes;
    this.#spans.set(++this.#last, span);
    this.#uses.set(buffer, (this.#uses.get(buffer) ?? 0) + 1);
    return this.#last;
  }

  get(reference: number): Span | undefined {
    return this.#spans.get(reference);
  }

  /** Whether any span uses this buffer. */
  use(buffer: ArrayBufferLike): boolean {
    return this.#uses.has(buffer);
  }

  /** Gives up a span. If no other one uses its bytes, they are gone. */
  release(reference: number): void {
    const buffer = this.#spans.get(reference)?.bytes.buffer;
    if (buffer === undefined) return;
    this.#spans.delete(reference);
    const uses = (this.#uses.get(buffer) ?? 1) - 1;
    if (uses > 0) this.#uses.set(buffer, uses);
    else {
      this.#uses.delete(buffer);
      free(buffer);
    }
  }
}

/** Smaller buffers can be part of a pool that Node uses for others, too. */
const LEAST_FREED_BYTES = 16 * 1024;

let closed: MessagePort | undefined;

/** Frees a buffer now: whatever is handed over to a closed port is dropped with its memory. */
function free(buffer: ArrayBufferLike): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength <= LEAST_FREED_BYTES) return;
  if (closed === undefined) {
    closed = new MessageChannel().port1;
    closed.close();
  }
  closed.postMessage(null, [buffer]);
}
