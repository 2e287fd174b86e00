import type { Clock, LogFields, Logger, LogLevel } from "./ports.js";
import { systemClock } from "./ports.js";
import type { Redactor } from "./redaction.js";
import { printable, printableJson } from "./safe-text.js";

/** The levels in ascending order. `silent` is only a threshold. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

export interface LoggerOptions {
  /** The lowest level to write. Default `info`. */
  level?: LogLevel | "silent";
  /** `text` for people, `json` for programs: one object per line. Default `text`. */
  format?: "text" | "json";
  /** Whether text lines begin with the day, too: for a log that is kept. Default: only the time. */
  dated?: boolean;
  /**
   * Receives finished lines, including the newline. Default: standard error, because stdout carries the protocol or the
   * result.
   */
  write?: (line: string) => void;
  /** Redacts every line. */
  redactor?: Redactor;
  /** Default: the system clock. */
  clock?: Clock;
}

/** Creates a logger whose lines have a constant message and fields. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = "info", format = "text", dated = false, redactor, clock = systemClock } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const threshold = level === "silent" ? LOG_LEVELS.length : LOG_LEVELS.indexOf(level);
  const render = format === "json" ? renderJson : (line: Line) => renderText(line, dated);

  const make = (bound: LogFields): Logger => {
    const at = (lineLevel: LogLevel) => (message: string, fields?: LogFields) => {
      if (LOG_LEVELS.indexOf(lineLevel) < threshold) return;
      const line = {
        time: new Date(clock.now()).toISOString(),
        level: lineLevel,
        message,
        fields: { ...bound, ...fields },
      };
      // Redact fields before serialising: JSON escapes could hide a secret from a later pass.
      write(`${render(redactor ? redactor.value({ ...line, fields: plain(line.fields) }) : line)}\n`);
    };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => make({ ...bound, ...fields }),
    };
  };
  return make({});
}

/** A logger that writes nothing: the library's default. */
export const silentLogger: Logger = createLogger({ level: "silent" });

interface Line {
  time: string;
  level: LogLevel;
  message: string;
  fields: LogFields;
}

function renderJson(line: Line): string {
  return printableJson({ time: line.time, level: line.level, message: line.message, ...plain(line.fields) });
}

function renderText(line: Line, dated: boolean): string {
  const fields = Object.entries(plain(line.fields))
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${textValue(value)}`)
    .join("");
  // A log is read on a terminal, and servers decide what is in it.
  const time = dated ? line.time : line.time.slice(11, 23);
  return printable(`${time} ${line.level.padEnd(5)} ${oneLine(line.message)}${fields}`);
}

function textValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

/** Errors do not survive JSON.stringify, so they become their code and message. */
function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      if (!(value instanceof Error)) return [key, value];
      const code = (value as { code?: unknown }).code;
      return [key, typeof code === "string" ? `${code}: ${value.message}` : value.message];
    }),
  );
}

/** Keeps a log line on one line, whatever an upstream server put into it. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
