// Writes content to a path outside the store.
import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type FileLimits, isFolderSync, realPathOf, TrunklineError } from "@trunkline/core";
import { requireUnmoved } from "../engine/files/guard.js";
import { OutputFolder } from "./output-folder.js";

/**
 * Writes the content completely or not at all, and returns the real path. Creates missing folders. With limits, only
 * creates a new file: nothing that exists is replaced, and no link below the folder that was checked is followed.
 */
export function writeOutput(
  chunks: () => Iterable<Uint8Array>,
  { path, limits }: { path: string; limits: FileLimits | undefined },
): string {
  const wanted = resolve(path);
  const target = join(realPathOf(dirname(wanted)), basename(wanted));
  requireUnmoved(path, target, limits);
  const existing = nearestExisting(dirname(target));
  if (!isFolderSync(existing)) throw refusal(`${existing} is not a folder.`);
  const folder = OutputFolder.make(existing);
  try {
    if (limits !== undefined) requireUnmoved(path, join(folder.realPath, relative(existing, target)), limits);
    const overwrite = limits === undefined;
    const outcome = folder.write(relative(existing, target).split(sep).join("/"), {
      overwrite,
      refusal: (there) => (there !== undefined && !overwrite ? EXISTS : undefined),
      chunks,
    });
    if (outcome === "restored") return target;
    if (outcome === "a part of its path is not a folder") throw refusal(`${dirname(target)} is not a folder.`);
    throw refusal(`${path} already exists, and get does not replace ${overwrite ? "folders" : "files"}.`);
  } finally {
    folder.close();
  }
}

const EXISTS = "it exists";

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));
}

function refusal(message: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message, {
    hint: "Choose another name, or use `restore` with `overwrite`.",
    data: { parameter: "outputPath" },
  });
}
