// Semantic ranking: the best passage of each document counts.
import type { Db } from "../engine/sqlite/database.js";
import type { Scope } from "./search-scope.js";
import { vectorIndexOf } from "./vector-index.js";

/** An entry, its cosine, and the passage with that cosine. */
export interface SemanticHit {
  readonly entry: number;
  readonly score: number;
  readonly passage: number;
}

interface SemanticQuery {
  readonly model: string;
  readonly vector: Float32Array;
}

/** Returns entries in the scope, nearest first; `undefined` if the model has no vectors here. */
export function semanticHits(
  index: Db,
  { model, vector }: SemanticQuery,
  { scope, also, check }: { scope: Scope; also?: Iterable<number>; check: () => void },
): SemanticHit[] | undefined {
  const vectors = vectorIndexOf(index, model, check);
  if (vectors === undefined) return undefined;
  const hits = new Map<number, SemanticHit>();
  for (const { entry, passage, similarity } of vectors.nearest(
    vector,
    also === undefined ? { scope } : { scope, also },
  )) {
    if (!hits.has(entry)) hits.set(entry, { entry, passage, score: similarity });
  }
  return [...hits.values()];
}

const LOOKED_AT = 20;

/** Returns how much the nearest passages look like code, on average. */
export function codeShareOf(index: Db, hits: readonly SemanticHit[]): number {
  const first = hits.slice(0, LOOKED_AT);
  if (first.length === 0) return 0;
  const sum = first.reduce((total, { passage }) => total + (passageRow(index, passage)?.code ?? 0), 0);
  return sum / first.length;
}

/** Returns where a passage is in its text. */
export function passageRow(
  index: Db,
  passage: number,
): { from_line: number; to_line: number; code: number } | undefined {
  return index.get("SELECT from_line, to_line, code FROM passages WHERE id = ?", passage);
}

/** Counts the searchable documents with vectors; undefined if all have them. */
export function missingVectors(index: Db, model: string): { embedded: number; total: number } | undefined {
  const row = index.get<{ entry: number }>("SELECT entry FROM embedders WHERE model = ?", model);
  const reached = row?.entry ?? 0;
  if (index.one<{ last: number }>("SELECT coalesce(max(id), 0) AS last FROM entries").last <= reached) return undefined;
  const { total, embedded } = index.one<{ total: number; embedded: number }>(
    "SELECT count(*) AS total, count(*) FILTER (WHERE id <= ?) AS embedded FROM entries",
    reached,
  );
  return { embedded, total };
}
