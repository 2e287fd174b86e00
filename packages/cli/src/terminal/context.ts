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
import { type ColourMode, type Meaning, type Palette, paletteFor } from "./palette.js";
import type { ProgramIo } from "./program-io.js";
import type { SharedParts } from "./shared-parts.js";

export interface CommandContext {
  readonly version: string;
  /** Tells two builds of one version apart: the file of the code, and when it was written. */
  readonly build: string;
  /** The streams. Always use them through here: touching the process's stdin has side effects. */
  readonly io: Pick<ProgramIo, "stdin" | "stdout" | "stderr">;
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The user's own files: `TRUNKLINE_HOME` or `~/.trunkline`. */
  readonly home: string;
  /** The user's home folder. */
  readonly userHome: string;
  readonly clock: Clock;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
  readonly logger: Logger;
  /** Redacts everything that is printed. */
  readonly redactor: Redactor;
  /** What the process around this run keeps open for it: the broker's parts. */
  readonly shared: SharedParts | undefined;
  /** The colours of stdout. */
  readonly palette: Palette;
  /** The colours of stderr. */
  readonly notePalette: Palette;
  /** Registers a line on stderr that is updated in place: it is erased before a note, and comes back by itself. */
  onNote(erase: () => void): void;
  /** Sets what `--color` says, for both streams. */
  setColourMode(mode: ColourMode): void;
  /** Whether stdin is a pipe or a file. */
  hasPipedInput(): boolean;
  /**
   * Prints a line of the result to stdout. It can contain text from servers and documents: on a terminal, control
   * characters are made visible; in a pipe it stays as it is.
   */
  out(line: string): void;
  /** Prints a line with colours. Its text must already be printable. */
  outPainted(line: string): void;
  /**
   * Prints a line for the user to stderr. It can contain names from a project's file, so control characters are made
   * visible. `meaning` gives it a colour.
   */
  note(line: string, meaning?: Meaning): void;
  /**
   * {@link note} without redaction: for what the user approves. A secret that repeats a word of a command must not hide
   * it.
   */
  noteInFull(line: string): void;
  /** {@link noteInFull} with colours. The text must already be printable. */
  notePaintedInFull(line: string): void;
}

export function createContext(io: ProgramIo): CommandContext {
  const { env, cwd, userHome, clock = systemClock, interrupts = new Interrupts() } = io;
  const redactor = new Redactor();
  const logLevel = env.TRUNKLINE_LOG_LEVEL;
  let colourMode: ColourMode = "auto";
  const beforeNote: (() => void)[] = [];
  const notePaintedInFull = (line: string) => {
    for (const erase of beforeNote) erase();
    io.stderr.write(`${line}\n`);
  };
  return {
    version: readVersion(),
    build: io.build ?? "",
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
    shared: io.shared,
    // Getters: `--color` is read later, and a stream is set up on first access.
    get palette() {
      return paletteFor(io.stdout, env, colourMode);
    },
    get notePalette() {
      return paletteFor(io.stderr, env, colourMode);
    },
    onNote: (erase) => void beforeNote.push(erase),
    setColourMode: (mode) => {
      colourMode = mode;
    },
    hasPipedInput: () => io.hasPipedInput?.() ?? io.stdin.isTTY !== true,
    out: (line) => void io.stdout.write(`${io.stdout.isTTY === true ? printableLines(line) : line}\n`),
    outPainted: (line) => void io.stdout.write(`${line}\n`),
    note: (line, meaning) => {
      const shown = printableLines(redactor.text(line));
      const colour = meaning === undefined ? undefined : paletteFor(io.stderr, env, colourMode)[meaning];
      notePaintedInFull(colour === undefined ? shown : colour(shown));
    },
    noteInFull: (line) => notePaintedInFull(printableLines(line)),
    notePaintedInFull,
  };
}

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

/** Whether a user is there to read and answer a question. */
export function isAtTerminal({ io }: Pick<CommandContext, "io">): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/** Reads the package version from its manifest, so it is defined in one place. */
function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
}

function isLogLevel(value: string | undefined): value is LogLevel {
  return value !== undefined && (LOG_LEVELS as readonly string[]).includes(value);
}
