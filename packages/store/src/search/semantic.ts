// Semantic ranking: the best passage of each document counts.
import type { Db } from "../engine/sqlite/database.js";
import type { Scope } from "./search-scope.js";
import type { SemanticHit } from "./semantic-hit.js";
import { vectorIndexOf } from "./vector-index.js";

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
  const hits = new Map<number, Omit<SemanticHit, "passages">>();
  for (const { entry, passage, similarity } of vectors.nearest(
    vector,
    also === undefined ? { scope } : { scope, also },
  )) {
    if (!hits.has(entry)) hits.set(entry, { entry, passage, score: similarity });
  }
  const counts = passageCounts(index, [...hits.keys()]);
  return [...hits.values()].map((hit) => ({ ...hit, passages: counts.get(hit.entry) ?? 1 }));
}

function passageCounts(index: Db, entries: readonly number[]): ReadonlyMap<number, number> {
  return new Map(
    index.tuples<[number, number]>(
      "SELECT j.value, (SELECT max(number) + 1 FROM passages WHERE entry = j.value) FROM json_each(?) j",
      JSON.stringify(entries),
    ),
  );
}

/** Returns where a passage is in its text. */
export function passageRow(index: Db, passage: number): { from_line: number; to_line: number } | undefined {
  return index.get("SELECT from_line, to_line FROM passages WHERE id = ?", passage);
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
