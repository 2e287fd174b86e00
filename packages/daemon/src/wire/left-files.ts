// Files in the broker's folder that belong to one process for a moment: a process that is killed leaves them.
import { readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { startOf } from "./start-lock.js";

/** A socket before it is renamed, a lock before it is linked or after it is taken away, a record before it is renamed. */
const LEFT = /^(?:b(\d+)\.sock|broker\.lock\.(?:old\.)?(\d+)|broker\.groups\.(\d+)\.new)$/;

/** Removes what processes that have ended have left in the folder. Does nothing on systems that do not list processes. */
export function removeLeftFiles(folder: string): void {
  if (startOf(process.pid) === "") return;
  for (const name of readdirSync(folder)) {
    const pid = LEFT.exec(name)
      ?.slice(1)
      .find((part) => part !== undefined);
    if (pid === undefined || startOf(Number(pid)) !== "") continue;
    try {
      unlinkSync(join(folder, name));
    } catch {
      // Another process was faster, or the folder cannot be written: they do no harm.
    }
  }
}
