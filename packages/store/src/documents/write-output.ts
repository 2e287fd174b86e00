// Writing one content to a place outside the store, where the server was told that this is allowed.
import { realpathSync, writeSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { placeFileSync, TrunklineError } from "@trunkline/core";
import { type ContentRow, readChunks } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import type { Call } from "../engine/threads/rpc.js";

/** Writes the content whole or not at all; answers the real path. Refuses a path outside the allowed folders. */
export function writeOutput(
  db: Db,
  content: ContentRow,
  { path, allowWrite = [], call }: { path: string; allowWrite?: readonly string[] | undefined; call: Call },
): string {
  const wanted = resolve(path);
  const folder = realpathSync(dirname(wanted));
  const target = join(folder, basename(wanted));
  if (!allowWrite.some((allowed) => isInside(realpathSync(allowed), target))) {
    throw new TrunklineError("INVALID_ARGUMENT", `get may not write to ${path}.`, {
      hint: "Use restore, or start the server with --allow-write and the folder.",
    });
  }
  placeFileSync(target, (file) => {
    for (const chunk of readChunks(db, content, call.check)) writeSync(file, chunk);
  });
  return target;
}

/** Whether `path` lies within `folder`; both absolute and free of links. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(folder, way) === path;
}
