// Reads a tar archive as a stream: enough of the format for npm's tarballs.
import { TrunklineError } from "@trunkline/core";

/** A regular file in an archive. */
export interface TarEntry {
  readonly path: string;
  readonly sizeBytes: number;
  /** The bytes, readable once. Unread bytes are skipped when the next entry is requested. */
  readonly body: AsyncIterable<Buffer>;
}

const BLOCK = 512;
/** Long names and attributes are small; anything larger is not an npm archive. */
const MAX_ATTRIBUTES_BYTES = 1024 * 1024;

/** Yields the regular files of an archive, in order. Throws `PROTOCOL` if it is damaged or truncated. */
export async function* tarEntries(archive: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  await using source = new ByteSource(archive);
  let longPath: string | undefined;
  for (;;) {
    const header = await source.read(BLOCK);
    // Two blocks of zeros end an archive; the first one is enough.
    if (header.every((byte) => byte === 0)) return;
    checkHeader(header);
    const sizeBytes = octal(header, 124, 12);
    const padding = (BLOCK - (sizeBytes % BLOCK)) % BLOCK;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "x" || type === "L") {
      if (sizeBytes > MAX_ATTRIBUTES_BYTES) throw damaged("an entry's attributes are too large");
      const attributes = (await source.read(sizeBytes)).toString("utf8");
      await source.skip(padding);
      longPath = type === "L" ? attributes.replace(/\0.*$/s, "") : (paxPath(attributes) ?? longPath);
      continue;
    }
    const body = source.take(sizeBytes);
    if (type === "0" || type === "\0") yield { path: longPath ?? pathOf(header), sizeBytes, body };
    for await (const _ of body) {
      // Skip the unread rest.
    }
    await source.skip(padding);
    longPath = undefined;
  }
}

/** Reads a stream of buffers by byte count. */
class ByteSource implements AsyncDisposable {
  readonly #iterator: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  /** Releases the stream when the reader is done. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#iterator.return?.();
  }

  /** Reads the next bytes, at least one and at most `limit`. */
  async #next(limit: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#iterator.next();
      if (done) throw damaged("it ends too early");
      this.#rest = value;
    }
    const taken = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  async read(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.take(count)) parts.push(part);
    return Buffer.concat(parts);
  }

  async skip(count: number): Promise<void> {
    await this.read(count);
  }

  /** Streams the next `count` bytes. Reading can be interrupted and resumed. */
  take(count: number): AsyncIterable<Buffer> {
    let left = count;
    const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
      if (left === 0) return { done: true, value: undefined };
      const value = await this.#next(left);
      left -= value.length;
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }
}

function checkHeader(header: Buffer): void {
  const stated = octal(header, 148, 8);
  // The checksum counts its own field as spaces.
  let sum = 8 * 0x20;
  for (const [index, byte] of header.entries()) if (index < 148 || index >= 156) sum += byte;
  if (sum !== stated) throw damaged("the checksum of an entry is wrong");
}

function octal(header: Buffer, from: number, length: number): number {
  const digits = text(header, from, length).trim();
  if (/^[0-7]+$/.test(digits)) return Number.parseInt(digits, 8);
  throw damaged("a number in an entry is invalid");
}

function text(header: Buffer, from: number, length: number): string {
  return header
    .subarray(from, from + length)
    .toString("utf8")
    .replace(/\0.*$/s, "");
}

function pathOf(header: Buffer): string {
  const prefix = text(header, 257, 5) === "ustar" ? text(header, 345, 155) : "";
  const name = text(header, 0, 100);
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Each attribute line consists of its length, a key and a value. */
function paxPath(attributes: string): string | undefined {
  return /^\d+ path=(.*)$/m.exec(attributes)?.[1];
}

function damaged(reason: string): TrunklineError {
  return new TrunklineError("PROTOCOL", `The archive is damaged: ${reason}.`);
}
