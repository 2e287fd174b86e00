// Chunks and contents in the content database. Every read is verified: each chunk against its hash, complete content
// against its id.
import { createHash, type Hash } from "node:crypto";
import { type ContentId, parseContentIdPrefix, TrunklineError } from "@trunkline/core";
import { openChunk } from "../content/prepare.js";
import type { ContentType } from "../content/text.js";
import type { Db } from "./database.js";

/** A row of `contents`. */
export interface ContentRow {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly size: number;
  readonly type: ContentType;
}

/** A chunk to store. Without `data` it must already exist. */
export interface IncomingChunk {
  readonly hash: string;
  readonly size: number;
  readonly codec: number;
  readonly data: Uint8Array | undefined;
}

interface ChunkRow {
  readonly hash: Uint8Array;
  readonly size: number;
  readonly codec: number;
  readonly data: Uint8Array;
}

export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("hex");
}

export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}

export function hasChunk(db: Db, hash: string): boolean {
  return db.get("SELECT 1 FROM chunks WHERE hash = ?", bytesOf(hash)) !== undefined;
}

export function findContent(db: Db, hash: string): ContentRow | undefined {
  return db.get<ContentRow>("SELECT id, hash, size, type FROM contents WHERE hash = ?", bytesOf(hash));
}

/** Returns the row id of a chunk, storing it if necessary. `undefined` if it is not stored and has no data. */
export function storeChunk(db: Db, chunk: IncomingChunk): { id: number; isNew: boolean } | undefined {
  const hash = bytesOf(chunk.hash);
  const known = db.get<{ id: number }>("SELECT id FROM chunks WHERE hash = ?", hash);
  if (known !== undefined) return { id: known.id, isNew: false };
  if (chunk.data === undefined) return undefined;
  const insert = "INSERT INTO chunks (hash, size, codec, data) VALUES (?, ?, ?, ?)";
  return { id: db.run(insert, hash, chunk.size, chunk.codec, chunk.data).id, isNew: true };
}

/** Adds a content whose chunks are already stored. */
export function insertContent(
  db: Db,
  content: { hash: string; size: number; type: ContentType },
  chunkIds: readonly number[],
): number {
  const { id } = db.run(
    "INSERT INTO contents (hash, size, type, added) VALUES (?, ?, ?, ?)",
    bytesOf(content.hash),
    content.size,
    content.type,
    Date.now(),
  );
  for (let position = 0; position < chunkIds.length; position++) {
    db.run("INSERT INTO content_chunks VALUES (?, ?, ?)", id, position, chunkIds[position] as number);
  }
  return id;
}

/** Returns the ids that start with these digits, sorted; at most `limit`. */
export function matchingIds(db: Db, prefix: string, limit = 100): ContentId[] {
  const digits = parseContentIdPrefix(prefix);
  const from = bytesOf(digits.padEnd(64, "0"));
  const to = bytesOf(digits.padEnd(64, "f"));
  const rows = db.all<{ hash: Uint8Array }>(
    "SELECT hash FROM contents WHERE hash BETWEEN ? AND ? ORDER BY hash LIMIT ?",
    from,
    to,
    limit,
  );
  return rows.map((row) => hexOf(row.hash) as ContentId);
}

/** Finds the content with this full or abbreviated id. Throws `NOT_FOUND`, or `AMBIGUOUS` with the matches. */
export function resolveContent(db: Db, prefix: string): ContentRow {
  const matches = matchingIds(db, prefix);
  if (matches.length > 1) {
    throw new TrunklineError("AMBIGUOUS", `"${prefix}" matches ${matches.length} contents: ${matches.join(", ")}.`, {
      hint: "Use more digits of the hash.",
      data: { matches },
    });
  }
  const row = matches[0] === undefined ? undefined : findContent(db, matches[0]);
  if (row === undefined) throw new TrunklineError("NOT_FOUND", `The store has no content "${prefix}".`);
  return row;
}

