// What receives the body of a response: all of it up to a limit, or nothing. Compressed bodies are decompressed on the
// way, so every limit counts decompressed bytes.
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { GrowingBytes } from "./growing-bytes.js";

export interface BodyReader {
  /** Receives a piece. If it returns a promise, the next piece comes after that has resolved. */
  onData(piece: Buffer): Promise<void> | undefined;
  /** The body is complete. */
  onEnd(): void;
}

interface CollectListener {
  onBody(bytes: Buffer): void;
  /** The body exceeds the limit. Has what has been received before; more pieces are ignored. */
  onTooLarge(start: Buffer): void;
}

/** Collects a body up to a limit. */
export class CollectedBody implements BodyReader {
  readonly #maxBytes: number;
  readonly #listener: CollectListener;
  #first: Buffer | undefined;
  #bytes: GrowingBytes | undefined;
  #isTooLarge = false;

  constructor(maxBytes: number, listener: CollectListener) {
    this.#maxBytes = maxBytes;
    this.#listener = listener;
  }

  onData(piece: Buffer): undefined {
    if (this.#isTooLarge) return;
    const length = this.#bytes?.length ?? this.#first?.length ?? 0;
    if (length + piece.length > this.#maxBytes) {
      this.#isTooLarge = true;
      this.#listener.onTooLarge(this.#taken());
      return;
    }
    // Most bodies arrive in one piece.
    if (this.#bytes === undefined && this.#first === undefined) {
      this.#first = piece;
      return;
    }
    if (this.#bytes === undefined) {
      this.#bytes = new GrowingBytes();
      if (this.#first !== undefined) this.#bytes.add(this.#first);
    }
    this.#bytes.add(piece);
  }

  onEnd(): void {
    if (!this.#isTooLarge) this.#listener.onBody(this.#taken());
  }

  #taken(): Buffer {
    return this.#bytes?.take() ?? this.#first ?? Buffer.alloc(0);
  }
}

/** Ignores a body. */
export const IGNORED_BODY: BodyReader = { onData: () => undefined, onEnd: () => {} };

/** Decompresses a body on its way to another reader. */
export class DecompressedBody implements BodyReader {
  readonly #decoder: Transform;

  constructor(decoder: Transform, reader: BodyReader, onError: (error: Error) => void) {
    this.#decoder = decoder;
    decoder.on("data", (piece: Buffer) => {
      const taken = reader.onData(piece);
      if (taken === undefined) return;
      decoder.pause();
      void taken.then(() => decoder.resume());
    });
    decoder.on("end", () => reader.onEnd());
    decoder.on("error", onError);
  }

  async onData(piece: Buffer): Promise<void> {
    // The callback comes when all of the piece has been passed on, or when the decoder is destroyed.
    await new Promise<void>((resolve) => this.#decoder.write(piece, () => resolve()));
  }

  onEnd(): void {
    this.#decoder.end();
  }

  /** Stops in the middle of a body. */
  destroy(): void {
    this.#decoder.destroy();
  }
}

/** The encodings that we accept. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/** Returns the decoder for an encoding; undefined if we have none. */
export function decoderFor(encoding: string): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
