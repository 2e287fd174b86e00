// `gc`: removes unreferenced data, in steps short enough for others to read and write in between.

import type { Call } from "@trunkline/core/threads";
import type { GcResult } from "../contract/index.js";
import { removeOldPartials } from "../documents/download.js";
import type { Db } from "../engine/sqlite/database.js";
import { type DocumentRow, hideDocument } from "../engine/sqlite/documents.js";
import { IS_RESULTS } from "../engine/sqlite/visibility.js";
import type { Databases, MoveEnvironment } from "../engine/threads/thread-context.js";
import { RESULTS_KEPT_MS } from "../engine/writing/store-content.js";
import type { WriteContext } from "../engine/writing/write-queue.js";

const UPLOAD_KEPT_MS = 24 * 60 * 60 * 1000;
/** The maximum number of rows per step. */
const WINDOW = 2000;
const DOCUMENTS_PER_STEP = 200;
const MOST_SHRINKING_STEPS = 2000;

const PHASES = ["expire", "trash", "contents", "uploads", "chunks"] as const;

/** The state of a collection between two steps. */
interface GcState {
  readonly phase: (typeof PHASES)[number] | "done";
  /** The last row id checked in this phase. */
  readonly after: number;
  readonly counts: Omit<GcResult, "steps">;
}

export async function gc(
  env: MoveEnvironment<{ gcStep: typeof gcStep; shrink: typeof shrink }>,
  _params: Record<string, never>,
  call: Call,
): Promise<GcResult> {
  const now = Date.now();
  let state: GcState = {
    phase: PHASES[0],
    after: 0,
    counts: { documents: 0, versions: 0, contents: 0, chunks: 0, freedBytes: 0 },
  };
  let steps = 0;
  while (state.phase !== "done") {
    call.check();
    state = await env.writer.gcStep({ state, now }, { signal: call.signal });
    steps++;
    call.progress({ progress: steps, message: state.phase });
  }
  // Limit the steps: pages that others free in the meantime are left for the next run.
  const last = steps + MOST_SHRINKING_STEPS;
  for (let more = true; more && steps < last; steps++) {
    call.check();
    ({ more } = await env.writer.shrink({}, { signal: call.signal }));
  }
  removeOldPartials(env.folder, now);
  return { ...state.counts, steps };
}

/** Returns free pages to the file system; `more` is true until there are none left. Runs in the writer. */
export function shrink({ truth, index }: Databases, _params: Record<string, never>): { more: boolean } {
  const more = [truth, index].map((db) => {
    db.exec("PRAGMA incremental_vacuum(500)");
    return db.pragma<number>("freelist_count") > 0;
  });
  return { more: more.includes(true) };
}

/** Runs one step and returns where the next one starts. */
export function gcStep({ truth }: WriteContext, { state, now }: { state: GcState; now: number }): GcState {
  switch (state.phase) {
    case "expire":
      return expire(truth, state, now);
    case "trash":
      return emptyTrash(truth, state);
    case "contents":
      return removeContents(truth, state, now);
    case "uploads":
      truth.run("DELETE FROM uploads WHERE touched < ?", now - UPLOAD_KEPT_MS);
      return nextPhase(state);
    case "chunks":
      return removeChunks(truth, state);
    case "done":
      return state;
  }
}

function nextPhase(state: GcState, counts: Partial<GcState["counts"]> = {}): GcState {
  const phase = PHASES[PHASES.indexOf(state.phase as (typeof PHASES)[number]) + 1] ?? "done";
  return { phase, after: 0, counts: { ...state.counts, ...counts } };
}

/** Moves expired documents of the results collections to the trash, which is emptied next. */
function expire(truth: Db, state: GcState, now: number): GcState {
  const old = truth.all<DocumentRow>(
    `SELECT * FROM documents WHERE collection IN (SELECT id FROM collections WHERE ${IS_RESULTS})
     AND state = 'live' AND indexed < ? LIMIT ?`,
    now - RESULTS_KEPT_MS,
    DOCUMENTS_PER_STEP,
  );
  for (const document of old) hideDocument(truth, document, { state: "trash" });
  return old.length < DOCUMENTS_PER_STEP ? nextPhase(state) : state;
}

function emptyTrash(truth: Db, state: GcState): GcState {
  const rows = truth.all<{ id: number; collection: number }>(
    "SELECT id, collection FROM documents WHERE state = 'trash' LIMIT ?",
    DOCUMENTS_PER_STEP,
  );
  let { documents, versions } = state.counts;
  for (const { id, collection } of rows) {
    versions += truth.run(
      `DELETE FROM versions WHERE document = ? AND NOT EXISTS (
         SELECT 1 FROM snapshots s WHERE s.collection = ? AND s.seq >= versions.seq_from AND s.seq < versions.seq_to)`,
      id,
      collection,
    ).changes;
    documents++;
    const last = truth.get<{ id: number }>(
      "SELECT max(id) AS id FROM versions WHERE document = ? HAVING id NOTNULL",
      id,
    );
    if (last === undefined) truth.run("DELETE FROM documents WHERE id = ?", id);
    // A snapshot still contains the document: keep it, but it cannot be undeleted.
    else truth.run("UPDATE documents SET state = 'removed', version = ? WHERE id = ?", last.id, id);
  }
  const next = { ...state.counts, documents, versions };
  return rows.length < DOCUMENTS_PER_STEP ? nextPhase(state, next) : { ...state, counts: next };
}

function removeContents(truth: Db, state: GcState, now: number): GcState {
  const dead = truth.all<{ id: number }>(
    `SELECT c.id FROM contents c WHERE c.id > ? AND c.id <= ? AND (c.kept_until IS NULL OR c.kept_until < ?)
       AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.content = c.id)
       AND NOT EXISTS (SELECT 1 FROM pins p WHERE p.content = c.id)`,
    state.after,
    state.after + WINDOW,
    now,
  );
  for (const { id } of dead) {
    truth.run("DELETE FROM content_chunks WHERE content = ?", id);
    truth.run("DELETE FROM contents WHERE id = ?", id);
  }
  const counts = { ...state.counts, contents: state.counts.contents + dead.length };
  return nextWindow(truth, "contents", { ...state, counts });
}

function removeChunks(truth: Db, state: GcState): GcState {
  const dead = truth.all<{ id: number; stored: number }>(
    `SELECT k.id, length(k.data) AS stored FROM chunks k WHERE k.id > ? AND k.id <= ?
       AND NOT EXISTS (SELECT 1 FROM content_chunks c WHERE c.chunk = k.id)
       AND NOT EXISTS (SELECT 1 FROM upload_chunks u WHERE u.chunk = k.id)`,
    state.after,
    state.after + WINDOW,
  );
  for (const { id } of dead) truth.run("DELETE FROM chunks WHERE id = ?", id);
  const freed = dead.reduce((sum, chunk) => sum + chunk.stored, 0);
  const { chunks, freedBytes } = state.counts;
  const counts = { ...state.counts, chunks: chunks + dead.length, freedBytes: freedBytes + freed };
  return nextWindow(truth, "chunks", { ...state, counts });
}

function nextWindow(truth: Db, table: "contents" | "chunks", state: GcState): GcState {
  const { last } = truth.one<{ last: number | null }>(`SELECT max(id) AS last FROM ${table}`);
  const after = state.after + WINDOW;
  return last === null || after >= last ? nextPhase(state) : { ...state, after };
}
