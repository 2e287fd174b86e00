// The thread's side of embedding: what to embed next, and where the vectors go. The queue is the list of entries
// itself; each model remembers the entry up to which it is complete, so a restart continues from there.

import { randomUUID } from "node:crypto";
import type { Call } from "@trunkline/core/threads";
import { generatedKindOf } from "../engine/content/generated.js";
import { describeEntry, readIndexText } from "../engine/indexing/catch-up.js";
import { hasIndexedText } from "../engine/indexing/indexer.js";
import type { Db } from "../engine/sqlite/database.js";
import type { EmbeddingStep, WaitingText } from "./embedding-step.js";
import { type Passage, passagesOf } from "./passages.js";
import { signsOf, vectorBytes } from "./vector-math.js";
import { type EmbedderRow, embedderRow } from "./vectors-indexer.js";

/** The version of the text that is embedded. 2: the header has two folders of the path. */
const PASSAGE_VERSION = 2;

const ENTRIES_PER_LOOK = 64;
const FORGOTTEN_AFTER_MS = 24 * 60 * 60 * 1000;

/** Returns the next texts to embed. Skips entries whose passages all have vectors. */
export function nextTexts(
  { truth, index }: { truth: Db; index: Db },
  { model, dimensions, most }: { model: string; dimensions: number; most: number },
  call: Call,
): EmbeddingStep {
  index.immediate(() => {
    index.run("INSERT OR IGNORE INTO embedders VALUES (NULL, ?, ?, 0, 0, 0)", model, dimensions);
    index.run("UPDATE embedders SET used = ? WHERE model = ?", Date.now(), model);
    noteCutting(index, model);
  }, call.check);
  while (true) {
    call.check();
    const row = embedderRow(index, model) as EmbedderRow;
    const entries = index.all<{ id: number; document: number; version: number }>(
      "SELECT id, document, version FROM entries WHERE id > ? ORDER BY id LIMIT ?",
      row.entry,
      ENTRIES_PER_LOOK,
    );
    if (entries.length === 0) {
      const range = recutRange(index);
      if (range !== undefined) {
        const step = recut({ truth, index }, { row, range, most }, call);
        if (step.texts.length > 0) return step;
        continue;
      }
      if (row.complete === 0) complete(index, row, call);
      return { texts: [], through: row.entry, done: true };
    }
    const step = look({ truth, index }, { row, entries, most }, call);
    if (step.texts.length > 0) return step;
  }
}

function look(
  { truth, index }: { truth: Db; index: Db },
  {
    row,
    entries,
    most,
  }: { row: EmbedderRow; entries: readonly { id: number; document: number; version: number }[]; most: number },
  call: Call,
): EmbeddingStep {
  const texts = new Map<string, WaitingText>();
  const cut: { entry: number; passages: readonly Passage[] }[] = [];
  let through = row.entry;
  for (const entry of entries) {
    call.check();
    const passages = cutEntry(truth, entry);
    const missing = passages.filter(({ hash }) => !texts.has(hash) && !hasVector(index, row.id, hash));
    if (texts.size > 0 && texts.size + missing.length > most) break;
    cut.push({ entry: entry.id, passages });
    for (const { hash, text: waiting } of missing.slice(0, most)) texts.set(hash, { hash, text: waiting });
    // A long text is returned again until all its passages have vectors.
    if (missing.length > most) break;
    through = entry.id;
  }
  index.immediate(() => {
    for (const { entry, passages } of cut) notePassages(index, entry, passages);
    if (texts.size === 0) advance(index, row.model, through);
  }, call.check);
  return { texts: [...texts.values()], through, done: false };
}

/** Cuts entries again, and replaces the passages of those whose new passages all have vectors. */
function recut(
  { truth, index }: { truth: Db; index: Db },
  { row, range, most }: { row: EmbedderRow; range: { after: number; last: number }; most: number },
  call: Call,
): EmbeddingStep {
  const entries = index.all<{ id: number; document: number; version: number }>(
    "SELECT id, document, version FROM entries WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
    range.after,
    range.last,
    ENTRIES_PER_LOOK,
  );
  const texts = new Map<string, WaitingText>();
  const ready: { entry: number; passages: readonly Passage[] }[] = [];
  for (const entry of entries) {
    call.check();
    const passages = cutEntry(truth, entry);
    const missing = passages.filter(({ hash }) => !texts.has(hash) && !hasVector(index, row.id, hash));
    if (texts.size > 0 && texts.size + missing.length > most) break;
    for (const { hash, text } of missing.slice(0, most)) texts.set(hash, { hash, text });
    // Its passages are replaced the next time, together with those of the entries after it.
    if (texts.size === 0) ready.push({ entry: entry.id, passages });
  }
  index.immediate(() => {
    for (const { entry, passages } of ready) {
      index.run("DELETE FROM passages WHERE entry = ?", entry);
      notePassages(index, entry, passages);
    }
    const through = ready.at(-1)?.entry ?? range.after;
    noteRecut(index, entries.length === 0 ? range.last : through);
  }, call.check);
  return { texts: [...texts.values()], through: row.entry, done: false };
}