const SHORT_BYTES = 1 << 20;
/** More chunks than a short content has, since chunks have at least 4 KiB. */
const SHORT_CHUNKS = 300;
const CHUNKS_OF_CONTENT = `SELECT k.hash, k.size, k.codec, k.data FROM content_chunks cc JOIN chunks k ON k.id = cc.chunk
  WHERE cc.content = ? ORDER BY cc.position`;

/**
 * Yields the chunks of a content in order, each verified. The full hash is only verified at the end, so a reader must
 * not trust early parts alone.
 */
export function* readChunks(db: Db, content: ContentRow, check: () => void = () => {}): Generator<Uint8Array> {
  // Most contents are a single chunk and need no hash of their own.
  let hash: Hash | undefined;
  let size = 0;
  let single = false;
  // Read row by row only if reading all rows at once would be expensive: preparing a statement takes longer than
  // reading a short content.
  const isShort = content.size <= SHORT_BYTES;
  const few = isShort ? db.all<ChunkRow>(`${CHUNKS_OF_CONTENT} LIMIT ${SHORT_CHUNKS}`, content.id) : [];
  const isComplete = isShort && few.length < SHORT_CHUNKS;
  const rows = isComplete ? few : db.iterate<ChunkRow>(CHUNKS_OF_CONTENT, content.id);
  for (const row of rows) {
    check();
    // A content that lists its chunks again and again would fill the memory before its hash is known to be wrong.
    if (size + row.size > content.size) throw damaged(content);
    const bytes = openChunk({ hash: hexOf(row.hash), size: row.size, codec: row.codec, data: row.data });
    // A chunk that is the whole content was just verified against the same hash.
    single = size === 0 && bytes.length === content.size && Buffer.compare(row.hash, content.hash) === 0;
    if (!single) hash = (hash ?? createHash("sha256")).update(bytes);
    size += bytes.length;
    yield bytes;
  }
  const digest = single ? content.hash : (hash ?? createHash("sha256")).digest();
  if (size !== content.size || Buffer.compare(digest, content.hash) !== 0) throw damaged(content);
}

export function readContent(db: Db, content: ContentRow, check: () => void = () => {}): Uint8Array {
  const parts = [...readChunks(db, content, check)];
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts, content.size);
}

/**
 * Reads the bytes from `start` up to `end`. Only the chunks that contain them are read and verified; the hash of the
 * content is verified if all of it is requested.
 */
export function readRange(db: Db, content: ContentRow, range: { start: number; end: number }): Uint8Array {
  const start = Math.max(0, Math.min(range.start, content.size));
  const end = Math.max(start, Math.min(range.end, content.size));
  if (start === 0 && end === content.size) return readContent(db, content);
  const parts: Uint8Array[] = [];
  let offset = 0;
  const sizes = db.all<{ id: number; size: number }>(
    "SELECT k.id, k.size FROM content_chunks cc JOIN chunks k ON k.id = cc.chunk WHERE cc.content = ? ORDER BY cc.position",
    content.id,
  );
  for (const { id, size } of sizes) {
    const from = offset;
    offset += size;
    if (offset <= start) continue;
    if (from >= end) break;
    const row = db.one<ChunkRow>("SELECT hash, size, codec, data FROM chunks WHERE id = ?", id);
    const bytes = openChunk({ hash: hexOf(row.hash), size: row.size, codec: row.codec, data: row.data });
    parts.push(bytes.subarray(Math.max(0, start - from), Math.min(size, end - from)));
  }
  const part = Buffer.concat(parts);
  if (part.length !== end - start) throw damaged(content);
  return part;
}

function damaged(content: ContentRow): TrunklineError {
  const hash = hexOf(content.hash);
  return new TrunklineError("IO", `Content ${hash} is damaged: its chunks do not match its hash.`, {
    hint: "Run trunkline store verify to see what else is affected, and add the file again.",
    data: { damaged: true, hash },
  });
}
