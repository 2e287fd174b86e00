// Lets one of several processes start the broker. The lock is a file that names its owner; a lock whose owner has ended
// is taken over.
import { linkSync, lstatSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";

/** Takes the lock. Returns a function that releases it, or undefined if a living process holds it. */
export function takeStartLock(path: string): (() => void) | undefined {
  const own = `${process.pid} ${startOf(process.pid)}`;
  const mine = `${path}.${process.pid}`;
  // Never follows a link that was put there.
  rmFile(mine);
  writeFileSync(mine, own, { flag: "wx", mode: 0o600 });
  try {
    if (!tryLink(mine, path) && !(removeStale(path) && tryLink(mine, path))) return undefined;
    return () => {
      if (readOwner(path) === own) rmFile(path);
    };
  } finally {
    rmFile(mine);
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes the lock of a process that has ended. Two processes that do this at once do not remove each other's lock. */
function removeStale(path: string): boolean {
  const owner = readOwner(path);
  if (owner !== undefined && isAlive(owner)) return false;
  const aside = `${path}.old.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
  const moved = readOwner(aside);
  // Someone else has replaced the stale lock by their own meanwhile: give it back.
  if (moved !== undefined && moved !== owner && isAlive(moved)) tryLink(aside, path);
  rmFile(aside);
  return moved === owner;
}

function readOwner(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether the process that wrote this is still the one with its number. */
export function isAlive(owner: string): boolean {
  const [pid = "", start = ""] = owner.split(" ");
  if (!/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return startOf(Number(pid)) === start;
}

/** The kernel's flag for a process that is ending: its sockets may be closed, but it is not a zombie yet. */
const EXITING = 0x4;

/**
 * When a process started, in ticks since boot: numbers of processes are reused. Empty if it has ended or is ending, even
 * if its parent has not noticed, and if the system does not say.
 */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything, so fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const isEnding = fields[0] === "Z" || (Number(fields[6]) & EXITING) !== 0;
    return isEnding ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

function rmFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
