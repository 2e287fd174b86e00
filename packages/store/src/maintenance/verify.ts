// `verify`: checks every chunk, content, reference and index, in named steps that report what they checked.
import { isTrunklineError, messageOf } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { VerifyProblem, VerifyResult } from "../contract/index.js";
import { openChunk } from "../engine/content/prepare.js";
import { type makeReady, reachedSeq } from "../engine/indexing/catch-up.js";
import { type ContentRow, hexOf, readChunks } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import type { Databases, MoveEnvironment } from "../engine/threads/thread-context.js";
import { KEYWORD_ROWS_PER_ENTRY } from "../search/keyword-indexer.js";

type VerifyEnvironment = MoveEnvironment<{ ready: typeof makeReady; checkIndexers: typeof checkIndexers }>;

interface Verification {
  readonly env: VerifyEnvironment;
  readonly call: Call;
  report(problem: VerifyProblem): void;
}

const WINDOW = 200;

const STEPS: readonly (readonly [string, (verification: Verification) => number | Promise<number>])[] = [
  ["database", checkDatabases],
  ["chunks", checkChunks],
  ["contents", checkContents],
  ["references", checkReferences],
  ["index", checkIndex],
];

/** `verify`. Reports damage instead of throwing. */
export async function verify(
  env: VerifyEnvironment,
  _params: Record<string, never>,
  call: Call,
): Promise<VerifyResult> {
  const problems: VerifyProblem[] = [];
  const steps: VerifyResult["steps"][number][] = [];
  for (const [position, [name, run]] of STEPS.entries()) {
    call.progress({ progress: position, total: STEPS.length, message: name });
    const started = performance.now();
    let checked = 0;
    try {
      checked = await run({ env, call, report: (problem) => problems.push(problem) });
    } catch (error) {
      // An unreadable page ends the step, not the verification.
      if (!isTrunklineError(error, "IO")) throw error;
      problems.push({ kind: "database", message: `${name}: ${messageOf(error)}` });
    }
    steps.push({ name, checked, ms: Math.round(performance.now() - started) });
  }
  return { ok: problems.length === 0, problems, steps };
}

function checkDatabases({ env, report }: Verification): number {
  for (const [name, db] of [["content.sqlite", env.truth] as const, ["index.sqlite", env.index] as const]) {
    for (const { integrity_check: message } of db.all<{ integrity_check: string }>("PRAGMA integrity_check(20)")) {
      if (message !== "ok")
        report({ kind: name === "index.sqlite" ? "index" : "database", message: `${name}: ${message}` });
    }
  }
  return 2;
}

