// Messages from the thread that reads a file to the thread that writes it. The bytes of a batch share one buffer, which
// is transferred instead of copied.
import type { PreparedContent } from "../content/prepare.js";
import type { ContentType, IndexText } from "../content/text.js";
import type { IncomingChunk } from "../sqlite/contents.js";
import type { FileFacts } from "../sqlite/documents.js";

/** A document to be stored. */
export interface IncomingDocument {
  readonly path: string;
  readonly root: string | undefined;
  readonly title: string | undefined;
  readonly file: FileFacts | undefined;
  readonly content: IncomingContent;
}

/** The content of a document, with its chunks or a reference to chunks that were uploaded in advance. */
export interface IncomingContent {
  readonly hash: string;
  readonly size: number;
  readonly type: ContentType;
  readonly chunks: readonly PackedChunk[];
  readonly upload: number | undefined;
  readonly text: IndexText | undefined;
}

/** A chunk whose bytes are in the batch's buffer; `length` is -1 if it was not sent. */
export interface PackedChunk {
  readonly hash: string;
  readonly size: number;
  readonly codec: number;
  readonly offset: number;
  readonly length: number;
}

/** Collects chunks into one buffer. */
export class ChunkPacker {
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  pack(chunk: IncomingChunk): PackedChunk {
    const { hash, size, codec, data } = chunk;
    const packed = { hash, size, codec, offset: this.#bytes, length: data?.length ?? -1 };
    if (data !== undefined) {
      this.#parts.push(data);
      this.#bytes += data.length;
    }
    return packed;
  }

  content(prepared: PreparedContent): IncomingContent {
    const { hash, size, type, text } = prepared;
    return { hash, size, type, text, upload: undefined, chunks: prepared.chunks.map((chunk) => this.pack(chunk)) };
  }

  /** Returns the buffer with everything packed so far. */
  finish(): ArrayBuffer {
    const buffer = new ArrayBuffer(this.#bytes);
    const bytes = new Uint8Array(buffer);
    let offset = 0;
    for (const part of this.#parts) {
      bytes.set(part, offset);
      offset += part.length;
    }
    return buffer;
  }
}

/** Returns the chunk with its bytes, in the form the writer stores. */
export function unpackChunk(chunk: PackedChunk, data: ArrayBuffer): IncomingChunk {
  const { hash, size, codec, offset, length } = chunk;
  return { hash, size, codec, data: length < 0 ? undefined : new Uint8Array(data, offset, length) };
}
