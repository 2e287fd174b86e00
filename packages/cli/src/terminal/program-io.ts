// The outside world of one run of the command. `runProgram` gets all of it from its caller, so tests run commands in
// process, several at once.
import type { Readable, Writable } from "node:stream";
import type { Clock } from "@trunkline/core";
import type { Interrupts } from "./interrupts.js";

/** Standard input. `isTTY` says whether it is a terminal. */
type InputStream = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

/** Standard output or standard error. `isTTY` says whether it is a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * What a run of the command reads from and writes to.
 *
 * @example
 * const stdout = new PassThrough();
 * const code = await runProgram(["servers", "list"], { stdin, stdout, stderr, env: {}, cwd, userHome });
 */
export interface ProgramIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  /** The user's home folder. Our own folder in it is `.trunkline`, unless `TRUNKLINE_HOME` names another. */
  readonly userHome: string;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Ctrl-C, SIGTERM and SIGHUP. Default: none ever come. */
  readonly interrupts?: Interrupts;
  /** Whether stdin is a pipe or a file, and not `/dev/null`, say. Default: yes, unless it is a terminal. */
  hasPipedInput?(): boolean;
}
