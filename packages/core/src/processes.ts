import { systemCodeOf } from "./errors.js";

/** Whether a process has this number: the one that was meant, or a later one. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another user.
    return systemCodeOf(error) === "EPERM";
  }
}

/** Quotes a word for a POSIX shell if it needs it. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
