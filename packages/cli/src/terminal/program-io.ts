// The I/O of one run of the command. Callers pass all of it to `runProgram`, so tests can run commands in process,
// several at once.
import type { Readable, Writable } from "node:stream";
import type { Clock } from "@trunkline/core";
import type { Interrupts } from "./interrupts.js";
import type { SharedParts } from "./shared-parts.js";

/** Standard input. `isTTY` says whether it is a terminal. */
type InputStream = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  /** Resolves when everything typed so far has arrived, if the terminal belongs to another process. */
  settled?(): Promise<void>;
};

/** Standard output or standard error. `isTTY` says whether it is a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * The environment of a run.
 *
 * @example
 * const stdout = new PassThrough(); const code = await runProgram(["servers", "list"], { stdin, stdout, stderr, env:
 * {}, cwd, userHome });
 */
export interface ProgramIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  /** The user's home folder. Our own folder in it is `.trunkline`, unless `TRUNKLINE_HOME` is set. */
  readonly userHome: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Ctrl-C, SIGTERM and SIGHUP. Default: none. */
  readonly interrupts?: Interrupts;
  /**
   * Whether stdin is a pipe or a file, as opposed to `/dev/null`, for example. Default: true, unless it is a terminal.
   */
  hasPipedInput?(): boolean;
  /** Tells two builds of one version apart. */
  readonly build?: string;
  /** Looks for a newer version in the background, for the notice about it. Default: there is no notice. */
  readonly lookForUpdate?: (home: string) => void;
  /** What the process around this run keeps open for it. Default: nothing. */
  readonly shared?: SharedParts;
}
