// Applies a watcher's findings to the store: adds existing files and marks missing ones as removed.
import { lstatSync, realpathSync } from "node:fs";
import { dirname, sep } from "node:path";
import { isAbsent, isFolderSync, isSensitiveToRead } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { FileProblem, WatchedChange } from "../contract/index.js";
import { isStoreFailure, takeFile } from "../documents/add.js";
import type { DocumentMover } from "../documents/change.js";
import { DocumentBatcher } from "../documents/document-batch.js";
import type { DocumentTarget } from "../documents/document-target.js";
import { targetOf } from "../documents/embedded-target.js";
import { isPrivateKeyError } from "../documents/file-content.js";
import { problemText } from "../documents/walk.js";
import { Guard, type GuardedPaths } from "../engine/files/guard.js";
import { hasIgnoreFile, isLarge } from "../engine/files/left-out.js";

/** Paths below one watched root that may have changed. */
export interface TakeChangesParams {
  readonly root: string;
  /** Where the root led when it was watched. A link that takes its place later is not followed. */
  readonly realRoot: string;
  readonly paths: readonly string[];
  readonly collection: string;
  readonly session: string | undefined;
  readonly guarded: GuardedPaths;
}

interface TakenChanges {
  readonly files: number;
  readonly removed: number;
  readonly changes: readonly WatchedChange[];
  readonly problems: readonly FileProblem[];
}

export function takeChanges(env: DocumentMover, params: TakeChangesParams, call: Call): Promise<TakenChanges> {
  return takeChangesTo(targetOf(env), params, call);
}

/** Checks the current state of each path; intermediate states do not matter. */
export async function takeChangesTo(env: DocumentTarget, params: TakeChangesParams, call: Call): Promise<TakenChanges> {
  const { root, realRoot, collection, session } = params;
  const problems: FileProblem[] = [];
  const gone: string[] = [];
  const mayTake = filterOf(realRoot, new Guard(params.guarded));
  const batcher = new DocumentBatcher(
    env,
    { collection, tags: [], metadata: {}, session },
    call,
    isFolderSync(root) ? root : dirname(root),
  );
  const { versionAt, liveAt } = env.questions;
  const before = new Map<string, number | undefined>();
  for (const path of params.paths) before.set(path, await versionAt(collection, path));
  for (const path of params.paths) {
    call.check();
    try {
      const source = realpathSync(path);
      const stats = lstatSync(source);
      if (stats.isFile() && mayTake(source, stats.size)) {
        const file = { path, source, size: stats.size, known: undefined, isNamed: source === realRoot };
        await takeFile(env, batcher, file, call);
      }
    } catch (error) {
      if (isAbsent(error) || isPrivateKeyError(error)) gone.push(path);
      else if (isStoreFailure(error)) throw error;
      else problems.push({ path, message: problemText(error) });
    }
  }
  const { added, changed } = await batcher.finish();
  const lost = (await Promise.all(gone.map((path) => liveAt(collection, path)))).flat();
  const ids = lost.map((document) => document.id);
  const removed = ids.length === 0 ? 0 : (await env.writer.removeDocuments({ ids, session })).removed;
  const changes: WatchedChange[] = lost.map(({ path }) => ({ path, change: "removed" }));
  for (const [path, version] of before) {
    const now = await versionAt(collection, path);
    if (now !== undefined && now !== version)
      changes.push({ path, change: version === undefined ? "added" : "changed" });
  }
  return { files: added + changed, removed, changes, problems };
}

/**
 * Returns a test for files below a watched folder: the same files as `add` takes from it. A file that is watched itself
 * is always taken. Links must be resolved.
 */
function filterOf(realRoot: string, guard: Guard): (path: string, sizeBytes: number) => boolean {
  const skipLarge = !hasIgnoreFile(realRoot);
  return (path, sizeBytes) => {
    if (guard.leavesOut(path, realRoot)) return false;
    if (path === realRoot) return true;
    if (!path.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) return false;
    return !isSensitiveToRead(path) && !(skipLarge && isLarge(sizeBytes));
  };
}
