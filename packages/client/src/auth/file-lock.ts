// A lock between processes that its holder's death does not leave behind. Node has no flock, and removing somebody else's
// lock file is a race: between the look and the removal it may have become a third one's. So nothing is ever taken away.
// A lock is a row of numbered files, and whoever makes the highest number, which only one can, holds it. The highest one
// stays when it is released, marked as free; the next holder makes the number after it and clears away the old ones.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { isAbsent, parseJson, sleep, systemCodeOf, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { z } from "zod";

/** How a lock is waited for. */
interface LockOptions {
  signal?: AbortSignal | undefined;
  /** How long to wait for others. Default 60 s. */
  timeoutMs?: number;
}

/** What the work under a lock gets. */
interface HeldLock {
  /** Rejects where the lock has been taken over meanwhile, because this process seemed to be dead. Ask before writing. */
  check(): Promise<void>;
}

/** A holder that has not let go after this time counts as dead: its process number may be another program's by now. */
const MAX_HELD_MS = 60_000;

const DEFAULT_TIMEOUT_MS = 60_000;

const POLL_MS = 25;

/** How many old numbers are left lying: a reader of the folder must not miss the highest while it is being replaced. */
const KEPT = 3;

const holderSchema = z.object({ pid: z.number(), host: z.string(), sinceMs: z.number(), free: z.boolean() });

/** Runs `work` while no other process, and no other caller in this one, runs something under the same path. */
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
        throw new TrunklineError("IO", `The lock ${path} was lost to another process.`, { retryable: true });
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
      throw new TrunklineError("TIMEOUT", `Another process has held ${path} for too long.`, {
        hint: "Is another trunkline still signing in? End it, and try again.",
      });
    }
    // Not all at once when it becomes free.
    await sleep(POLL_MS + Math.random() * POLL_MS, signal);
  }
}

/** Makes the numbered file, whole from the start. False where another was faster. */
async function claim(path: string, number: number): Promise<boolean> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.draft`;
  await writeFile(draft, holderText(false), { mode: 0o600 });
  try {
    await link(draft, numbered(path, number));
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    // Some file systems have no links. The file is empty for a moment then, and counts as held.
    if (!isLinkless(error)) throw error;
    if (!(await createExclusively(numbered(path, number)))) return false;
  } finally {
    await rm(draft, { force: true });
  }
  // Somebody who was slow may have made a number that was used and cleared away long ago.
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
    // Cleared away: there is a higher one, and claiming the next number will fail or be noticed.
    if (isAbsent(error)) return true;
    throw error;
  }
  const holder = holderSchema.safeParse(parseJson(text));
  // Half written, or its writer died over it.
  if (!holder.success) return Date.now() - (await changedAtMs(numbered(path, number))) > MAX_HELD_MS;
  const { pid, host, sinceMs, free } = holder.data;
  if (free || Date.now() - sinceMs > MAX_HELD_MS) return true;
  return host === hostname() && !isRunning(pid);
}

async function changedAtMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return Date.now();
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It may be there and belong to another user.
    return systemCodeOf(error) === "EPERM";
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
