// Reads and writes bytes by content id, the basis of the ContentStore port.
import type { ContentId } from "@trunkline/core";
import { type Call, Transferred } from "@trunkline/core/threads";
import { prepareContent } from "../engine/content/prepare.js";
import {
  findContent,
  hasChunk,
  matchingIds,
  readContent,
  readRange,
  resolveContent,
} from "../engine/sqlite/contents.js";
import type { MoveEnvironment, ReadEnvironment } from "../engine/threads/thread-context.js";
import { ChunkPacker } from "../engine/writing/incoming.js";

/** Stores bytes without a document. */
export async function putContent(
  env: MoveEnvironment,
  { bytes }: { bytes: Uint8Array },
  call: Call,
): Promise<ContentId> {
  for (const isStored of [(hash: string) => hasChunk(env.truth, hash), () => false]) {
    const packer = new ChunkPacker();
    const content = packer.content({ ...prepareContent(bytes, isStored), text: undefined });
    const data = packer.finish();
    const { stored } = await env.writer.putContent({ content, data }, { signal: call.signal, transfer: [data] });
    if (stored) return content.hash as ContentId;
  }
  throw new Error("content with all its chunks was not stored");
}

/** Returns all or part of a content's bytes, verified. */
export function contentBytes(
  { truth }: ReadEnvironment,
  { id, start, end }: { id: string; start?: number; end?: number },
  call: Call,
): Transferred<Uint8Array> {
  const bytes = truth.reading(() => {
    const content = resolveContent(truth, id);
    if (start === undefined && end === undefined) return readContent(truth, content, call.check);
    return readRange(truth, content, { start: start ?? 0, end: end ?? content.size });
  });
  // A buffer can be a view of a shared pool; only a dedicated one can be transferred.
  const own =
    bytes.byteLength === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer as ArrayBuffer) : new Uint8Array(bytes);
  return new Transferred<Uint8Array>(own, [own.buffer]);
}

export function hasContent({ truth }: ReadEnvironment, { id }: { id: string }): boolean {
  return findContent(truth, id) !== undefined;
}

export function resolveContentIds({ truth }: ReadEnvironment, { prefix }: { prefix: string }): ContentId[] {
  return matchingIds(truth, prefix, 1000);
}
