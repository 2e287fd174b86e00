// Chunks and contents in PostgreSQL. Every read is verified: each chunk against its hash, complete content against its id.
import { createHash } from "node:crypto";
import { type ContentId, parseContentIdPrefix, TrunklineError } from "@trunkline/core";
import {
  type ContentType,
  type IncomingContent,
  openChunk,
  type PackedChunk,
  unpackChunk,
} from "@trunkline/store/parts";
import { LOCKS, type Sql } from "../database/sql.js";

export interface ContentRow {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly size: number;
  readonly type: ContentType;
}

interface ChunkRow {
  readonly hash: Uint8Array;
  readonly size: number;
  readonly codec: number;
  readonly data: Uint8Array;
}

const CONTENT = "c.id, c.hash, c.size, c.type";

export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("hex");
}

export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}

export async function findContent(sql: Sql, hash: string): Promise<ContentRow | undefined> {
  return await sql.get<ContentRow>(`SELECT ${CONTENT} FROM seen_contents c WHERE c.hash = $1`, bytesOf(hash));
}

export async function contentById(sql: Sql, id: number): Promise<ContentRow> {
  return await sql.one<ContentRow>(`SELECT ${CONTENT} FROM contents c WHERE c.id = $1`, id);
}

/** Returns the ids that start with these digits, sorted; at most `limit`. */
export async function matchingIds(sql: Sql, prefix: string, limit = 100): Promise<ContentId[]> {
  const digits = parseContentIdPrefix(prefix);
  const rows = await sql.rows<{ hash: Uint8Array }>(
    "SELECT hash FROM seen_contents WHERE hash BETWEEN $1 AND $2 ORDER BY hash LIMIT $3",
    bytesOf(digits.padEnd(64, "0")),
    bytesOf(digits.padEnd(64, "f")),
    limit,
  );
  return rows.map((row) => hexOf(row.hash) as ContentId);
}

/** Finds the content with this full or abbreviated id. Throws `NOT_FOUND`, or `AMBIGUOUS` with the matches. */
export async function resolveContent(sql: Sql, prefix: string): Promise<ContentRow> {
  const matches = await matchingIds(sql, prefix);
  if (matches.length > 1) {
    throw new TrunklineError("AMBIGUOUS", `"${prefix}" matches ${matches.length} contents: ${matches.join(", ")}.`, {
      hint: "Use more digits of the hash.",
      data: { matches },
    });
  }
  const row = matches[0] === undefined ? undefined : await findContent(sql, matches[0]);
  if (row === undefined) throw new TrunklineError("NOT_FOUND", `The store has no content "${prefix}".`);
  return row;
}

/** Chunks are read in groups of this many, at most 64 KB each. */
const CHUNKS_AT_ONCE = 256;

/** Reads the bytes from `start` up to `end`, verified. The hash of the content is verified if all of it is read. */
export async function readContent(
  sql: Sql,
  content: ContentRow,
  range: { readonly start: number; readonly end: number } = { start: 0, end: content.size },
): Promise<Uint8Array> {
  const start = Math.max(0, Math.min(range.start, content.size));
  const end = Math.max(start, Math.min(range.end, content.size));
  const isWhole = start === 0 && end === content.size;
  const sizes = await sql.rows<{ position: number; size: number }>(
    `SELECT cc.position, k.size FROM content_chunks cc JOIN chunks k ON k.id = cc.chunk
     WHERE cc.content = $1 ORDER BY cc.position`,
    content.id,
  );
  // A content that lists its chunks again and again would fill the memory before its hash is known to be wrong.
  if (sizes.reduce((sum, { size }) => sum + size, 0) !== content.size) throw damaged(content);
  const wanted: { position: number; from: number; size: number }[] = [];
  let offset = 0;
  for (const { position, size } of sizes) {
    if (isWhole || (offset + size > start && offset < end)) wanted.push({ position, from: offset, size });
    offset += size;
  }
  const parts: Uint8Array[] = [];
  for (let at = 0; at < wanted.length; at += CHUNKS_AT_ONCE) {
    const group = wanted.slice(at, at + CHUNKS_AT_ONCE);
    const rows = await sql.rows<ChunkRow>(
      `SELECT k.hash, k.size, k.codec, k.data FROM content_chunks cc JOIN chunks k ON k.id = cc.chunk
       WHERE cc.content = $1 AND cc.position >= $2 AND cc.position <= $3 ORDER BY cc.position`,
      content.id,
      group[0]?.position,
      group.at(-1)?.position,
    );
    for (const [index, row] of rows.entries()) {
      const bytes = openChunk({ hash: hexOf(row.hash), size: row.size, codec: row.codec, data: row.data });
      const { from, size } = group[index] as (typeof group)[number];
      parts.push(isWhole ? bytes : bytes.subarray(Math.max(0, start - from), Math.min(size, end - from)));
    }
  }
  const only = parts.length === 1 ? parts[0] : undefined;
  const bytes = only ?? Buffer.concat(parts);
  if (bytes.length !== end - start) throw damaged(content);
  if (isWhole && Buffer.compare(createHash("sha256").update(bytes).digest(), content.hash) !== 0)
    throw damaged(content);
  return bytes;
}