async function checkChunks({ env, call, report }: Verification): Promise<number> {
  let checked = 0;
  let after = 0;
  while (true) {
    const rows = env.truth.all<{ id: number; hash: Uint8Array; size: number; codec: number; data: Uint8Array }>(
      "SELECT id, hash, size, codec, data FROM chunks WHERE id > ? ORDER BY id LIMIT ?",
      after,
      WINDOW,
    );
    if (rows.length === 0) return checked;
    for (const row of rows) {
      call.check();
      checked++;
      const hash = hexOf(row.hash);
      const message = damageOf(() => void openChunk({ ...row, hash }));
      if (message !== undefined) report({ kind: "chunk", message, hash, paths: pathsWithChunk(env.truth, row.id) });
    }
    after = rows.at(-1)?.id ?? after;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function checkContents({ env, call, report }: Verification): Promise<number> {
  let checked = 0;
  let after = 0;
  while (true) {
    const rows = env.truth.all<ContentRow>(
      "SELECT id, hash, size, type FROM contents WHERE id > ? ORDER BY id LIMIT ?",
      after,
      WINDOW,
    );
    if (rows.length === 0) return checked;
    for (const row of rows) {
      call.check();
      checked++;
      const message = damageOf(() => env.truth.reading(() => readAll(env.truth, row, call)));
      // gc may have removed it since the window was read.
      const gone = message !== undefined && env.truth.get("SELECT 1 FROM contents WHERE id = ?", row.id) === undefined;
      if (message !== undefined && !gone) {
        report({ kind: "content", message, hash: hexOf(row.hash), paths: pathsWithContent(env.truth, row.id) });
      }
    }
    after = rows.at(-1)?.id ?? after;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function readAll(truth: Db, content: ContentRow, call: Call): void {
  for (const _chunk of readChunks(truth, content, call.check)) {
    // Reading a chunk verifies it.
  }
}

function damageOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (isTrunklineError(error, "IO") && error.data?.damaged === true) return error.message;
    throw error;
  }
}

function pathsWithChunk(truth: Db, chunk: number): string[] {
  return truth
    .all<{ path: string }>(
      `SELECT DISTINCT d.path FROM content_chunks cc JOIN versions v ON v.content = cc.content JOIN documents d ON d.id = v.document
       WHERE cc.chunk = ? ORDER BY d.path LIMIT 20`,
      chunk,
    )
    .map((row) => row.path);
}

function pathsWithContent(truth: Db, content: number): string[] {
  return truth
    .all<{ path: string }>(
      "SELECT DISTINCT d.path FROM versions v JOIN documents d ON d.id = v.document WHERE v.content = ? ORDER BY d.path LIMIT 20",
      content,
    )
    .map((row) => row.path);
}

/** Each query returns rows that should not exist. */
const REFERENCE_CHECKS: readonly (readonly [string, string])[] = [
  [
    "a live document without a current version",
    `SELECT d.path AS what FROM documents d LEFT JOIN versions v ON v.id = d.version
     WHERE d.state = 'live' AND (v.id IS NULL OR v.document <> d.id OR v.seq_to IS NOT NULL)`,
  ],
  [
    "a hidden document with a current version",
    `SELECT d.path AS what FROM documents d JOIN versions v ON v.document = d.id WHERE d.state <> 'live' AND v.seq_to IS NULL`,
  ],
  [
    "two versions at the same time",
    `SELECT d.path AS what FROM versions a JOIN versions b ON b.document = a.document AND b.id > a.id
       AND b.seq_from < coalesce(a.seq_to, 9e18) AND a.seq_from < coalesce(b.seq_to, 9e18)
     JOIN documents d ON d.id = a.document`,
  ],
  [
    "a collection with wrong counts",
    `SELECT k.name AS what FROM collections k WHERE (k.documents, k.bytes) <> (
       SELECT count(*), coalesce(sum(c.size), 0) FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
       WHERE d.collection = k.id AND d.state = 'live')`,
  ],
  [
    "a sequence number ahead of the store's",
    "SELECT path AS what FROM documents WHERE seq > (SELECT value FROM facts WHERE key = 'seq')",
  ],
];

function checkReferences({ env, call, report }: Verification): number {
  return env.truth.reading(() => {
    for (const { table, parent } of env.truth.all<{ table: string; parent: string }>("PRAGMA foreign_key_check")) {
      report({ kind: "reference", message: `A row of ${table} refers to a missing row of ${parent}.` });
    }
    for (const [what, sql] of REFERENCE_CHECKS) {
      call.check();
      for (const row of env.truth.all<{ what: string }>(`${sql} LIMIT 20`)) {
        report({ kind: "reference", message: `${what}: ${row.what}` });
      }
    }
    return REFERENCE_CHECKS.length + 1;
  });
}

/** Returns the problems found by the indexers themselves. Runs in the writer. */
export function checkIndexers({ index, indexers }: Databases, _params: Record<string, never>): string[] {
  return indexers.flatMap((indexer) => {
    try {
      return index.immediate(() => indexer.check?.(index) ?? []);
    } catch (error) {
      if (!isTrunklineError(error)) throw error;
      return [`${indexer.name}: ${messageOf(error)}`];
    }
  });
}

/** Asks the indexers for problems. Their checks need to write, so a read-only store reports none. */
async function askIndexers({ writer }: VerifyEnvironment, { signal }: Call): Promise<readonly string[]> {
  try {
    await writer.ready({}, { signal });
    return await writer.checkIndexers({}, { signal });
  } catch (error) {
    if (isTrunklineError(error, "IO") && error.data?.readOnly === true) return [];
    throw error;
  }
}

async function checkIndex({ env, call, report }: Verification): Promise<number> {
  for (const message of await askIndexers(env, call)) report({ kind: "index", message });
  const { index, truth } = env;
  // Read the entries first: later changes to the content database have a higher sequence number and are skipped.
  const { entries, keywordRows, reached } = index.reading(() => ({
    reached: reachedSeq(index),
    entries: index.all<{ id: number; document: number; version: number; live: number }>("SELECT * FROM entries"),
    keywordRows: new Set(
      index
        .all<{ entry: number }>(`SELECT DISTINCT rowid / ${KEYWORD_ROWS_PER_ENTRY} AS entry FROM keyword`)
        .map((row) => row.entry),
    ),
  }));
  const live = new Map(entries.filter((entry) => entry.live === 1).map((entry) => [entry.document, entry]));
  let checked = 0;
  for (const document of truth.iterate<{ id: number; version: number; path: string; state: string; seq: number }>(
    "SELECT id, version, path, state, seq FROM documents WHERE seq <= ?",
    reached,
  )) {
    call.check();
    checked++;
    const entry = live.get(document.id);
    live.delete(document.id);
    if (document.state === "live" && entry?.version !== document.version) {
      report({ kind: "index", message: `The index does not have the current version of ${document.path}.` });
    } else if (document.state !== "live" && entry !== undefined) {
      report({ kind: "index", message: `The index still shows ${document.path}.` });
    }
  }
  for (const entry of live.values()) {
    const changed = truth.get("SELECT 1 FROM documents WHERE id = ?", entry.document);
    if (changed === undefined)
      report({ kind: "index", message: `The index has an entry of a removed document (${entry.id}).` });
  }
  for (const entry of entries) {
    if (!keywordRows.delete(entry.id))
      report({ kind: "index", message: `Entry ${entry.id} is not in the keyword index.` });
  }
  for (const id of keywordRows)
    report({ kind: "index", message: `The keyword index has rows without an entry (${id}).` });
  return checked;
}
