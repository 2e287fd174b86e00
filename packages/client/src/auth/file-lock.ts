// A lock between processes that survives the death of its holder. Node has no flock, and removing another process's
// lock file is a race: between the check and the removal, the file may already belong to a third process. So no lock is
// ever removed. A lock is a series of numbered files, and only one process can create each number. The process that
// creates the highest number holds the lock. On release that file stays, marked as free; the next holder creates the
// following number and deletes the old ones.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import {
  isAbsent,
  isRecord,
  isRunning,
  isString,
  parseJson,
  sleep,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";

interface LockOptions {
  signal?: AbortSignal;
  /** How long to wait for the lock. Default: 60 s. */
  timeoutMs?: number;
}

/** Passed to the work under a lock. */
export interface HeldLock {
  /** Rejects if another process has taken over the lock because this process seemed dead. Call it before writing. */
  check(): Promise<void>;
}

/** A holder that has not released the lock after this time counts as dead: its pid may have been reused. */
const MAX_HELD_MS = 60_000;

const DEFAULT_TIMEOUT_MS = 60_000;

const POLL_MS = 25;

/** How many old numbers to keep: a reader of the folder must not miss the highest one while it is being replaced. */
const KEPT = 3;

interface Holder {
  pid: number;
  host: string;
  sinceMs: number;
  free: boolean;
}

/** Runs `work` while no other process, and no other caller in this process, holds the lock at the same path. */
export async function withFileLock<T>(
  path: string,
  work: (lock: HeldLock) => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const number = await acquire(path, options);
  try {
    return await work({
      async check() {
        if ((await highest(path)) === number) return;
        throw new TrunklineError("IO", `Another process took over the lock ${path}.`, { retryable: true });
      },
    });
  } finally {
    await release(path, number);
  }
}

async function acquire(path: string, { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: LockOptions): Promise<number> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const untilMs = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const last = await highest(path);
    if (last === 0 || (await isFree(path, last))) {
      if (await claim(path, last + 1)) return last + 1;
      continue;
    }
    if (Date.now() > untilMs) {
      throw new TrunklineError("TIMEOUT", `Timed out waiting for the lock ${path}: another process still holds it.`, {
        hint: "If another trunkline is still signing in, stop it and try again.",
      });
    }
    // Random, so waiters do not all retry at once when the lock becomes free.
    await sleep(POLL_MS + Math.random() * POLL_MS, signal);
  }
}

/** Creates the numbered file with its content in one step. Returns false if another process was faster. */
async function claim(path: string, number: number): Promise<boolean> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.draft`;
  await writeFile(draft, holderText(false), { mode: 0o600 });
  try {
    await link(draft, numbered(path, number));
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    // Some file systems do not support links. The file is then empty for a moment, and counts as held.
    if (!isLinkless(error)) throw error;
    if (!(await createExclusively(numbered(path, number)))) return false;
  } finally {
    await rm(draft, { force: true });
  }
  // A slow process may have created a number that was used and deleted long ago.
  if ((await highest(path)) !== number) {
    await rm(numbered(path, number), { force: true });
    return false;
  }
  for (const old of await numbersOf(path)) if (old <= number - KEPT) await rm(numbered(path, old), { force: true });
  return true;
}

async function release(path: string, number: number): Promise<void> {
  await writeFileAtomically(numbered(path, number), holderText(true), { mode: 0o600, flush: false });
}

async function isFree(path: string, number: number): Promise<boolean> {
  let text: string;
  try {
    text = await readFile(numbered(path, number), "utf8");
  } catch (error) {
    // Deleted: a higher number exists, and claiming the next one will fail or be noticed.
    if (isAbsent(error)) return true;
    throw error;
  }
  const holder = parseJson(text);
  // Partially written, or its writer died while writing.
  if (!isHolder(holder)) return Date.now() - (await changedAtMs(numbered(path, number))) > MAX_HELD_MS;
  const { pid, host, sinceMs, free } = holder;
  if (free || Date.now() - sinceMs > MAX_HELD_MS) return true;
  return host === hostname() && !isRunning(pid);
}

function isHolder(value: unknown): value is Holder {
  if (!isRecord(value) || !isString(value.host) || typeof value.free !== "boolean") return false;
  return Number.isFinite(value.pid) && Number.isFinite(value.sinceMs);
}

async function changedAtMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return Date.now();
    throw error;
  }
}

async function highest(path: string): Promise<number> {
  return Math.max(0, ...(await numbersOf(path)));
}

async function numbersOf(path: string): Promise<number[]> {
  const prefix = `${basename(path)}.`;
  return (await readdir(dirname(path)))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
}

function numbered(path: string, number: number): string {
  return join(dirname(path), `${basename(path)}.${number}`);
}

function holderText(free: boolean): string {
  return JSON.stringify({ pid: process.pid, host: hostname(), sinceMs: Date.now(), free });
}

async function createExclusively(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(holderText(false), "utf8");
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

function isLinkless(error: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(systemCodeOf(error) ?? "");
}
