// One error class for the whole product. Callers branch on `code`, never on the message; only the command line turns a
// code into an exit code.

/**
 * Every code a {@link TrunklineError} can carry. A code is part of the public interface: its meaning never changes.
 *
 * - `ABORTED`: the caller's own signal stopped the work.
 * - `TIMEOUT`: a deadline passed; the work was stopped, not only the waiting.
 * - `CLOSED`: the thing that was asked had already been closed.
 * - `INVALID_ARGUMENT`: the caller passed something that cannot be used.
 * - `USAGE`: the command line was used wrongly.
 * - `CONFIG_INVALID`: a configuration file given explicitly is missing or cannot be read as one.
 * - `NOT_FOUND`: what was named does not exist.
 * - `AMBIGUOUS`: what was named stands for several things.
 * - `SERVER_NOT_FOUND`, `TOOL_NOT_FOUND`: the catalogue has no such server or tool.
 * - `SERVER_UNAVAILABLE`: the server is there, but not usable now (failed, disabled, untrusted).
 * - `SPAWN_FAILED`: a server's program could not be started.
 * - `SERVER_EXITED`: a server's process ended while it was needed.
 * - `CONNECTION_FAILED`: a server could not be reached, or the connection broke.
 * - `PROTOCOL`: the other side does not keep to the protocol.
 * - `AUTH_REQUIRED`: somebody has to sign in first.
 * - `DENIED`: a rule of the configuration, or the person who was asked, does not allow it.
 * - `UPSTREAM`: the server answered with a JSON-RPC error.
 * - `IO`: a file or socket operation failed.
 * - `INTERNAL`: a defect in Trunkline.
 */
export type ErrorCode =
  | "ABORTED"
  | "TIMEOUT"
  | "CLOSED"
  | "INVALID_ARGUMENT"
  | "USAGE"
  | "CONFIG_INVALID"
  | "NOT_FOUND"
  | "AMBIGUOUS"
  | "SERVER_NOT_FOUND"
  | "TOOL_NOT_FOUND"
  | "SERVER_UNAVAILABLE"
  | "SPAWN_FAILED"
  | "SERVER_EXITED"
  | "CONNECTION_FAILED"
  | "PROTOCOL"
  | "AUTH_REQUIRED"
  | "DENIED"
  | "UPSTREAM"
  | "IO"
  | "INTERNAL";

/** What goes with a {@link TrunklineError} besides its code and message. */
export interface ErrorDetails {
  /** The error underneath. */
  cause?: unknown;
  /** What to do next, in one sentence a person can act on. */
  hint?: string;
  /** Whether the same call may succeed if it is simply made again. Default: only `TIMEOUT` and `CONNECTION_FAILED`. */
  retryable?: boolean;
  /** Facts for programs: names, numbers, paths. Never secrets. */
  data?: Readonly<Record<string, unknown>>;
}

const RETRYABLE_BY_DEFAULT: ReadonlySet<ErrorCode> = new Set(["TIMEOUT", "CONNECTION_FAILED"]);

/** The one error class. The message says what happened; `hint` says what to do about it. */
export class TrunklineError extends Error {
  override readonly name = "TrunklineError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.retryable = details.retryable ?? RETRYABLE_BY_DEFAULT.has(code);
    this.data = details.data;
  }

  /** The shape that answers and JSON output carry. The cause stays out: it may hold what must not be shown. */
  toJSON(): { code: ErrorCode; message: string; hint?: string; retryable: boolean } {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      retryable: this.retryable,
    };
  }
}

/** Whether `error` is a {@link TrunklineError}, with the given code where one is given. */
export function isTrunklineError(error: unknown, code?: ErrorCode): error is TrunklineError {
  return error instanceof TrunklineError && (code === undefined || error.code === code);
}

/** Any thrown value as a {@link TrunklineError}; what is not one yet becomes `fallback` with the original as its cause. */
export function toTrunklineError(error: unknown, fallback: ErrorCode = "INTERNAL"): TrunklineError {
  if (error instanceof TrunklineError) return error;
  return new TrunklineError(fallback, messageOf(error), { cause: error });
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return String(error);
}

/**
 * The `code` that Node puts on system errors (`ENOENT`, `ECONNREFUSED`), taken from the deepest cause that has one: what
 * wraps it may have a code of its own.
 */
export function systemCodeOf(error: unknown): string | undefined {
  let found: string | undefined;
  for (let current = error, depth = 0; current instanceof Error && depth < 16; current = causeOf(current), depth++) {
    const code = (current as NodeJS.ErrnoException).code;
    if (typeof code === "string" && !(current instanceof TrunklineError)) found = code;
  }
  return found;
}

/** A connection tried on several addresses fails with all of their errors; the first stands for them. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
}
