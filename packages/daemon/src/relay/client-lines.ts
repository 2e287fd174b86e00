// Splits what a client writes into lines.

const NEWLINE = 0x0a;
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Calls back with each line that is not empty, without its end. */
export class ClientLines {
  readonly #onLine: (line: Buffer) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Whether the current line was too long and has been passed on already; the rest of it is dropped. */
  #isTooLong = false;

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#isTooLong) this.#parts.push(chunk.subarray(start, end));
      this.flush();
      this.#isTooLong = false;
      start = end + 1;
    }
    if (start === chunk.length || this.#isTooLong) return;
    this.#parts.push(chunk.subarray(start));
    this.#bytes += chunk.length - start;
    if (this.#bytes <= MAX_LINE_BYTES) return;
    // The broker reports the beginning. The rest must not be read as messages of their own.
    this.flush();
    this.#isTooLong = true;
  }

  /** Ends a line that has no end. */
  flush(): void {
    const [first, ...others] = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    if (first === undefined) return;
    const line = others.length === 0 ? first : Buffer.concat([first, ...others]);
    if (line.length > 0) this.#onLine(line);
  }
}
