// A server is often a tree of processes (npx starts npm starts node). On POSIX each server leads its own process group,
// so that the whole tree can be signalled; on Windows taskkill walks the tree.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { platform } from "node:os";

/** Whether children are started as leaders of their own process group. */
export const USES_PROCESS_GROUPS = platform() !== "win32";

const living = new Set<number>();
let exitHookInstalled = false;
let listener: ProcessTreeListener | undefined;

/** Is told about every tree, to write down what must be ended if this process is killed. */
interface ProcessTreeListener {
  onStarted(leader: number): void;
  onEnded(leader: number): void;
}

/** Sets the one listener of this process. */
export function listenToProcessTrees(given: ProcessTreeListener | undefined): void {
  listener = given;
}

/** Remembers a child process, so that its tree is killed if this process ends without closing it. */
export function trackProcessTree(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  living.add(pid);
  listener?.onStarted(pid);
  if (exitHookInstalled) return;
  exitHookInstalled = true;
  // Runs on a normal exit and after an uncaught error; only synchronous work is possible here.
  process.on("exit", () => {
    for (const leader of living) {
      if (USES_PROCESS_GROUPS) signalProcessTree(leader, "SIGKILL");
      else spawnSync("taskkill", ["/pid", String(leader), "/T", "/F"], { windowsHide: true });
    }
  });
}

/** Forgets a tree once it is completely gone. */
export function forgetProcessTree(pid: number): void {
  if (living.delete(pid)) listener?.onEnded(pid);
}

/** Signals every process of the tree. A tree that is already gone is not an error. */
export function signalProcessTree(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  if (!USES_PROCESS_GROUPS) {
    const force = signal === "SIGKILL" ? ["/F"] : [];
    spawn("taskkill", ["/pid", String(pid), "/T", ...force], { windowsHide: true, stdio: "ignore" }).on(
      "error",
      () => {},
    );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Whether any process of the tree still exists. Windows cannot tell once the leader is gone. */
export function isProcessTreeAlive(pid: number): boolean {
  if (!USES_PROCESS_GROUPS) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  // macOS returns EPERM for a group of zombies.
  const { code } = error as NodeJS.ErrnoException;
  return code === "ESRCH" || code === "EPERM";
}
