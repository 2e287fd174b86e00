// What every command gets from the outside world.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Clock,
  createLogger,
  LOG_LEVELS,
  type Logger,
  type LogLevel,
  printableLines,
  Redactor,
  systemClock,
} from "@trunkline/core";
import { Interrupts } from "./interrupts.js";
import type { ProgramIo } from "./program-io.js";

/** The world of one run of the command. */
export interface CommandContext {
  readonly version: string;
  /** The streams. Taken from here and never copied: touching the process's stdin has side effects. */
  readonly io: Pick<ProgramIo, "stdin" | "stdout" | "stderr">;
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Where the user's own files are: `TRUNKLINE_HOME` or `~/.trunkline`. */
  readonly home: string;
  /** The user's home folder. */
  readonly userHome: string;
  readonly clock: Clock;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
  readonly logger: Logger;
  /** Everything that is printed passes through it. */
  readonly redactor: Redactor;
  /** Whether a pipe or a file is connected to stdin. */
  hasPipedInput(): boolean;
  /** A line on stdout: the result. */
  out(line: string): void;
  /** A line on stderr: for the person beside the result. Names from a project's file may be in it, so control characters are shown. */
  note(line: string): void;
}

/** Makes the context of one run. */
export function createContext(io: ProgramIo): CommandContext {
  const { env, cwd, userHome, clock = systemClock, interrupts = new Interrupts() } = io;
  const redactor = new Redactor();
  const logLevel = env.TRUNKLINE_LOG_LEVEL;
  return {
    version: readVersion(),
    io,
    cwd,
    env,
    home: resolve(cwd, env.TRUNKLINE_HOME || join(userHome, ".trunkline")),
    userHome,
    clock,
    signal: interrupts.signal,
    interrupts,
    logger: loggerFor({ io, env, clock, redactor }, isLogLevel(logLevel) ? logLevel : "error"),
    redactor,
    hasPipedInput: () => io.hasPipedInput?.() ?? io.stdin.isTTY !== true,
    out: (line) => void io.stdout.write(`${line}\n`),
    note: (line) => void io.stderr.write(`${printableLines(redactor.text(line))}\n`),
  };
}

/** The logger of a run, on stderr. */
export function loggerFor(
  { io, env, clock, redactor }: Pick<CommandContext, "io" | "env" | "clock" | "redactor">,
  level: LogLevel,
): Logger {
  return createLogger({
    level,
    format: env.TRUNKLINE_LOG_FORMAT === "json" ? "json" : "text",
    redactor,
    clock,
    write: (line) => void io.stderr.write(line),
  });
}

/** Whether somebody is there to read a question and to answer it. */
export function isAtTerminal({ io }: Pick<CommandContext, "io">): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/** The version of the package, read from its manifest so that it is written in one place. */
function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
}

function isLogLevel(value: string | undefined): value is LogLevel {
  return value !== undefined && (LOG_LEVELS as readonly string[]).includes(value);
}
