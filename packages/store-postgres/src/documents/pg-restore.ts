// `restore`: writes the files of a collection or a snapshot.
import { abortError } from "@trunkline/core";
import type { RestoreResult, StoreCallOptions } from "@trunkline/store/contract";
import { restoreFrom } from "@trunkline/store/parts";
import { contentById, findContent, hexOf, readContent } from "../contents/pg-contents.js";
import { selectDocuments } from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";

interface FileRow {
  readonly path: string;
  readonly root: string | null;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly content: number;
  readonly hash: Uint8Array;
  readonly size: number;
}

/** `folder` is for files that are not complete yet. */
export async function restoreDocuments(
  sql: Sql,
  params: Parameters<typeof restoreFrom>[1],
  { signal, onProgress, folder }: StoreCallOptions & { readonly folder: string },
): Promise<RestoreResult> {
  const { collection, snapshotId: snapshot } = params;
  const selection = await selectDocuments(sql, { collection, snapshot });
  const rows = await sql.rows<FileRow>(
    `SELECT d.path, d.root, v.mode, v.mtime, c.id AS content, c.hash, c.size FROM ${selection.from}
     WHERE ${selection.where} ORDER BY d.path`,
    ...selection.values,
  );
  const documents = rows.map((row) => ({ ...row, hash: hexOf(row.hash) }));
  const source = {
    folder,
    documents,
    open: async ({ content }: (typeof documents)[number]) => [await readContent(sql, await contentById(sql, content))],
    has: async (hash: string) => (await findContent(sql, hash)) !== undefined,
  };
  return await restoreFrom(source, params, {
    check: () => {
      if (signal?.aborted) throw abortError(signal, "restore");
    },
    progress: onProgress ?? (() => {}),
    signal: signal ?? new AbortController().signal,
  });
}