const SHORT_BYTES = 256 * 1024;

/** Reads many contents, verified: short ones with one statement. By row id. */
export async function readContents(sql: Sql, contents: readonly ContentRow[]): Promise<Map<number, Uint8Array>> {
  const read = new Map<number, Uint8Array>();
  const short = contents.filter(({ size }) => size <= SHORT_BYTES);
  const rows = await sql.rows<ChunkRow & { content: number }>(
    `SELECT cc.content, k.hash, k.size, k.codec, k.data FROM content_chunks cc JOIN chunks k ON k.id = cc.chunk
     WHERE cc.content = ANY($1::bigint[]) ORDER BY cc.content, cc.position`,
    short.map(({ id }) => id),
  );
  const parts = new Map<number, Uint8Array[]>();
  for (const { content, ...row } of rows) {
    const own = parts.get(content) ?? [];
    own.push(openChunk({ ...row, hash: hexOf(row.hash) }));
    parts.set(content, own);
  }
  for (const content of short) {
    const bytes = Buffer.concat(parts.get(content.id) ?? []);
    if (Buffer.compare(createHash("sha256").update(bytes).digest(), content.hash) !== 0) throw damaged(content);
    read.set(content.id, bytes);
  }
  for (const content of contents) if (!read.has(content.id)) read.set(content.id, await readContent(sql, content));
  return read;
}

function damaged(content: ContentRow): TrunklineError {
  const hash = hexOf(content.hash);
  return new TrunklineError("IO", `Content ${hash} is damaged: its chunks do not match its hash.`, {
    hint: "Run trunkline store verify to see what else is affected, and add the file again.",
    data: { damaged: true, hash },
  });
}

