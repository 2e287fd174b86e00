// The state of all entries, cached until a document changes. Background indexers write to the same database all the
// time, but do not change this state.
import type { Db } from "../engine/sqlite/database.js";

/** By entry id: missing, an older version in a snapshot, or current. */
export const ABSENT = 0;
const HIDDEN = 1;
export const LIVE = 2;

/** All entries at one moment. */
export interface Entries {
  /** Equal for two moments if no document changed between them. */
  readonly key: string;
  /** By entry id. */
  readonly states: Uint8Array;
  readonly count: number;
}

const kept = new WeakMap<Db, Entries>();

/** Returns the current entries of the index. */
export function entriesOf(index: Db): Entries {
  const facts = index.all<{ key: string; value: string | number }>(
    "SELECT key, value FROM facts WHERE key IN ('seq', 'vectors_made')",
  );
  const last = index.one<{ last: number }>("SELECT coalesce(max(id), 0) AS last FROM entries").last;
  // A rebuilt index reuses its ids and reaches the same sequence number.
  const key = [...facts.map((fact) => fact.value), last].join("/");
  const known = kept.get(index);
  if (known?.key === key) return known;
  const states = new Uint8Array(last + 1);
  const all = index.column<number>("SELECT id FROM entries");
  for (const id of all) states[id] = LIVE;
  for (const id of index.column<number>("SELECT id FROM entries WHERE live = 0")) states[id] = HIDDEN;
  const entries = { key, states, count: all.length };
  kept.set(index, entries);
  return entries;
}
