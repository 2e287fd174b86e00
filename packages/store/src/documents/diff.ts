// `diff`: the changes between two snapshots, or in the text of one document.
import { TrunklineError, unifiedDiff } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { DiffParams, DiffResult } from "../contract/index.js";
import { decodeText } from "../engine/content/text.js";
import { type ContentRow, readContent } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { currentSeq, type DocumentRow } from "../engine/sqlite/documents.js";
import { findSnapshot, requireCollection } from "../engine/sqlite/filters.js";
import { documentsNamed } from "../engine/sqlite/find-document.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { compare, type Tree } from "./compare-trees.js";

interface Side {
  readonly collection: number;
  readonly seq: number;
  readonly name: string;
}

/** Without `to`, compares with the current collection. */
export function diff({ truth }: ReadEnvironment, params: DiffParams & { absolute?: string }, call: Call): DiffResult {
  return truth.reading(() => {
    const given = params.collection === undefined ? undefined : requireCollection(truth, params.collection);
    const first = findSnapshot(truth, params.from, given);
    const from: Side = { collection: first.collection, seq: first.seq, name: params.from };
    const to: Side =
      params.to === undefined
        ? { collection: first.collection, seq: currentSeq(truth), name: "now" }
        : { ...findSnapshot(truth, params.to, given), name: params.to };
    if (params.path !== undefined)
      return documentDiff(truth, { from, to, path: params.path, absolute: params.absolute }, call);
    return from.collection === to.collection ? changesBetween(truth, from, to) : compareTrees(truth, from, to);
  });
}

/**
 * Compares two states of a collection. Only documents with a version that began or ended in between can differ, so the
 * cost depends on the number of changes.
 */
function changesBetween(truth: Db, from: Side, to: Side): DiffResult {
  const low = Math.min(from.seq, to.seq);
  const high = Math.max(from.seq, to.seq);
  const touched = truth.all<{ id: number; path: string }>(
    `SELECT d.id, d.path FROM documents d WHERE d.collection = ? AND d.id IN (
       SELECT document FROM versions WHERE seq_from > ? AND seq_from <= ?
       UNION SELECT document FROM versions WHERE seq_to > ? AND seq_to <= ?)`,
    from.collection,
    low,
    high,
    low,
    high,
  );
  const before: Tree = new Map();
  const after: Tree = new Map();
  for (const { id, path } of touched) {
    const old = contentAt(truth, id, from.seq);
    const now = contentAt(truth, id, to.seq);
    if (old !== undefined) before.set(path, old);
    if (now !== undefined) after.set(path, now);
  }
  return compare(before, after);
}

/** Compares everything, for snapshots of different collections. */
function compareTrees(truth: Db, from: Side, to: Side): DiffResult {
  const tree = ({ collection, seq }: Side): Tree =>
    new Map(
      truth
        .all<{ path: string; content: number }>(
          `SELECT d.path, v.content FROM documents d JOIN versions v ON v.document = d.id
           WHERE d.collection = ? AND v.seq_from <= ? AND (v.seq_to IS NULL OR v.seq_to > ?)`,
          collection,
          seq,
          seq,
        )
        .map((row) => [row.path, row.content]),
    );
  return compare(tree(from), tree(to));
}

function contentAt(truth: Db, document: number, seq: number): number | undefined {
  return truth.get<{ content: number }>(
    "SELECT content FROM versions WHERE document = ? AND seq_from <= ? AND (seq_to IS NULL OR seq_to > ?)",
    document,
    seq,
    seq,
  )?.content;
}

function documentDiff(
  truth: Db,
  { from, to, path, absolute }: { from: Side; to: Side; path: string; absolute: string | undefined },
  call: Call,
): DiffResult {
  const find = (side: Side) => documentIn(truth, side, path, absolute);
  const [old, now] = [find(from), find(to)];
  const document = now ?? old;
  if (document === undefined) throw new TrunklineError("NOT_FOUND", `Neither side has a document "${path}".`);
  const oldText = old === undefined ? "" : textAt(truth, old, from, call);
  const newText = now === undefined ? "" : textAt(truth, now, to, call);
  const diffText =
    oldText === undefined || newText === undefined
      ? "Binary content differs."
      : unifiedDiff(oldText, newText, {
          from: `${document.path} (${from.name})`,
          to: `${document.path} (${to.name})`,
          check: call.check,
        });
  const same = diffText === "";
  return {
    added: old === undefined ? [document.path] : [],
    removed: now === undefined ? [document.path] : [],
    modified: old !== undefined && now !== undefined && !same ? [document.path] : [],
    renamed: [],
    diff: diffText,
  };
}

function documentIn(truth: Db, side: Side, path: string, absolute: string | undefined): DocumentRow | undefined {
  return documentsNamed(truth, path, { absolute, states: ["live", "removed", "trash"] }).find(
    (row) => row.collection === side.collection && contentAt(truth, row.id, side.seq) !== undefined,
  );
}

function textAt(truth: Db, document: DocumentRow, side: Side, call: Call): string | undefined {
  const id = contentAt(truth, document.id, side.seq);
  const content = truth.one<ContentRow>("SELECT id, hash, size, type FROM contents WHERE id = ?", id as number);
  return content.type === "binary" ? undefined : decodeText(readContent(truth, content, call.check));
}
