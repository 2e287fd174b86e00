interface LineListener {
  /** Receives a line without its end. The bytes may be part of a larger buffer. */
  onLine(bytes: Buffer): void;
  /** A line exceeded the limit and was dropped. */
  onTooLong?(): void;
}

const NEWLINE = 0x0a;

/** Splits input into lines. A line over the limit is dropped, and reading continues with the next one. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #listener: LineListener;
  #parts: Buffer[] = [];
  #size = 0;
  #isSkipping = false;

  constructor(listener: LineListener, { maxBytes = Number.POSITIVE_INFINITY }: { maxBytes?: number } = {}) {
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
    const isTooLong = this.#isSkipping;
    const bytes = length === 1 ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#isSkipping = false;
    if (isTooLong) this.#listener.onTooLong?.();
    else this.#listener.onLine(bytes as Buffer);
  }
}
