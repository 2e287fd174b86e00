// `add`: adds files, folders or inline content to any engine. Reads, hashes, chunks and compresses in a thread of its own;
// the engine only stores.
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type FileLimits, isTrunklineError, realPathOf, TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { AddParams, AddResult, FileProblem } from "../contract/index.js";
import { metadataObject, tagList } from "../contract/params.js";
import { prepareContent } from "../engine/content/prepare.js";
import { Guard, type GuardedPaths, requireUnmoved } from "../engine/files/guard.js";
import { hasIgnoreFile, type LeftOut } from "../engine/files/left-out.js";
import { worthSending } from "../engine/writing/store-content.js";
import { type Batch, DocumentBatcher } from "./document-batch.js";
import type { DocumentTarget, KnownFile } from "./document-target.js";
import { factsOf, isPrivateKeyError, readSmallFile, uploadLargeFile, WHOLE_FILE_BYTES } from "./file-content.js";
import { problemText, walk } from "./walk.js";

/** Parameters of `add` as the mover receives them: paths are absolute, content is bytes. */
export interface ResolvedAddParams extends Omit<AddParams, "path" | "paths" | "content"> {
  readonly paths?: readonly string[];
  readonly content?: Uint8Array;
  readonly session?: string;
  readonly limits?: FileLimits;
  readonly guarded: GuardedPaths;
}

