// The words of an entry as bytes, as threads send them and as they wait in `keyword_recent`. Adding a document only appends
// bytes; a gateway that searches or merges takes them apart. Pure.

/** The words of a piece of text, or of what belongs to it. Sections of the same piece are added up. */
export interface Section {
  readonly piece: number;
  /** Words in all columns. */
  readonly length: number;
  readonly counts: ReadonlyMap<string, number>;
}

class ByteWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #size = 0;

  number(value: number): void {
    if (this.#size + 8 > this.#bytes.length) this.#grow(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#size++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#size++] = rest;
  }

  text(text: string): void {
    const most = 3 * text.length;
    if (this.#size + most + 8 > this.#bytes.length) this.#grow(most + 8);
    // Almost all terms are short: their length takes one byte.
    const written = this.#bytes.write(text, this.#size + 1);
    if (written < 0x80) {
      this.#bytes[this.#size] = written;
      this.#size += written + 1;
    } else {
      this.number(written);
      this.#size += this.#bytes.write(text, this.#size);
    }
  }

  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#size);
  }

  #grow(least: number): void {
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#size + least));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }
}

class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const size = this.number();
    const start = this.#at;
    this.#at += size;
    return this.#bytes.toString("utf8", start, this.#at);
  }

  skipText(): void {
    const size = this.number();
    this.#at += size;
  }
}

export function encodeSections(sections: readonly Section[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { piece, length, counts } of sections) {
    writer.number(piece);
    writer.number(length);
    writer.number(counts.size);
    for (const [term, count] of counts) {
      writer.number(count);
      writer.text(term);
    }
  }
  return writer.finish();
}

/** Calls back for every term of every piece, with the sums of all sections of the piece. */
export function readWords(
  bytes: Uint8Array,
  take: (term: string, piece: number, weight: { count: number; length: number }) => void,
): void {
  const pieces = new Map<number, { length: number; counts: Map<string, number> }>();
  const reader = new ByteReader(bytes);
  while (!reader.isDone) {
    const piece = reader.number();
    const length = reader.number();
    const sums = pieces.get(piece) ?? { length: 0, counts: new Map<string, number>() };
    sums.length += length;
    for (let left = reader.number(); left > 0; left--) {
      const count = reader.number();
      const term = reader.text();
      sums.counts.set(term, (sums.counts.get(term) ?? 0) + count);
    }
    pieces.set(piece, sums);
  }
  for (const [piece, { length, counts }] of pieces) {
    for (const [term, count] of counts) take(term, piece, { count, length });
  }
}

/** Counts the pieces and the words of an entry, from its parts, without reading the terms. */
export function sizesOf(parts: readonly Uint8Array[]): { texts: number; length: number } {
  const pieces = new Set<number>();
  let words = 0;
  for (const bytes of parts) {
    const reader = new ByteReader(bytes);
    while (!reader.isDone) {
      pieces.add(reader.number());
      words += reader.number();
      for (let left = reader.number(); left > 0; left--) {
        reader.number();
        reader.skipText();
      }
    }
  }
  return { texts: pieces.size, length: words };
}
