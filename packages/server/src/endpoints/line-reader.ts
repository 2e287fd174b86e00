// Lines of JSON off a stream. A line that grows beyond the limit is given up, and reading goes on with the next one.

/** What is done with lines. */
export interface LineListener {
  onLine(line: string): void;
  /** A line was longer than it may be; what there was of it is gone. */
  onTooLong(): void;
}

const NEWLINE = 0x0a;

/** Cuts what comes in into lines. */
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
