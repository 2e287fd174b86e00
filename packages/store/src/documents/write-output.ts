// Writes content to a path outside the store, if the server allows it.
import { realpathSync, writeSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { placeFileSync, TrunklineError } from "@trunkline/core";
import { type ContentRow, readChunks } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import type { Call } from "../engine/threads/rpc.js";

/**
 * Writes the content completely or not at all, and returns the real path. Rejects a path outside the allowed folders.
 */
export function writeOutput(
  db: Db,
  content: ContentRow,
  { path, allowWrite = [], call }: { path: string; allowWrite?: readonly string[] | undefined; call: Call },
): string {
  const wanted = resolve(path);
  const folder = realpathSync(dirname(wanted));
  const target = join(folder, basename(wanted));
  if (!allowWrite.some((allowed) => isInside(realpathSync(allowed), target))) {
    throw new TrunklineError("INVALID_ARGUMENT", `get is not allowed to write to ${path}.`, {
      hint: "Use restore, or start the server with --allow-write and the folder.",
    });
  }
  placeFileSync(target, (file) => {
    for (const chunk of readChunks(db, content, call.check)) writeSync(file, chunk);
  });
  return target;
}

/** Whether `path` is inside `folder`. Both must be absolute, with links resolved. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path;
}
