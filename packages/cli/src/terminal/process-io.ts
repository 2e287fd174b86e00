// The I/O of this process. Nothing else in the command touches the process's streams, environment, home or working
// folder.
import { fstatSync } from "node:fs";
import { homedir } from "node:os";
import { systemClock, systemCodeOf } from "@trunkline/core";
import type { Interrupts } from "./interrupts.js";
import type { ProgramIo } from "./program-io.js";

export function processIo(interrupts: Interrupts, own: Pick<ProgramIo, "build" | "lookForUpdate"> = {}): ProgramIo {
  return {
    // Node sets up each stream on first access, which takes time and, for stdin, has side effects.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    env: process.env,
    cwd: process.cwd(),
    userHome: homedir(),
    clock: systemClock,
    interrupts,
    ...own,
    hasPipedInput,
  };
}

function hasPipedInput(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch (error) {
    if (systemCodeOf(error) === "EBADF") return false;
    throw error;
  }
}
