// `restore` of the embedded store.

import type { Call } from "@trunkline/core/threads";
import type { RestoreResult } from "../contract/index.js";
import { type ContentRow, findContent, hexOf, readChunks } from "../engine/sqlite/contents.js";
import { selectDocuments } from "../engine/sqlite/filters.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { type ResolvedRestoreParams, type RestoredDocument, requireRestorable, restoreFrom } from "./restore.js";

interface RestoredRow extends Omit<RestoredDocument, "hash"> {
  readonly content: number;
  readonly hash: Uint8Array;
  readonly type: "text" | "binary";
}

export async function restore(env: ReadEnvironment, params: ResolvedRestoreParams, call: Call): Promise<RestoreResult> {
  const { truth, folder } = env;
  requireRestorable(params);
  const selection = selectDocuments(truth, { collection: params.collection, snapshot: params.snapshotId });
  const rows = truth.all<RestoredRow>(
    `SELECT d.path, d.root, v.mode, v.mtime, c.id AS content, c.hash, c.size, c.type FROM ${selection.from}
     WHERE ${selection.where} ORDER BY d.path`,
    ...selection.values,
  );
  const documents = rows.map((row) => {
    const content: ContentRow = { id: row.content, hash: row.hash, size: row.size, type: row.type };
    return { ...row, hash: hexOf(row.hash), content };
  });
  const source = {
    folder,
    documents,
    open: ({ content }: (typeof documents)[number]) => readChunks(truth, content, call.check),
    has: (hash: string) => findContent(truth, hash) !== undefined,
  };
  return await restoreFrom(source, params, call);
}
