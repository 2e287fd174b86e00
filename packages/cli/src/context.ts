// What every command gets from the outside world: the only place where the environment is read.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createLogger, LOG_LEVELS, type Logger, type LogLevel, Redactor } from "@trunkline/core";
import { screenText } from "./printable.js";
import { readVersion } from "./version.js";

/** The world of one run of the command. */
export interface CommandContext {
  readonly version: string;
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Where the user's own files are: `TRUNKLINE_HOME` or `~/.trunkline`. */
  readonly home: string;
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Everything that is printed passes through it. */
  readonly redactor: Redactor;
  /** A line on stdout: the result. */
  out(line: string): void;
  /** A line on stderr: for the person beside the result. Names from a project's file may be in it, so control characters are shown. */
  note(line: string): void;
}

/** Makes the context from this process. */
export function createContext(signal: AbortSignal): CommandContext {
  const redactor = new Redactor();
  const logLevel = process.env.TRUNKLINE_LOG_LEVEL;
  const logger = createLogger({
    level: isLogLevel(logLevel) ? logLevel : "error",
    format: process.env.TRUNKLINE_LOG_FORMAT === "json" ? "json" : "text",
    redactor,
  });
  return {
    version: readVersion(),
    cwd: process.cwd(),
    env: process.env,
    home: resolve(process.env.TRUNKLINE_HOME || join(homedir(), ".trunkline")),
    signal,
    logger,
    redactor,
    out: (line) => console.log(line),
    note: (line) => console.error(screenText(redactor.text(line))),
  };
}

function isLogLevel(value: string | undefined): value is LogLevel {
  return value !== undefined && (LOG_LEVELS as readonly string[]).includes(value);
}
