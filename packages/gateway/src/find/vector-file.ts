// The file that keeps vectors between runs: a header, then records of a text's hash and its vector. Only a cache: a file
// that is damaged or not ours counts as empty, and a vector that cannot be right is computed again.
import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Logger, systemCodeOf, writeFileAtomically } from "@trunkline/core";

/** Vectors by the hash of their text. */
export type KeptVectors = Map<string, Float32Array>;

const HASH_BYTES = 32;
const HEADER_BYTES = 32;
const MAGIC = "trunkline vectors 1";
const LARGEST_FILE_BYTES = 1 << 28;
const MOST_DIMENSIONS = 1 << 14;
/** How far from 1 the length of a vector may be. */
const LENGTH_TOLERANCE = 0.01;
/** How many vectors are kept beyond the current ones, for other projects: about 12 MB. */
const MOST_KEPT = 8192;

/** The name of a model's file. */
export function vectorFileName(model: string): string {
  return `vectors-${model.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80)}.bin`;
}

/** The name of the file that was written last, which usually is that of the current model. */
export async function newestVectorFile(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names
      .filter((name) => /^vectors-[A-Za-z0-9_-]+\.bin$/.test(name))
      .map(async (name) => ({ name, atMs: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  return files.sort((a, b) => b.atMs - a.atMs)[0]?.name;
}

/** Reads a file; empty if there is none or it is not ours. Never rejects. */
export async function readVectors(path: string, logger: Logger): Promise<KeptVectors> {
  const vectors: KeptVectors = new Map();
  const bytes = await bytesOf(path, logger);
  if (bytes === undefined || bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC)
    return vectors;
  const dimensions = bytes.readUInt32LE(HEADER_BYTES - 4);
  const record = HASH_BYTES + dimensions * 4;
  if (dimensions === 0 || dimensions > MOST_DIMENSIONS || (bytes.length - HEADER_BYTES) % record !== 0) return vectors;
  for (let at = HEADER_BYTES; at < bytes.length; at += record) {
    const vector = new Float32Array(bytes.buffer, bytes.byteOffset + at + HASH_BYTES, dimensions);
    if (isUnitLength(vector)) vectors.set(bytes.toString("hex", at, at + HASH_BYTES), vector);
  }
  return vectors;
}

/** Writes the wanted vectors, then others as far as there is room. Vectors of other dimensions are left out. */
export async function writeVectors(
  path: string,
  { wanted, vectors, dimensions }: { wanted: ReadonlySet<string>; vectors: KeptVectors; dimensions: number },
): Promise<void> {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, "latin1");
  header.writeUInt32LE(dimensions, HEADER_BYTES - 4);
  const parts: Uint8Array[] = [header];
  const add = (key: string, vector: Float32Array | undefined): void => {
    if (vector?.length !== dimensions) return;
    parts.push(Buffer.from(key, "hex"), new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  };
  for (const key of wanted) add(key, vectors.get(key));
  let room = MOST_KEPT;
  for (const [key, vector] of vectors) if (!wanted.has(key) && room-- > 0) add(key, vector);
  await writeFileAtomically(path, Buffer.concat(parts), { mode: 0o600, folderMode: 0o700, flush: false });
}

/** Reads a regular file of a sensible size. A link or a pipe is not ours, and a pipe would wait for its writer. */
async function bytesOf(path: string, logger: Logger): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > LARGEST_FILE_BYTES) return undefined;
      const bytes = Buffer.from(new ArrayBuffer(stats.size));
      const { bytesRead } = await file.read(bytes, 0, stats.size, 0);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") logger.debug("cannot read cached vectors", { error });
    return undefined;
  }
}

function isUnitLength(vector: Float32Array): boolean {
  let squares = 0;
  for (let at = 0; at < vector.length; at++) squares += (vector[at] ?? 0) ** 2;
  return Math.abs(squares - 1) <= 2 * LENGTH_TOLERANCE;
}