function cutEntry(truth: Db, entry: { id: number; document: number; version: number }): Passage[] {
  const described = describeEntry(truth, entry);
  if (described === undefined || !hasIndexedText(described)) return [];
  const text = readIndexText(truth, described.content);
  const isEmbedded = text !== undefined && generatedKindOf(described.path, text.body) === undefined;
  return isEmbedded ? passagesOf(described, text) : [];
}

function hasVector(index: Db, embedder: number, hash: string): boolean {
  const bytes = Buffer.from(hash, "hex");
  return index.get("SELECT 1 FROM vectors WHERE embedder = ? AND hash = ?", embedder, bytes) !== undefined;
}

function notePassages(index: Db, entry: number, passages: readonly Passage[]): void {
  if (index.get("SELECT 1 FROM entries WHERE id = ?", entry) === undefined) return;
  for (const { number, hash, fromLine, toLine, code } of passages) {
    index.run(
      "INSERT OR IGNORE INTO passages (entry, number, hash, from_line, to_line, code) VALUES (?, ?, ?, ?, ?, ?)",
      entry,
      number,
      Buffer.from(hash, "hex"),
      fromLine,
      toLine,
      code,
    );
  }
}

function advance(index: Db, model: string, through: number): void {
  index.run("UPDATE embedders SET entry = max(entry, ?) WHERE model = ?", through, model);
}

/** Stores vectors and records how far the model has come. */
export function keepVectors(
  { index }: { index: Db },
  {
    model,
    vectors,
    through,
  }: { model: string; vectors: readonly { hash: string; vector: Float32Array }[]; through: number },
  call: Call,
): void {
  index.immediate(() => {
    const row = embedderRow(index, model);
    // The index was rebuilt in the meantime; the queue starts over.
    if (row === undefined) return;
    for (const { hash, vector } of vectors) {
      const bytes = Buffer.from(hash, "hex");
      const { changes, id } = index.run(
        "INSERT OR IGNORE INTO vectors (embedder, hash, vector) VALUES (?, ?, ?)",
        row.id,
        bytes,
        vectorBytes(vector),
      );
      if (changes > 0) index.run("INSERT OR REPLACE INTO vector_signs VALUES (?, ?)", id, signsOf(vector));
    }
    advance(index, model, through);
  }, call.check);
}

/** Marks a model as complete, and removes data that only older models or removed documents needed. */
function complete(index: Db, row: EmbedderRow, call: Call): void {
  index.immediate(() => {
    index.run("UPDATE embedders SET complete = 1 WHERE id = ?", row.id);
    const before = Date.now() - FORGOTTEN_AFTER_MS;
    index.run(
      "DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders WHERE id <> ? AND used < ?)",
      row.id,
      before,
    );
    index.run("DELETE FROM embedders WHERE id <> ? AND used < ?", row.id, before);
    index.exec("DELETE FROM passages WHERE entry NOT IN (SELECT id FROM entries)");
    index.exec("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)");
    index.exec("DELETE FROM vector_signs WHERE vector NOT IN (SELECT id FROM vectors)");
  }, call.check);
}

/** Returns how far each model has come, for `status`. Counts documents in every searchable version. */
export function embeddingProgress(index: Db) {
  const { total } = index.one<{ total: number }>("SELECT count(*) AS total FROM entries");
  return index
    .all<EmbedderRow>("SELECT * FROM embedders ORDER BY used DESC, id DESC")
    .map(({ id, model, dimensions, entry, complete: once }) => ({
      model,
      dimensions,
      embedded: index.one<{ n: number }>("SELECT count(*) AS n FROM entries WHERE id <= ?", entry).n,
      total,
      vectors: index.one<{ n: number }>("SELECT count(*) AS n FROM vectors WHERE embedder = ?", id).n,
      complete: once === 1,
    }));
}

// Cuts the passages of a store again after the text that is embedded has changed with a new version of this program.
// Old passages and their vectors answer queries until the vectors of an entry's new passages exist; passages whose text
// is the same keep their vectors.

/**
 * Starts over if the passages were cut by another version. Other models embed the new passages when they are used
 * again. Needs a write transaction.
 */
function noteCutting(index: Db, model: string): void {
  if (factOf(index, "passages_version") === PASSAGE_VERSION) return;
  const last = index.one<{ last: number }>("SELECT coalesce(max(entry), 0) AS last FROM passages").last;
  setFact(index, "passages_version", PASSAGE_VERSION);
  setFact(index, "passages_recut", 0);
  setFact(index, "passages_to_recut", last);
  if (last > 0) index.run("UPDATE embedders SET entry = 0 WHERE model <> ?", model);
}

/** Returns the entries to cut again: those after the first number, up to the second. `undefined` if there are none. */
function recutRange(index: Db): { after: number; last: number } | undefined {
  const [after, last] = [factOf(index, "passages_recut"), factOf(index, "passages_to_recut")];
  return after < last ? { after, last } : undefined;
}

/** Records that entries up to this one were cut again. Needs a write transaction. */
function noteRecut(index: Db, entry: number): void {
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
