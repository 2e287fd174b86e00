// Reads files that may be changing. Stores one consistent state of a file, or nothing.

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { beginsPrivateKey, isTrunklineError, TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import { cutPoint, MAX_CHUNK_BYTES } from "../engine/content/chunker.js";
import {
  type IsStored,
  type PreparedContent,
  prepareChunk,
  prepareContent,
  sha256,
} from "../engine/content/prepare.js";
import { contentTypeOf } from "../engine/content/text.js";
import type { FileFacts } from "../engine/sqlite/documents.js";
import { ChunkPacker, type IncomingContent, type PackedChunk } from "../engine/writing/incoming.js";
import type { DocumentTarget } from "./document-target.js";

/** Files up to this size are read at once and stored in one transaction with others. */
export const WHOLE_FILE_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 4;
const STREAM_BYTES = 4 * 1024 * 1024;

/** A file that is open for a single read. */
interface OpenFile {
  readonly fd: number;
  readonly before: Stats;
}

/** Returns the facts that show whether a file has changed. */
export function factsOf(stats: Stats, checkedUs: number): FileFacts {
  return {
    mode: stats.mode & 0o7777,
    mtimeUs: Math.round(stats.mtimeMs * 1000),
    inode: stats.ino,
    birthMs: stats.birthtimeMs,
    checkedUs,
  };
}

/** Returns microseconds since 1970. */
function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}

interface SmallFileOptions {
  readonly isStored: IsStored;
  /** The file's previous hash: if it is unchanged, nothing is prepared. */
  readonly known: string | undefined;
  readonly followLinks?: boolean;
  /** Throws if the file is a private key. See {@link isPrivateKeyError}. */
  readonly refuseKeys?: boolean;
}

/** Reads a small file. */
export function readSmallFile(
  path: string,
  { isStored, known, followLinks = true, refuseKeys = false }: SmallFileOptions,
): { file: FileFacts; size: number; prepared: PreparedContent | undefined; hash: string } {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const checkedUs = nowUs();
    const result = withFile(path, followLinks, ({ fd, before }) => {
      const bytes = readWhole(fd, before.size);
      return same(before, fstatSync(fd)) && bytes.length === before.size ? { bytes, before } : undefined;
    });
    if (result === undefined) continue;
    if (refuseKeys && beginsPrivateKey(result.bytes)) throw privateKey(path);
    const hash = sha256(result.bytes);
    const prepared = hash === known ? undefined : prepareContent(result.bytes, isStored, hash);
    return { file: factsOf(result.before, checkedUs), size: result.bytes.length, prepared, hash };
  }
  throw changedWhileRead(path);
}

interface UploadOptions {
  readonly isStored: IsStored;
  readonly call: Call;
  /** Whether the path may be a link. Default true. */
  readonly followLinks?: boolean;
}

/** Reads a large file in parts and uploads its chunks in advance. */
export async function uploadLargeFile(
  env: Pick<DocumentTarget, "writer">,
  path: string,
  options: UploadOptions,
): Promise<{ file: FileFacts; content: IncomingContent; newBytes: number }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const checkedUs = nowUs();
    const fd = openToRead(path, options.followLinks ?? true);
    try {
      const before = fstatSync(fd);
      const onBytes = (bytes: number) => options.call.progress({ progress: bytes, total: before.size, message: path });
      const uploaded = await uploadStream(env, fileParts(fd, before.size + 1), { ...options, onBytes });
      if (same(before, fstatSync(fd)) && uploaded.content.size === before.size) {
        return { file: factsOf(before, checkedUs), ...uploaded };
      }
    } finally {
      closeSync(fd);
    }
  }
  throw changedWhileRead(path);
}

/** Reads at most `limit` bytes, so reading ends even if the file grows just as fast. */
function* fileParts(fd: number, limit: number): Generator<Uint8Array> {
  for (let left = limit; left > 0; ) {
    const buffer = Buffer.allocUnsafe(Math.min(STREAM_BYTES, left));
    const count = readSync(fd, buffer, 0, buffer.length, null);
    if (count === 0) return;
    left -= count;
    yield buffer.subarray(0, count);
  }
}

