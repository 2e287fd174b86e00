// `repair`: recovers damaged chunks from files that still have them, then rebuilds the indexes.
import { readFileSync, statSync } from "node:fs";
import { isTrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { RepairResult } from "../contract/index.js";
import { cutPoints } from "../engine/content/chunker.js";
import { openChunk, prepareChunk, sha256 } from "../engine/content/prepare.js";
import { catchUp, rebuildIndex } from "../engine/indexing/catch-up.js";
import { bytesOf, hexOf } from "../engine/sqlite/contents.js";
import type { Databases, MoveEnvironment } from "../engine/threads/thread-context.js";
import type { WriteContext } from "../engine/writing/write-queue.js";

const MAX_FILE_BYTES = 1024 * 1024 * 1024;

export async function repair(
  env: MoveEnvironment<{ replaceChunk: typeof replaceChunk; rebuild: typeof rebuild }>,
  _params: Record<string, never>,
  call: Call,
): Promise<RepairResult> {
  let chunks = 0;
  const lost: string[] = [];
  for (const { id, hash } of damagedChunks(env, call)) {
    const bytes = findAgain(env, id, hash, call);
    if (bytes === undefined) lost.push(hash);
    else {
      await env.writer.replaceChunk({ hash, bytes }, { signal: call.signal });
      chunks++;
    }
  }
  let documents = 0;
  const onProgress = (progress: { progress: number; total?: number }) => {
    documents = progress.progress;
    call.progress({ ...progress, message: "index" });
  };
  documents = await env.writer.rebuild({}, { signal: call.signal, onProgress });
  return { documents, chunks, lost };
}

/** Rebuilds the index from the content database. Runs in the writer. */
export function rebuild(databases: Databases, _params: Record<string, never>, call: Call): number {
  const context = { ...databases, texts: new Map(), check: call.check };
  rebuildIndex(context);
  return catchUp(context, (taken, total) => call.progress({ progress: taken, total, message: "index" }));
}

function damagedChunks({ truth }: Databases, call: Call): { id: number; hash: string }[] {
  const damaged: { id: number; hash: string }[] = [];
  const { last } = truth.one<{ last: number | null }>("SELECT max(id) AS last FROM chunks");
  for (let after = 0; after < (last ?? 0); after += 500) {
    const rows = truth.all<{ id: number; hash: Uint8Array; size: number; codec: number; data: Uint8Array }>(
      "SELECT id, hash, size, codec, data FROM chunks WHERE id > ? AND id <= ?",
      after,
      after + 500,
    );
    for (const row of rows) {
      call.check();
      const hash = hexOf(row.hash);
      try {
        openChunk({ ...row, hash });
      } catch (error) {
        if (!isTrunklineError(error, "IO")) throw error;
        damaged.push({ id: row.id, hash });
      }
    }
  }
  return damaged;
}

/** Looks for a chunk's bytes in the files of the documents that contain it. */
function findAgain({ truth }: Databases, chunk: number, hash: string, call: Call): Uint8Array | undefined {
  const paths = truth.all<{ path: string }>(
    `SELECT DISTINCT d.path FROM content_chunks cc JOIN versions v ON v.content = cc.content JOIN documents d ON d.id = v.document
     WHERE cc.chunk = ? AND v.mode IS NOT NULL`,
    chunk,
  );
  for (const { path } of paths) {
    call.check();
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || stats.size > MAX_FILE_BYTES) continue;
    const bytes = readFileSync(path);
    let start = 0;
    for (const end of cutPoints(bytes)) {
      const piece = bytes.subarray(start, end);
      if (sha256(piece) === hash) return Uint8Array.from(piece);
      start = end;
    }
  }
  return undefined;
}

/** Replaces a chunk's damaged bytes. Runs in the writer. */
export function replaceChunk({ truth }: WriteContext, { hash, bytes }: { hash: string; bytes: Uint8Array }): void {
  const { codec, data, size } = prepareChunk(bytes, () => false);
  truth.run(
    "UPDATE chunks SET size = ?, codec = ?, data = ? WHERE hash = ?",
    size,
    codec,
    data ?? bytes,
    bytesOf(hash),
  );
}
