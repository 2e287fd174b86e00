// Writes content to a path outside the store.
import { realpathSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type FileLimits, placeFileSync, TrunklineError } from "@trunkline/core";
import { requireUnmoved } from "../engine/files/guard.js";
import { type ContentRow, readChunks } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import type { Call } from "../engine/threads/rpc.js";

/**
 * Writes the content completely or not at all, and returns the real path. With limits, only creates a new file: nothing
 * that exists is replaced, and a link in the last part of the path is not followed.
 */
export function writeOutput(
  db: Db,
  content: ContentRow,
  { path, limits, call }: { path: string; limits: FileLimits | undefined; call: Call },
): string {
  const wanted = resolve(path);
  const target = join(realpathSync(dirname(wanted)), basename(wanted));
  requireUnmoved(path, target, limits);
  const isPlaced = placeFileSync(
    target,
    (file) => {
      for (const chunk of readChunks(db, content, call.check)) writeSync(file, chunk);
    },
    { overwrite: limits === undefined },
  );
  if (isPlaced) return target;
  throw new TrunklineError("INVALID_ARGUMENT", `${path} already exists, and get does not replace files.`, {
    hint: "Choose another name, or use `restore` with `overwrite`.",
    data: { parameter: "outputPath" },
  });
}
