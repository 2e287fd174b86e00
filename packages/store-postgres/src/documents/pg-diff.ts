// `diff`: the changes between two snapshots, or in the text of one document.
import { TrunklineError, unifiedDiff } from "@trunkline/core";
import type { DiffParams, DiffResult } from "@trunkline/store/contract";
import { compareTrees, decodeText } from "@trunkline/store/parts";
import { currentSeq } from "../contents/document-history.js";
import { documentsNamed } from "../contents/named-documents.js";
import { contentById, readContent } from "../contents/pg-contents.js";
import { findSnapshot, requireCollection } from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";

interface Side {
  readonly collection: number;
  readonly seq: number;
  readonly name: string;
}

/** Without `to`, compares with the current collection. */
export async function diff(sql: Sql, params: DiffParams & { absolute?: string }): Promise<DiffResult> {
  const given = params.collection === undefined ? undefined : await requireCollection(sql, params.collection);
  const first = await findSnapshot(sql, params.from, given);
  const from: Side = { collection: first.collection, seq: first.seq, name: params.from };
  const to: Side =
    params.to === undefined
      ? { collection: first.collection, seq: await currentSeq(sql), name: "now" }
      : { ...(await findSnapshot(sql, params.to, given)), name: params.to };
  if (params.path !== undefined)
    return await documentDiff(sql, { from, to }, { path: params.path, absolute: params.absolute });
  return compareTrees(await treeOf(sql, from, to), await treeOf(sql, to, from));
}

/** Returns the documents of one side. Within a collection only those with a version that began or ended in between. */
async function treeOf(sql: Sql, side: Side, other: Side): Promise<Map<string, number>> {
  const isSame = side.collection === other.collection;
  const [low, high] = [Math.min(side.seq, other.seq), Math.max(side.seq, other.seq)];
  const touched = `AND d.id IN (SELECT document FROM versions WHERE seq_from > $3 AND seq_from <= $4
    UNION SELECT document FROM versions WHERE seq_to > $3 AND seq_to <= $4)`;
  const rows = await sql.rows<{ path: string; content: number }>(
    `SELECT d.path, v.content FROM seen_documents d JOIN versions v ON v.document = d.id
     WHERE d.collection = $1 AND v.seq_from <= $2 AND (v.seq_to IS NULL OR v.seq_to > $2) ${isSame ? touched : ""}`,
    ...[side.collection, side.seq, ...(isSame ? [low, high] : [])],
  );
  return new Map(rows.map((row) => [row.path, row.content]));
}

async function documentDiff(
  sql: Sql,
  { from, to }: { from: Side; to: Side },
  { path, absolute }: { path: string; absolute: string | undefined },
): Promise<DiffResult> {
  const [old, now] = [await contentIn(sql, from, { path, absolute }), await contentIn(sql, to, { path, absolute })];
  const document = now ?? old;
  if (document === undefined) throw new TrunklineError("NOT_FOUND", `Neither side has a document "${path}".`);
  const oldText = old === undefined ? "" : await textOf(sql, old.content);
  const newText = now === undefined ? "" : await textOf(sql, now.content);
  const text =
    oldText === undefined || newText === undefined
      ? "Binary content differs."
      : unifiedDiff(oldText, newText, { from: `${document.path} (${from.name})`, to: `${document.path} (${to.name})` });
  return {
    added: old === undefined ? [document.path] : [],
    removed: now === undefined ? [document.path] : [],
    modified: old !== undefined && now !== undefined && text !== "" ? [document.path] : [],
    renamed: [],
    diff: text,
  };
}

async function contentIn(
  sql: Sql,
  side: Side,
  { path, absolute }: { path: string; absolute: string | undefined },
): Promise<{ path: string; content: number } | undefined> {
  for (const row of await documentsNamed(sql, path, { absolute, states: ["live", "removed", "trash"] })) {
    if (row.collection !== side.collection) continue;
    const found = await sql.get<{ content: number }>(
      "SELECT content FROM versions WHERE document = $1 AND seq_from <= $2 AND (seq_to IS NULL OR seq_to > $2)",
      row.id,
      side.seq,
    );
    if (found !== undefined) return { path: row.path, content: found.content };
  }
  return undefined;
}

async function textOf(sql: Sql, id: number): Promise<string | undefined> {
  const content = await contentById(sql, id);
  return content.type === "binary" ? undefined : decodeText(await readContent(sql, content));
}