export async function addTo(env: DocumentTarget, params: ResolvedAddParams, call: Call): Promise<AddResult> {
  const batch: Batch = {
    collection: params.collection ?? "default",
    tags: tagList(params.tags),
    metadata: metadataObject(params.metadata),
    session: params.session,
  };
  if (params.content !== undefined) return addInline(env, batch, params, call);
  const results: TakenPath[] = [];
  for (const path of params.paths ?? []) results.push(await addPath(env, batch, { ...params, path }, call));
  const [only] = results;
  const problems = results.flatMap((result) => result.problems ?? []);
  const snapshotted = results.some((result) => result.isFolder) || params.snapshotLabel !== undefined;
  const snapshot = snapshotted
    ? await env.writer.snapshot({ collection: batch.collection, label: params.snapshotLabel, create: true })
    : undefined;
  const sum = (pick: (result: AddResult) => number) => results.reduce((total, result) => total + pick(result), 0);
  const removed = sum((result) => result.removed ?? 0);
  const leftOut = {
    sensitive: sum((result) => result.leftOut?.sensitive ?? 0),
    folders: [...new Set(results.flatMap((result) => result.leftOut?.folders ?? []))],
    large: sum((result) => result.leftOut?.large ?? 0),
  };
  const isAnyLeftOut = leftOut.sensitive + leftOut.folders.length + leftOut.large > 0;
  return {
    hash: results.length === 1 ? (only?.hash ?? null) : null,
    path: results.map((result) => result.path).join(", "),
    size: sum((result) => result.size),
    newBytes: sum((result) => result.newBytes),
    files: sum((result) => result.files),
    skipped: sum((result) => result.skipped),
    ...(removed > 0 ? { removed } : {}),
    ...(isAnyLeftOut ? { leftOut } : {}),
    ...(snapshot === undefined ? {} : { snapshotId: snapshot.id }),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

/** The outcome for one path. */
interface TakenPath extends Omit<AddResult, "snapshotId"> {
  readonly isFolder: boolean;
}

async function addInline(env: DocumentTarget, batch: Batch, params: ResolvedAddParams, call: Call): Promise<AddResult> {
  const { name, content = new Uint8Array(0) } = params;
  if (name === undefined || name.trim() === "" || name.includes("\0")) {
    throw new TrunklineError("INVALID_ARGUMENT", "Inline content needs a name.");
  }
  const batcher = new DocumentBatcher(env, batch, call);
  const prepared = prepareContent(content, env.questions.isStored);
  await batcher.add({ path: name, root: undefined, title: prepared.text?.title, file: undefined }, prepared, () =>
    prepareContent(content, () => false),
  );
  const totals = await batcher.finish();
  const snapshot =
    params.snapshotLabel === undefined
      ? undefined
      : await env.writer.snapshot({ collection: batch.collection, label: params.snapshotLabel });
  return {
    hash: prepared.hash,
    path: name,
    size: content.length,
    newBytes: totals.newBytes,
    files: 1,
    skipped: 0,
    ...(snapshot === undefined ? {} : { snapshotId: snapshot.id }),
  };
}

async function addPath(
  env: DocumentTarget,
  batch: Batch,
  params: ResolvedAddParams & { path: string },
  call: Call,
): Promise<TakenPath> {
  const stats = statSync(params.path);
  requireUnmoved(params.path, realpathSync(params.path), params.limits);
  if (stats.isDirectory()) return addFolder(env, batch, params, call);
  if (!stats.isFile()) throw new TrunklineError("INVALID_ARGUMENT", `${params.path} is neither a file nor a folder.`);
  const batcher = new DocumentBatcher(env, batch, call);
  const taken = await takeFile(env, batcher, { path: params.path, size: stats.size, known: undefined }, call);
  const totals = await batcher.finish();
  return {
    hash: taken.hash,
    path: params.path,
    size: taken.size,
    newBytes: totals.newBytes,
    files: totals.added + totals.changed,
    skipped: totals.added + totals.changed === 0 ? 1 : 0,
    isFolder: false,
  };
}

/** File system timestamps are coarse: a file changed within this time of its last check is read again. */
const RACY_US = 20_000;

async function addFolder(
  env: DocumentTarget,
  batch: Batch,
  params: ResolvedAddParams & { path: string },
  call: Call,
): Promise<TakenPath> {
  const root = params.path;
  const realRoot = realpathSync(root);
  const problems: FileProblem[] = [];
  const leftOut: LeftOut = { sensitive: 0, folders: new Set(), large: 0 };
  const unread = new Set<string>();
  // Written while the folder is walked. The writer handles this before the documents.
  const remembered = env.writer.rememberRoot({ collection: batch.collection, path: root });
  remembered.catch(() => {});
  const known = await env.questions.knownFiles(batch.collection, root);
  const batcher = new DocumentBatcher(env, batch, call, root);
  const unconditional = batch.tags.length > 0 || Object.keys(batch.metadata).length > 0 || batch.session !== undefined;
  let skipped = 0;
  let seen = 0;
  let size = 0;
  let reported = performance.now();
  const walked = walk({
    root,
    realRoot,
    recursive: params.recursive ?? true,
    include: params.include,
    exclude: params.exclude,
    store: realPathOf(env.folder),
    guard: new Guard(params.guarded),
    skipGenerated: params.skipGenerated === true && !hasIgnoreFile(realRoot),
    leftOut,
    onUnread: (path) => unread.add(path),
    onProblem: (problem) => problems.push(problem),
    check: call.check,
  });
  for (const { path, source, stats } of walked) {
    call.check();
    seen++;
    const before = known.get(path);
    known.delete(path);
    if (before !== undefined && !unconditional && isUnchanged(before, factsOf(stats, 0), stats.size)) {
      skipped++;
      size += stats.size;
    } else {
      try {
        const taken = await takeFile(env, batcher, { path, source, size: stats.size, known: before }, call);
        size += taken.size;
      } catch (error) {
        if (isFatal(error)) throw error;
        if (!isPrivateKeyError(error)) problems.push({ path, message: problemText(error) });
        else {
          leftOut.sensitive++;
          // It is removed if it was added before.
          if (before !== undefined) known.set(path, before);
        }
      }
    }
    if (performance.now() - reported > 200) {
      reported = performance.now();
      call.progress({ progress: seen, message: path });
    }
  }
  const totals = await batcher.finish();
  for (const { path } of problems) unread.add(path);
  const removed = await removeMissing(env, batch, { known, unread }, params);
  await remembered;
  const files = totals.added + totals.changed;
  call.progress({ progress: seen, total: seen, message: `${files} files added` });
  return {
    hash: null,
    path: root,
    size,
    newBytes: totals.newBytes,
    files,
    skipped: skipped + (totals.offered - files) + problems.length + leftOut.sensitive + leftOut.large,
    removed,
    isFolder: true,
    leftOut: { ...leftOut, folders: [...leftOut.folders] },
    ...(problems.length > 0 ? { problems } : {}),
  };
}

function isUnchanged(before: KnownFile, now: { mode: number; mtimeUs: number; inode: number }, size: number): boolean {
  return (
    before.size === size &&
    before.mtime === now.mtimeUs &&
    before.inode === now.inode &&
    before.mode === now.mode &&
    before.checked !== null &&
    now.mtimeUs < before.checked - RACY_US
  );
}

/** Reads one file and adds it to the batch. */
export async function takeFile(
  env: DocumentTarget,
  batcher: DocumentBatcher,
  target: { path: string; source?: string; size: number; known: KnownFile | undefined; isNamed?: boolean },
  call: Call,
): Promise<{ hash: string; size: number }> {
  const { path, source = path } = target;
  // A file found in a folder was checked: another file must not take its place through a link.
  const followLinks = target.source === undefined;
  const { isStored } = env.questions;
  const place = { path, root: batcher.root ?? dirname(path) };
  if (target.size > WHOLE_FILE_BYTES) {
    const { file, content, newBytes } = await uploadLargeFile(env, source, { isStored, call, followLinks });
    await batcher.addUploaded({ ...place, title: undefined, file }, content, newBytes);
    return content;
  }
  const known = target.known === undefined ? undefined : await env.questions.knownContent(target.known.id);
  const { file, prepared, size, hash } = readSmallFile(source, {
    isStored,
    followLinks,
    refuseKeys: target.source !== undefined && target.isNamed !== true,
    known: known?.hash,
  });
  if (prepared === undefined && known !== undefined) {
    await batcher.addKnown({ ...place, title: known.title ?? undefined, file }, { hash, size, type: known.type });
  } else if (prepared !== undefined) {
    const again = () =>
      readSmallFile(source, { isStored: () => false, known: undefined, followLinks }).prepared ?? prepared;
    await batcher.add(
      { ...place, title: prepared.text?.title, file },
      { ...prepared, text: worthSending(prepared.text) },
      again,
    );
  }
  return { hash, size };
}

/**
 * Marks documents of this folder as removed if their files were not found, except those that the call did not check.
 */
async function removeMissing(
  env: DocumentTarget,
  batch: Batch,
  found: { known: ReadonlyMap<string, KnownFile>; unread: ReadonlySet<string> },
  params: ResolvedAddParams,
): Promise<number> {
  const partial = params.include?.length || params.exclude?.length || params.recursive === false;
  const ids = [...found.known]
    .filter(([path, file]) => file.inode !== null && !partial && !isAtOrBelow(path, found.unread))
    .map(([, file]) => file.id);
  let removed = 0;
  for (let start = 0; start < ids.length; start += 500) {
    const answer = await env.writer.removeDocuments({
      ids: ids.slice(start, start + 500),
      session: batch.session,
    });
    removed += answer.removed;
  }
  return removed;
}

function isAtOrBelow(path: string, places: ReadonlySet<string>): boolean {
  for (let place = path; places.size > 0; place = dirname(place)) {
    if (places.has(place)) return true;
    if (place === dirname(place)) break;
  }
  return false;
}

/** Whether the store itself failed, not a file. */
export function isStoreFailure(error: unknown): boolean {
  if (!isTrunklineError(error)) return false;
  return error.code === "STORE_UNAVAILABLE" || error.data?.sqlite !== undefined;
}

/** Whether an error ends the whole call, not just one file. */
function isFatal(error: unknown): boolean {
  if (!isTrunklineError(error)) return false;
  return error.code === "ABORTED" || error.code === "CLOSED" || isStoreFailure(error);
}
