// How a server's process ended, and what it wrote last. Ready to be shown: redacted, printable and short.
import { firstWords, printable } from "@trunkline/core";
import type { ProcessExit } from "../wire/stdio-wire.js";

const MOST_LINES = 5;
const LINE_CHARS = 300;

/** Lines that push the message of a crash out of view: stack frames, and Node's version below them. */
const NOISE = /^\s+at |^Node\.js v\d/;

/** Returns the last telling lines of a server's stderr. */
export function lastLines(stderr: readonly string[], redact: (text: string) => string): readonly string[] {
  const telling = stderr.filter((line) => !NOISE.test(line));
  return (telling.length > 0 ? telling : stderr)
    .slice(-MOST_LINES)
    .map((line) => firstWords(printable(redact(line).replaceAll("\t", "  ").trimEnd()), LINE_CHARS));
}

/** The sentences after "the server exited": the lines of {@link lastLines}, if the process ended or wrote any. */
export function linesText(exit: ProcessExit | undefined, lines: readonly string[]): string {
  if (lines.length > 0) return `. Its last lines on stderr:\n${lines.map((line) => `  ${line}`).join("\n")}`;
  return exit === undefined ? "." : ". It wrote nothing to stderr.";
}

/** `exit code 3`, `signal SIGKILL`. */
export function exitText(exit: ProcessExit): string {
  return exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
}

/** The same facts for programs. */
export function exitData(exit: ProcessExit | undefined, lines: readonly string[]): Record<string, unknown> {
  return exit === undefined ? {} : { data: { exitCode: exit.code, signal: exit.signal, stderr: lines } };
}