/** Splits a byte stream into chunks and sends them under one upload. */
async function uploadStream(
  env: Pick<DocumentTarget, "writer">,
  parts: Iterable<Uint8Array>,
  { isStored, call, onBytes }: UploadOptions & { onBytes: (bytes: number) => void },
): Promise<{ content: IncomingContent; newBytes: number }> {
  const { check, signal } = call;
  const hash = createHash("sha256");
  let pending: Uint8Array = new Uint8Array(0);
  let type: "text" | "binary" | undefined;
  let upload: number | undefined;
  let position = 0;
  let size = 0;
  let newBytes = 0;
  const send = async (bytes: Uint8Array, final: boolean): Promise<number> => {
    const ends: number[] = [];
    let start = 0;
    while (start < bytes.length && (final || bytes.length - start >= MAX_CHUNK_BYTES)) {
      check();
      const end = cutPoint(bytes, start, bytes.length);
      ends.push(end);
      start = end;
    }
    const pack = (stored: IsStored) => {
      const packer = new ChunkPacker();
      const chunks: PackedChunk[] = ends.map((end, index) =>
        packer.pack(prepareChunk(bytes.subarray(ends[index - 1] ?? 0, end), stored)),
      );
      return { chunks, data: packer.finish() };
    };
    if (ends.length === 0) return 0;
    for (const stored of [isStored, () => false]) {
      const { chunks, data } = pack(stored);
      const answer = await env.writer.appendUpload({ upload, position, chunks, data }, { signal, transfer: [data] });
      upload = answer.upload;
      newBytes += answer.newBytes;
      // gc may have removed chunks that existed a moment ago; in that case, send them all.
      if (answer.missing.length === 0) break;
    }
    position += ends.length;
    return start;
  };
  for (const part of parts) {
    check();
    type ??= contentTypeOf(part);
    hash.update(part);
    size += part.length;
    const bytes = pending.length === 0 ? part : Buffer.concat([pending, part]);
    const used = await send(bytes, false);
    pending = bytes.subarray(used);
    onBytes(size);
  }
  await send(pending, true);
  return {
    content: { hash: hash.digest("hex"), size, type: type ?? "text", chunks: [], upload, text: undefined },
    newBytes,
  };
}

function openToRead(path: string, followLinks: boolean): number {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  // Non-blocking, so a pipe that replaces the file cannot block the thread.
  return openSync(path, O_RDONLY | O_NONBLOCK | (followLinks ? 0 : O_NOFOLLOW));
}

function withFile<T>(path: string, followLinks: boolean, work: (file: OpenFile) => T): T {
  const fd = openToRead(path, followLinks);
  try {
    const before = fstatSync(fd);
    if (!before.isFile()) throw new TrunklineError("INVALID_ARGUMENT", `${path} is not a regular file.`);
    return work({ fd, before });
  } finally {
    closeSync(fd);
  }
}

function readWhole(fd: number, size: number): Uint8Array {
  // One byte more than expected, to detect a file that claims to be empty, as those in /proc do.
  const buffer = Buffer.allocUnsafeSlow(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
    // The caller compares the size again, so a file that has grown meanwhile is noticed.
    if (length === size) break;
  }
  return buffer.subarray(0, length);
}

function same(before: Stats, after: Stats): boolean {
  return before.size === after.size && before.mtimeMs === after.mtimeMs && before.ino === after.ino;
}

/** Whether a file was refused because it is a private key. */
export function isPrivateKeyError(error: unknown): boolean {
  return isTrunklineError(error, "DENIED") && error.data?.privateKey === true;
}

function privateKey(path: string): TrunklineError {
  return new TrunklineError("DENIED", `${path} is a private key.`, {
    hint: "Add it by naming the file itself.",
    data: { privateKey: true },
  });
}

function changedWhileRead(path: string): TrunklineError {
  return new TrunklineError("IO", `${path} kept changing while it was read.`, {
    hint: "Add it again when it stops changing.",
    retryable: true,
  });
}
