// `restore`: writes files byte for byte, with modes and times. Nothing is written outside the output folder.
import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { realPathOf, TrunklineError } from "@trunkline/core";
import type { RestoreParams, RestoreResult } from "../contract/index.js";
import { compileGlobs } from "../engine/files/glob.js";
import { Guard } from "../engine/files/guard.js";
import { type ContentRow, hexOf, readChunks } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { selectDocuments } from "../engine/sqlite/filters.js";
import type { Call } from "../engine/threads/rpc.js";
import type { MoveEnvironment } from "../engine/threads/thread-context.js";
import { OutputFolder } from "./output-folder.js";

interface RestoredRow {
  readonly path: string;
  readonly root: string | null;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly content: number;
  readonly hash: Uint8Array;
  readonly size: number;
  readonly type: "text" | "binary";
}

export async function restore(env: MoveEnvironment, params: RestoreParams, call: Call): Promise<RestoreResult> {
  const { truth } = env;
  const rows = documentsOf(truth, params);
  const included = params.includePatterns?.length ? compileGlobs(params.includePatterns) : () => true;
  const excluded = compileGlobs(params.excludePatterns);
  const conflicts: { path: string; reason: string }[] = [];
  const paths: string[] = [];
  const output = params.dryRun ? undefined : OutputFolder.make(params.outputDirectory);
  const guard = new Guard(env.guarded);
  const folder = realPathOf(params.outputDirectory);
  let skipped = 0;
  let done = 0;
  try {
    for (const [row, target] of targetsOf(rows)) {
      call.check();
      if (target === undefined) {
        conflicts.push({ path: row.path, reason: "its name would escape the folder" });
        continue;
      }
      if (!included(target) || excluded(target)) {
        skipped++;
        continue;
      }
      const outcome = guard.refusal(target, folder) ?? place(truth, row, { target, output, params, call });
      if (outcome === "restored") paths.push(target);
      else if (outcome === "same") skipped++;
      else conflicts.push({ path: target, reason: outcome });
      if (++done % 100 === 0) {
        call.progress({ progress: done, total: rows.length, message: target });
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  } finally {
    output?.close();
  }
  return { restored: paths.length, skipped, conflicts, ...(params.dryRun ? { paths } : {}) };
}

function documentsOf(truth: Db, params: RestoreParams): RestoredRow[] {
  if (params.collection === undefined && params.snapshotId === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "restore needs a collection or a snapshot_id.");
  }
  const selection = selectDocuments(truth, { collection: params.collection, snapshot: params.snapshotId });
  return truth.all<RestoredRow>(
    `SELECT d.path, d.root, v.mode, v.mtime, c.id AS content, c.hash, c.size, c.type FROM ${selection.from}
     WHERE ${selection.where} ORDER BY d.path`,
    ...selection.values,
  );
}

/** Returns the target of each document. Roots are stripped; if two targets collide, the root names keep them apart. */
export function targetsOf<R extends { path: string; root: string | null }>(
  rows: readonly R[],
): [R, string | undefined][] {
  const plain = rows.map((row) => safeRelative(withoutRoot(row)));
  const counts = new Map<string, number>();
  for (const target of plain) if (target !== undefined) counts.set(target, (counts.get(target) ?? 0) + 1);
  const taken = new Set<string>();
  return rows.map((row, position) => {
    const target = plain[position];
    if (target === undefined) return [row, undefined];
    const wanted =
      (counts.get(target) ?? 0) > 1 && row.root !== null ? safeRelative(`${rootName(row.root)}/${target}`) : target;
    let free = wanted ?? target;
    for (let number = 2; taken.has(free); number++) free = `${wanted ?? target}-${number}`;
    taken.add(free);
    return [row, free];
  });
}

function withoutRoot({ path, root }: { path: string; root: string | null }): string {
  if (root === null) return path;
  const prefix = root.endsWith("/") ? root : `${root}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function rootName(root: string): string {
  return root.split("/").findLast((part) => part !== "") ?? "root";
}

/** Returns a path that stays inside the folder, or `undefined`. */
function safeRelative(path: string): string | undefined {
  const parts = path
    .replace(/^[A-Za-z]:/, "")
    .split(/[\\/]+/)
    .filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 || parts.some((part) => part === ".." || part.includes("\0"))) return undefined;
  return parts.join("/");
}

function place(
  truth: Db,
  row: RestoredRow,
  {
    target,
    output,
    params,
    call,
  }: { target: string; output: OutputFolder | undefined; params: RestoreParams; call: Call },
): "restored" | "same" | (string & {}) {
  const content: ContentRow = { id: row.content, hash: row.hash, size: row.size, type: row.type };
  if (output === undefined) {
    const there = existing(`${params.outputDirectory}/${target}`, row);
    if (there === "free") return "restored";
    return there === "same" ? "same" : params.overwrite && there === "other" ? "restored" : conflictText(there);
  }
  return output.write(target, {
    overwrite: params.overwrite ?? false,
    mode: row.mode ?? 0o644,
    mtimeUs: row.mtime ?? undefined,
    isSame: (path) => existing(path, row) === "same",
    chunks: () => readChunks(truth, content, call.check),
  });
}

/** Checks what already exists at the target. */
function existing(path: string, row: RestoredRow): "free" | "same" | "other" | "not-a-file" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "free";
  if (!stats.isFile()) return "not-a-file";
  if (stats.size !== row.size) return "other";
  const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
  return hash === hexOf(row.hash) ? "same" : "other";
}

function conflictText(there: "other" | "not-a-file"): string {
  return there === "other" ? "a different file exists there" : "something other than a file exists there";
}
