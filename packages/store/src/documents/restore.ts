// `restore`: writes files byte for byte, with modes and times. Nothing is written outside the output folder.
import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type FileLimits, isSensitiveToWrite, isWithin, realPathOf, TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { RestoreParams, RestoreResult } from "../contract/index.js";
import { compileGlobs } from "../engine/files/glob.js";
import { Guard, type GuardedPaths, requireUnmoved } from "../engine/files/guard.js";
import { OutputFolder } from "./output-folder.js";

/** A document to restore. */
export interface RestoredDocument {
  readonly path: string;
  readonly root: string | null;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly hash: string;
  readonly size: number;
}

/** Where the contents come from. */
interface RestoreSource<D extends RestoredDocument> {
  /** The store's own folder, which is never written to. */
  readonly folder: string;
  readonly documents: readonly D[];
  /** Reads a content, verified. */
  open(document: D): Iterable<Uint8Array> | Promise<Iterable<Uint8Array>>;
  /** Whether the store has the content with this hash. */
  has(hash: string): boolean | Promise<boolean>;
}

/** Parameters of `restore` as the reader receives them: the folder is absolute. */
export interface ResolvedRestoreParams extends RestoreParams {
  readonly guarded: GuardedPaths;
  readonly limits?: FileLimits;
}

/** Conflicts that the user's permission resolves. */
const OBEYED = "other programs execute or obey this file, so writing it needs the user's permission";
const UNSAVED = "the file there is not in the store, so replacing it needs the user's permission";

/** How long to work before other calls get a turn. */
const TURN_MS = 20;
/** A larger file is not hashed to find out whether the store has it. */
const MOST_HASHED_BYTES = 16 * 1024 * 1024;

/** Throws unless the parameters say what to restore. */
export function requireRestorable(params: RestoreParams): void {
  if (params.collection !== undefined || params.snapshotId !== undefined) return;
  throw new TrunklineError("INVALID_ARGUMENT", "restore needs a collection or a snapshot_id.");
}

export async function restoreFrom<D extends RestoredDocument>(
  source: RestoreSource<D>,
  params: ResolvedRestoreParams,
  call: Call,
): Promise<RestoreResult> {
  const { limits } = params;
  const rows = source.documents;
  const included = params.includePatterns?.length ? compileGlobs(params.includePatterns) : () => true;
  const excluded = compileGlobs(params.excludePatterns);
  const conflicts: { path: string; reason: string }[] = [];
  const paths: string[] = [];
  const requireSamePlace = (real: string) => requireUnmoved(params.outputDirectory, real, limits);
  requireSamePlace(realPathOf(params.outputDirectory));
  const output = params.dryRun ? undefined : OutputFolder.make(params.outputDirectory);
  let skipped = 0;
  let done = 0;
  let turnEndsAt = Date.now() + TURN_MS;
  try {
    const { guarded } = params;
    const guard = new Guard({ ...guarded, unwritable: [...(guarded.unwritable ?? []), source.folder] });
    const folder = output?.realPath ?? realPathOf(params.outputDirectory);
    requireSamePlace(folder);
    const approved = limits?.approved === undefined ? undefined : new Set(limits.approved);
    for (const [row, target] of targetsOf(rows)) {
      call.check();
      if (target === undefined) {
        if (approved === undefined) conflicts.push({ path: row.path, reason: "its name would escape the folder" });
        continue;
      }
      const path = join(folder, target);
      if (approved !== undefined && !approved.has(path)) continue;
      if (!included(target) || excluded(target)) {
        skipped++;
        continue;
      }
      const refused = guard.refusal(target, folder);
      if (refused !== undefined) {
        conflicts.push({ path: target, reason: refused });
        continue;
      }
      const stored = await storedThere(source, path, params);
      const isObeyed = limits !== undefined && approved === undefined && isObeyedAt(path, folder, limits);
      const refusal = (existing: string | undefined) => {
        const there = existing === undefined ? undefined : existingHash(existing, row, params);
        if (there === row.hash) return "same";
        if (existing !== undefined && !params.overwrite) return "a different file exists there";
        if (isObeyed) return OBEYED;
        if (limits === undefined || approved !== undefined || there === undefined) return undefined;
        return there === stored ? undefined : UNSAVED;
      };
      const chunks = output === undefined ? [] : await source.open(row);
      const outcome = place(row, { target, output, params, refusal, chunks, stored });
      if (outcome === "restored") paths.push(target);
      else if (outcome === "same") skipped++;
      else conflicts.push({ path: target, reason: outcome });
      if (++done % 100 === 0) call.progress({ progress: done, total: rows.length, message: target });
      if (Date.now() < turnEndsAt) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turnEndsAt = Date.now() + TURN_MS;
    }
  } finally {
    output?.close();
  }
  const unapproved = conflicts.filter(({ reason }) => reason === OBEYED || reason === UNSAVED).map(({ path }) => path);
  return {
    restored: paths.length,
    skipped,
    conflicts,
    ...(params.dryRun ? { paths } : {}),
    ...(unapproved.length > 0 ? { unapproved } : {}),
  };
}

/** Whether other programs would execute or obey a file at this path. */
function isObeyedAt(path: string, folder: string, { outputRoot = folder, obeyed = [] }: FileLimits): boolean {
  return isSensitiveToWrite(relative(outputRoot, path)) || obeyed.some((hooks) => isWithin(path, hooks));
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
  row: RestoredDocument,
  {
    target,
    output,
    params,
    refusal,
    chunks,
    stored,
  }: {
    target: string;
    output: OutputFolder | undefined;
    params: RestoreParams;
    refusal: (existing: string | undefined) => string | undefined;
    chunks: Iterable<Uint8Array>;
    stored: string | undefined;
  },
): "restored" | "same" | (string & {}) {
  if (output === undefined) {
    const path = `${params.outputDirectory}/${target}`;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile()) return "something other than a file exists there";
    return refusal(stats === undefined ? undefined : path) ?? "restored";
  }
  return output.write(target, {
    overwrite: params.overwrite ?? false,
    mode: row.mode ?? 0o644,
    mtimeUs: row.mtime ?? undefined,
    refusal,
    chunks: () => chunks,
    // Like cp, does not wait for the disk: what is restored is still in the store. But a file that is replaced may be the
    // only copy of its content, and must not be lost in a power cut.
    flush: (existing) => existing !== undefined && (stored === undefined || hashOf(existing) !== stored),
  });
}

/**
 * Returns the hash of the file that is there, if the store has its content and the file may be replaced. A file that
 * takes its place later has another hash, and counts as not stored.
 */
async function storedThere(
  source: Pick<RestoreSource<RestoredDocument>, "has">,
  path: string,
  { overwrite, limits }: ResolvedRestoreParams,
): Promise<string | undefined> {
  const stats = overwrite ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
  if (stats?.isFile() !== true || (limits === undefined && stats.size > MOST_HASHED_BYTES)) return undefined;
  const hash = hashOf(path);
  return (await source.has(hash)) ? hash : undefined;
}

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Returns the hash of an existing file; empty if its size shows that it differs and nothing else depends on it. */
function existingHash(path: string, { size }: RestoredDocument, { limits, overwrite }: ResolvedRestoreParams): string {
  const isHashNeeded = limits !== undefined && overwrite === true;
  if (!isHashNeeded && lstatSync(path).size !== size) return "";
  return hashOf(path);
}
