import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCodeOf } from "@trunkline/core";

/**
 * Makes a folder and those above it, for the user's eyes only. Not `recursive`: Node goes on for ever where a file system,
 * such as /proc, answers ENOENT to what cannot be made in it.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || (await exists(dirname(folder)))) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder);
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
