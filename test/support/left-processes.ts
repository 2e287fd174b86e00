// Fails a test run that leaves a process behind: a broker, a server, a command. They are known by the run's own folder
// for temporary files, in which every test has its home.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** How long a process may take to end once its test has. A broker notices within 5 s that its folder is gone. */
const GRACE_MS = 10_000;
const CHECK_MS = 50;

/** Runs before the first test of the run. Returns what runs after the last one. */
export default function setup(): (() => Promise<void>) | undefined {
  // Other systems do not show the environment of a process.
  if (process.platform !== "linux" || process.env.TRUNKLINE_TEST_FOLDER !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "t-"));
  // As open as the one it replaces: some tests run as another user.
  chmodSync(folder, 0o1777);
  const { TMPDIR } = process.env;
  process.env.TRUNKLINE_TEST_FOLDER = folder;
  process.env.TMPDIR = folder;
  return async () => {
    delete process.env.TRUNKLINE_TEST_FOLDER;
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    const endMs = performance.now() + GRACE_MS;
    let left = leftProcesses(folder);
    while (left.length > 0 && performance.now() < endMs) {
      await delay(CHECK_MS);
      left = leftProcesses(folder);
    }
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    process.exitCode = 1;
    const lines = left.map(({ pid, command, home }) => `  ${pid} ${command} (HOME ${home})`);
    throw new Error(`Tests have left processes behind:\n${lines.join("\n")}`);
  };
}

/** Returns the processes whose home, working folder or command line is below a folder. */
export function leftProcesses(folder: string): { pid: number; command: string; home: string }[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    const words = textsOf(join("/proc", pid, "cmdline"));
    const homes = textsOf(join("/proc", pid, "environ")).filter((line) => /^(?:HOME|TRUNKLINE_HOME)=/.test(line));
    const isOurs = [...homes, ...words, folderOf(pid)].some((text) => text.includes(`${folder}/`));
    if (words.length === 0 || !isOurs) return [];
    return [{ pid: Number(pid), command: words.join(" "), home: homes[0]?.slice("HOME=".length) ?? "" }];
  });
}

/** Returns the texts of a file of NUL-terminated texts; none if the process has ended or is another user's. */
function textsOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\0")
      .filter((text) => text !== "");
  } catch {
    return [];
  }
}

function folderOf(pid: string): string {
  try {
    return `${readlinkSync(join("/proc", pid, "cwd"))}/`;
  } catch {
    return "";
  }
}
