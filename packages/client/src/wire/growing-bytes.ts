const FIRST_BYTES = 64 * 1024;

/**
 * Bytes that arrive in pieces. Copies them into a buffer that doubles, so the time is linear and a million pieces of one
 * byte take no more memory than one piece of a million bytes.
 */
export class GrowingBytes {
  #buffer: Buffer | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(part: Uint8Array): void {
    const needed = this.#length + part.length;
    if (this.#buffer === undefined || needed > this.#buffer.length) {
      // Its own memory, not the shared pool: large buffers are handed to other threads.
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed, (this.#buffer?.length ?? 0) * 2));
      if (this.#buffer !== undefined) this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.set(part, this.#length);
    this.#length = needed;
  }

  /** The bytes so far, without copying them. */
  view(start = 0, end = this.#length): Buffer {
    return this.#buffer?.subarray(start, Math.min(end, this.#length)) ?? Buffer.alloc(0);
  }

  /** Returns the bytes and starts over. */
  take(): Buffer {
    const bytes = this.view();
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#buffer = undefined;
    this.#length = 0;
  }
}
