// Turns bytes into their stored form: content id, chunks, compression, text. No I/O; runs in any thread.
import { hash as hashOf } from "node:crypto";
// The wasm build has one instance per thread. The native build shares state between threads: using it from two threads
// at once caused failures and crashes.
import { compress, decompress } from "@cloudpss/zstd/wasm";
import { TrunklineError } from "@trunkline/core";
import { cutPoint, MAX_CHUNK_BYTES } from "./chunker.js";
import { type ContentType, contentTypeOf, type IndexText, indexTextOf } from "./text.js";
import { expandedSize } from "./zstd-frame.js";

/** How a chunk is stored: uncompressed or as a zstd frame. The numbers are part of the format. */
const CODEC = { raw: 0, zstd: 1 } as const;

const ZSTD_LEVEL = 3;
const MIN_COMPRESSED_BYTES = 64;

/** A chunk ready to be stored. `data` is missing if the store seems to have it already. */
interface PreparedChunk {
  readonly hash: string;
  readonly size: number;
  readonly codec: number;
  readonly data: Uint8Array | undefined;
}

export interface PreparedContent {
  readonly hash: string;
  readonly size: number;
  readonly type: ContentType;
  readonly chunks: readonly PreparedChunk[];
  readonly text: IndexText | undefined;
}

/** Whether a chunk is already stored and does not need to be compressed and sent again. */
export type IsStored = (hash: string) => boolean;

/** Returns the SHA-256 in hex digits. */
export function sha256(bytes: Uint8Array): string {
  return hashOf("sha256", bytes, "hex");
}

/** Prepares in-memory content. */
export function prepareContent(bytes: Uint8Array, isStored: IsStored, hash = sha256(bytes)): PreparedContent {
  const type = contentTypeOf(bytes);
  const chunks: PreparedChunk[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = cutPoint(bytes, start, bytes.length);
    const whole = start === 0 && end === bytes.length;
    chunks.push(prepareChunk(whole ? bytes : bytes.subarray(start, end), isStored, whole ? hash : undefined));
    start = end;
  }
  return { hash, size: bytes.length, type, chunks, text: type === "text" ? indexTextOf(bytes) : undefined };
}

/** Prepares one chunk. Pass `hash` if it is already known. */
export function prepareChunk(bytes: Uint8Array, isStored: IsStored, hash = sha256(bytes)): PreparedChunk {
  if (isStored(hash)) return { hash, size: bytes.length, codec: CODEC.raw, data: undefined };
  if (bytes.length >= MIN_COMPRESSED_BYTES) {
    const compressed = compress(bytes, ZSTD_LEVEL);
    if (compressed.length < bytes.length * 0.95) {
      return { hash, size: bytes.length, codec: CODEC.zstd, data: compressed };
    }
  }
  return { hash, size: bytes.length, codec: CODEC.raw, data: bytes };
}

/** Returns the bytes of a stored chunk, verified against size and hash. Throws `IO` with `data.chunk` on a mismatch. */
export function openChunk(stored: { hash: string; size: number; codec: number; data: Uint8Array }): Uint8Array {
  const bytes = decodeChunk(stored);
  if (bytes === undefined || bytes.length !== stored.size || sha256(bytes) !== stored.hash) {
    throw new TrunklineError("IO", `Chunk ${stored.hash} is damaged: its bytes do not match its hash.`, {
      hint: "Run trunkline store verify to see what else is affected, and add the files again.",
      data: { damaged: true, chunk: stored.hash },
    });
  }
  return bytes;
}

function decodeChunk({ codec, data, size }: { codec: number; data: Uint8Array; size: number }): Uint8Array | undefined {
  if (codec === CODEC.raw) return data;
  // A frame could request any amount of memory; no chunk exceeds the maximum.
  if (codec !== CODEC.zstd || size > MAX_CHUNK_BYTES || expandedSize(data) !== size) return undefined;
  try {
    return decompress(data);
  } catch {
    // The library throws plain errors for every kind of damage; the caller reports the chunk.
    return undefined;
  }
}
