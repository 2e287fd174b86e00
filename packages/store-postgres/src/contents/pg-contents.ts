// Chunks and contents in PostgreSQL. Every read is verified: each chunk against its hash, complete content against its id.
import { createHash } from "node:crypto";
import { type ContentId, parseContentIdPrefix, TrunklineError } from "@trunkline/core";
import { type ContentType, type IncomingContent, openChunk, type PackedChunk } from "@trunkline/store/parts";
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

function bytesOf(hex: string): Buffer {
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
    read.set(content.id, requireIntact(content, Buffer.concat(parts.get(content.id) ?? [])));
  }
  for (const content of contents) if (!read.has(content.id)) read.set(content.id, await readContent(sql, content));
  return read;
}

/** Returns the bytes if they have the content's hash. */
export function requireIntact(content: ContentRow, bytes: Uint8Array): Uint8Array {
  if (Buffer.compare(createHash("sha256").update(bytes).digest(), content.hash) !== 0) throw damaged(content);
  return bytes;
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

/** Stores chunks, each once. Needs {@link holdOffGc}. */
export async function storeChunks(sql: Sql, packed: readonly PackedChunk[], data: ArrayBuffer): Promise<StoredChunks> {
  if (packed.length === 0) return { ids: new Map(), newBytes: 0 };
  const chunks = new Map(packed.map((chunk) => [chunk.hash, chunk]));
  for (const each of packed) if (each.length >= 0) chunks.set(each.hash, each);
  // The same order everywhere: two writers with the same chunks must not wait for each other.
  const sorted = [...chunks.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1));
  // The bytes of all chunks are one value, as they were sent: an array of bytes would become text.
  const rows = await sql.rows<{ id: number; hash: string; added: number }>(
    `WITH given AS (
       SELECT decode(h, 'hex') AS hash, size, codec, start, length
       FROM unnest($1::text[], $2::int[], $3::smallint[], $4::int[], $5::int[]) AS n(h, size, codec, start, length)),
     known AS (SELECT k.id, k.hash FROM given g JOIN chunks k ON k.hash = g.hash),
     added AS (
       INSERT INTO chunks (hash, size, codec, data)
       SELECT g.hash, g.size, g.codec, substring($6::bytea FROM g.start + 1 FOR g.length) FROM given g
       WHERE g.length >= 0 AND NOT EXISTS (SELECT 1 FROM known WHERE known.hash = g.hash) ORDER BY g.hash
       ON CONFLICT (hash) DO NOTHING RETURNING id, hash, size)
     SELECT id, encode(hash, 'hex') AS hash, 0 AS added FROM known
     UNION ALL SELECT id, encode(hash, 'hex'), size FROM added`,
    sorted.map(({ hash }) => hash),
    sorted.map(({ size }) => size),
    sorted.map(({ codec }) => codec),
    sorted.map(({ offset }) => offset),
    sorted.map(({ length }) => length),
    Buffer.from(data),
  );
  const ids = new Map(rows.map(({ id, hash }) => [hash, id]));
  // Another gateway was faster with these.
  const others = sorted.filter(({ hash, length }) => length >= 0 && !ids.has(hash)).map(({ hash }) => hash);
  for (const [hash, id] of await chunkIds(sql, others)) ids.set(hash, id);
  return { ids, newBytes: rows.reduce((sum, { added }) => sum + added, 0) };
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

async function contentIds(sql: Sql, hashes: readonly string[]): Promise<Map<string, number>> {
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
  const links = sorted.flatMap(({ content, chunks }) =>
    chunks.map((chunk, position) => ({ hash: content.hash, position, chunk })),
  );
  const inserted = await sql.rows<{ id: number; hash: string }>(
    `WITH added AS (
       INSERT INTO contents (hash, size, type, added)
       SELECT decode(h, 'hex'), s, t, $4 FROM unnest($1::text[], $2::bigint[], $3::text[]) AS n(h, s, t)
       ON CONFLICT (hash) DO NOTHING RETURNING id, encode(hash, 'hex') AS hash),
     linked AS (
       INSERT INTO content_chunks SELECT a.id, n.position, n.chunk
       FROM unnest($5::text[], $6::int[], $7::bigint[]) AS n(hash, position, chunk) JOIN added a ON a.hash = n.hash)
     SELECT id, hash FROM added`,
    sorted.map(({ content }) => content.hash),
    sorted.map(({ content }) => content.size),
    sorted.map(({ content }) => content.type),
    Date.now(),
    links.map(({ hash }) => hash),
    links.map(({ position }) => position),
    links.map(({ chunk }) => chunk),
  );
  for (const { id, hash } of inserted) ids.set(hash, id);
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
