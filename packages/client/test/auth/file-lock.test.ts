import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withFileLock } from "../../src/auth/file-lock.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a lock file as its holder would. */
function held(number: number, holder: { pid: number; host?: string; sinceMs?: number }): void {
  const text = JSON.stringify({ host: hostname(), sinceMs: Date.now(), free: false, ...holder });
  writeFileSync(join(folder, `a.lock.${number}`), text);
}

/** Returns the pid of a process that has exited. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid ?? 0;
}

describe("file lock between processes", () => {
  it("admits one holder at a time, and every waiter eventually", async () => {
    const path = join(folder, "a.lock");
    let inside = 0;
    let most = 0;
    let done = 0;
    await Promise.all(
      Array.from({ length: 25 }, () =>
        withFileLock(path, async () => {
          inside++;
          most = Math.max(most, inside);
          await new Promise(setImmediate);
          inside--;
          done++;
        }),
      ),
    );
    expect({ most, done }).toEqual({ most: 1, done: 25 });
    expect(readdirSync(folder).length).toBeLessThanOrEqual(4);
  });

  it("is released when the work throws", async () => {
    const path = join(folder, "a.lock");
    await expect(withFileLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withFileLock(path, async () => "in")).toBe("in");
  });

  it("is taken over from a dead process by exactly one waiter", async () => {
    held(7, { pid: await deadPid() });
    const path = join(folder, "a.lock");
    let inside = 0;
    const seen = await Promise.all(
      Array.from({ length: 8 }, () =>
        withFileLock(path, async () => {
          inside++;
          await new Promise(setImmediate);
          return inside--;
        }),
      ),
    );
    expect(seen).toEqual(Array(8).fill(1));
  });

  it("is taken over if the holder's pid now belongs to another program", async () => {
    held(1, { pid: process.pid, sinceMs: Date.now() - 120_000 });
    expect(await withFileLock(join(folder, "a.lock"), async () => "in")).toBe("in");
  });

  it("waits for a holder on another machine until cancelled or timed out", async () => {
    held(1, { pid: 1, host: "elsewhere" });
    const path = join(folder, "a.lock");
    await expect(withFileLock(path, async () => "in", { timeoutMs: 60 })).rejects.toMatchObject({ code: "TIMEOUT" });
    const reason = new Error("enough");
    await expect(withFileLock(path, async () => "in", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("fails the check of a holder whose lock was taken over", async () => {
    const path = join(folder, "a.lock");
    await withFileLock(path, async (lock) => {
      await lock.check();
      held(2, { pid: process.pid });
      await expect(lock.check()).rejects.toMatchObject({ code: "IO" });
    });
  });
});