/** Keeps gc away until the transaction ends: what it finds now, it can refer to. */
export async function holdOffGc(sql: Sql): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock_shared(${LOCKS.gc})`);
}

interface StoredChunks {
  /** Row ids, by hash. Those that were not sent and are not stored are missing. */
  readonly ids: ReadonlyMap<string, number>;
  readonly newBytes: number;
}

const ROWS_AT_ONCE = 200;

/** Stores chunks, each once. Needs {@link holdOffGc}. */
export async function storeChunks(sql: Sql, packed: readonly PackedChunk[], data: ArrayBuffer): Promise<StoredChunks> {
  const chunks = new Map(packed.map((chunk) => [chunk.hash, unpackChunk(chunk, data)]));
  // The same order everywhere: two writers with the same chunks must not wait for each other.
  for (const each of packed) if (each.length >= 0) chunks.set(each.hash, unpackChunk(each, data));
  const ids = await chunkIds(sql, [...chunks.keys()]);
  const unknown = [...chunks.values()]
    .filter((chunk) => !ids.has(chunk.hash) && chunk.data !== undefined)
    .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  let newBytes = 0;
  for (let at = 0; at < unknown.length; at += ROWS_AT_ONCE) {
    const group = unknown.slice(at, at + ROWS_AT_ONCE);
    const places = group.map(
      (_, n) => `($${4 * n + 1}::bytea, $${4 * n + 2}::int, $${4 * n + 3}::smallint, $${4 * n + 4}::bytea)`,
    );
    const rows = await sql.rows<{ id: number; hash: Uint8Array; size: number }>(
      `INSERT INTO chunks (hash, size, codec, data) VALUES ${places.join(", ")} ON CONFLICT (hash) DO NOTHING RETURNING id, hash, size`,
      ...group.flatMap(({ hash, size, codec, data: bytes }) => [bytesOf(hash), size, codec, bytes]),
    );
    for (const { id, hash, size } of rows) {
      ids.set(hexOf(hash), id);
      newBytes += size;
    }
  }
  // Another gateway was faster with these.
  const others = unknown.map(({ hash }) => hash).filter((hash) => !ids.has(hash));
  for (const [hash, id] of await chunkIds(sql, others)) ids.set(hash, id);
  return { ids, newBytes };
}

async function chunkIds(sql: Sql, hashes: readonly string[]): Promise<Map<string, number>> {
  if (hashes.length === 0) return new Map();
  const rows = await sql.rows<{ id: number; hash: string }>(
    `SELECT k.id, encode(k.hash, 'hex') AS hash FROM unnest($1::text[]) AS h JOIN chunks k ON k.hash = decode(h, 'hex')`,
    hashes,
  );
  return new Map(rows.map(({ id, hash }) => [hash, id]));
}

/** Stores contents and returns their row ids by hash; those with a missing chunk are left out. Needs {@link holdOffGc}. */
export async function storeContents(
  sql: Sql,
  contents: readonly IncomingContent[],
  data: ArrayBuffer,
): Promise<{ ids: Map<string, number>; newBytes: number }> {
  const ids = await contentIds(
    sql,
    contents.map(({ hash }) => hash),
  );
  const unknown = [
    ...new Map(contents.filter(({ hash }) => !ids.has(hash)).map((content) => [content.hash, content])).values(),
  ];
  const sent = unknown.filter(({ upload }) => upload === undefined);
  const chunks = await storeChunks(
    sql,
    sent.flatMap((content) => content.chunks),
    data,
  );
  const complete = sent.flatMap((content) => {
    const own = content.chunks.map(({ hash }) => chunks.ids.get(hash));
    const size = content.chunks.reduce((sum, chunk) => sum + chunk.size, 0);
    // The sender assumed that the content, or a chunk of it, was stored.
    return size !== content.size || own.includes(undefined) ? [] : [{ content, chunks: own as number[] }];
  });
  await insertContents(sql, complete, ids);
  for (const content of contents) {
    if (content.upload === undefined) continue;
    if (!ids.has(content.hash)) await storeUploaded(sql, content, ids);
    await sql.run("DELETE FROM uploads WHERE id = $1", content.upload);
  }
  return { ids, newBytes: chunks.newBytes };
}

export async function contentIds(sql: Sql, hashes: readonly string[]): Promise<Map<string, number>> {
  if (hashes.length === 0) return new Map();
  const rows = await sql.rows<{ id: number; hash: string }>(
    `SELECT c.id, encode(c.hash, 'hex') AS hash FROM unnest($1::text[]) AS h JOIN contents c ON c.hash = decode(h, 'hex')`,
    [...new Set(hashes)],
  );
  return new Map(rows.map(({ id, hash }) => [hash, id]));
}

async function insertContents(
  sql: Sql,
  complete: readonly { content: Pick<IncomingContent, "hash" | "size" | "type">; chunks: readonly number[] }[],
  ids: Map<string, number>,
): Promise<void> {
  if (complete.length === 0) return;
  const sorted = [...complete].sort((a, b) => (a.content.hash < b.content.hash ? -1 : 1));
  const inserted = await sql.rows<{ id: number; hash: string }>(
    `INSERT INTO contents (hash, size, type, added)
     SELECT decode(h, 'hex'), s, t, $4 FROM unnest($1::text[], $2::bigint[], $3::text[]) AS n(h, s, t)
     ON CONFLICT (hash) DO NOTHING RETURNING id, encode(hash, 'hex') AS hash`,
    sorted.map(({ content }) => content.hash),
    sorted.map(({ content }) => content.size),
    sorted.map(({ content }) => content.type),
    Date.now(),
  );
  const fresh = new Map(inserted.map(({ id, hash }) => [hash, id]));
  const links = sorted.flatMap(({ content, chunks }) => {
    const id = fresh.get(content.hash);
    return id === undefined ? [] : chunks.map((chunk, position) => ({ id, position, chunk }));
  });
  await sql.run(
    "INSERT INTO content_chunks SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[])",
    links.map(({ id }) => id),
    links.map(({ position }) => position),
    links.map(({ chunk }) => chunk),
  );
  for (const [hash, id] of fresh) ids.set(hash, id);
  const others = sorted.map(({ content }) => content.hash).filter((hash) => !ids.has(hash));
  for (const [hash, id] of await contentIds(sql, others)) ids.set(hash, id);
}

async function storeUploaded(sql: Sql, content: IncomingContent, ids: Map<string, number>): Promise<void> {
  const chunks = await sql.rows<{ chunk: number; size: number }>(
    "SELECT u.chunk, k.size FROM upload_chunks u JOIN chunks k ON k.id = u.chunk WHERE u.upload = $1 ORDER BY u.position",
    content.upload,
  );
  if (chunks.reduce((sum, chunk) => sum + chunk.size, 0) !== content.size) {
    throw new TrunklineError("IO", "The upload is incomplete: some of its chunks are gone.", { retryable: true });
  }
  await insertContents(sql, [{ content, chunks: chunks.map((row) => row.chunk) }], ids);
}
