// Cuts the passages of a store again after the text that is embedded has changed with a new version of this program.
// Old passages and their vectors answer queries until the vectors of an entry's new passages exist; passages whose text
// is the same keep their vectors.
import { randomUUID } from "node:crypto";
import type { Db } from "../engine/sqlite/database.js";

/** The version of the text that is embedded. 2: the header has two folders of the path. */
const PASSAGE_VERSION = 2;

/**
 * Starts over if the passages were cut by another version. Other models embed the new passages when they are used
 * again. Needs a write transaction.
 */
export function noteCutting(index: Db, model: string): void {
  if (factOf(index, "passages_version") === PASSAGE_VERSION) return;
  const last = index.one<{ last: number }>("SELECT coalesce(max(entry), 0) AS last FROM passages").last;
  setFact(index, "passages_version", PASSAGE_VERSION);
  setFact(index, "passages_recut", 0);
  setFact(index, "passages_to_recut", last);
  if (last > 0) index.run("UPDATE embedders SET entry = 0 WHERE model <> ?", model);
}

/** Returns the entries to cut again: those after the first number, up to the second. `undefined` if there are none. */
export function recutRange(index: Db): { after: number; last: number } | undefined {
  const [after, last] = [factOf(index, "passages_recut"), factOf(index, "passages_to_recut")];
  return after < last ? { after, last } : undefined;
}

/** Records that entries up to this one were cut again. Needs a write transaction. */
export function noteRecut(index: Db, entry: number): void {
  setFact(index, "passages_recut", entry);
  if (recutRange(index) !== undefined) return;
  // Readers drop the old passages from memory, and the queue removes the vectors that only those had.
  setFact(index, "vectors_made", randomUUID());
  index.run("UPDATE embedders SET complete = 0");
}

function factOf(index: Db, key: string): number {
  return index.get<{ value: number }>("SELECT value FROM facts WHERE key = ?", key)?.value ?? 0;
}

function setFact(index: Db, key: string, value: number | string): void {
  index.run("INSERT OR REPLACE INTO facts VALUES (?, ?)", key, value);
}
