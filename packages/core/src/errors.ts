// One error class for the whole product. Callers branch on `code`, never on the message; only the command line turns
// codes into exit codes.

/**
 * Every code a {@link TrunklineError} can have. Codes are part of the public interface: their meaning never changes.
 *
 * - `ABORTED`: the caller's own signal stopped the work.
 * - `TIMEOUT`: a deadline passed; the work was stopped, not just the waiting.
 * - `BUSY`: someone else's question to a person is in the way; the same call may succeed later.
 * - `CLOSED`: used after it was closed.
 * - `INVALID_ARGUMENT`: the caller passed something unusable.
 * - `USAGE`: the command line was used wrongly.
 * - `CONFIG_INVALID`: an explicitly named configuration file is missing or malformed.
 * - `NOT_FOUND`: the named thing does not exist.
 * - `AMBIGUOUS`: the name matches several things.
 * - `REFERENCE_UNRESOLVED`: a step refers to a value that an earlier step does not have.
 * - `SERVER_NOT_FOUND`, `TOOL_NOT_FOUND`: the catalogue has no such server or tool.
 * - `SERVER_UNAVAILABLE`: the server exists but is not usable now (failed, disabled, untrusted).
 * - `SPAWN_FAILED`: a server's program could not be started.
 * - `SERVER_EXITED`: a server's process ended while it was needed.
 * - `CONNECTION_FAILED`: a server could not be reached, or the connection broke.
 * - `PROTOCOL`: the other side violates the protocol.
 * - `AUTH_REQUIRED`: a sign-in is needed first.
 * - `DENIED`: a policy, or the person who was asked, does not allow it.
 * - `STORE_UNAVAILABLE`: the store's database cannot be reached now; it may be back soon.
 * - `STORE_UNTRUSTED`: the store was made or changed by someone else and has not been approved.
 * - `UPSTREAM`: the server answered with a JSON-RPC error.
 * - `RESULT_TOO_LARGE`: a server sent more than its limit allows.
 * - `IO`: a file or socket operation failed, or another program's file is malformed.
 * - `INTERNAL`: a defect in Trunkline.
 */
export type ErrorCode =
  | "ABORTED"
  | "TIMEOUT"
  | "BUSY"
  | "CLOSED"
  | "INVALID_ARGUMENT"
  | "USAGE"
  | "CONFIG_INVALID"
  | "NOT_FOUND"
  | "AMBIGUOUS"
  | "REFERENCE_UNRESOLVED"
  | "SERVER_NOT_FOUND"
  | "TOOL_NOT_FOUND"
  | "SERVER_UNAVAILABLE"
  | "SPAWN_FAILED"
  | "SERVER_EXITED"
  | "CONNECTION_FAILED"
  | "PROTOCOL"
  | "AUTH_REQUIRED"
  | "DENIED"
  | "STORE_UNAVAILABLE"
  | "STORE_UNTRUSTED"
  | "UPSTREAM"
  | "RESULT_TOO_LARGE"
  | "IO"
  | "INTERNAL";

interface ErrorDetails {
  cause?: unknown;
  /** What to do next, in one actionable sentence. */
  hint?: string;
  /** Whether the same call may succeed if repeated. Default: only for `TIMEOUT`, `BUSY`, `CONNECTION_FAILED` and
   * `STORE_UNAVAILABLE`. */
  retryable?: boolean;
  /** Facts for programs: names, numbers, paths. Never secrets. */
  data?: Readonly<Record<string, unknown>>;
}

const RETRYABLE_BY_DEFAULT: ReadonlySet<ErrorCode> = new Set([
  "TIMEOUT",
  "BUSY",
  "CONNECTION_FAILED",
  "STORE_UNAVAILABLE",
]);

/** Marks errors of every copy of this package: an optional package brings its own. */
const BRAND = Symbol.for("trunkline.error");

/** The only error class. The message says what happened; `hint` says what to do about it. */
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

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }

  /** The shape used in answers and JSON output. Leaves out the cause, which may contain secrets. */
  toJSON(): { code: ErrorCode; message: string; hint?: string; retryable: boolean } {
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      retryable: this.retryable,
    };
  }
}

/** Whether `error` is a {@link TrunklineError}, optionally with the given code. */
export function isTrunklineError(error: unknown, code?: ErrorCode): error is TrunklineError {
  return error instanceof TrunklineError && (code === undefined || error.code === code);
}

/**
 * Returns a {@link TrunklineError} unchanged; any other thrown value becomes one with the code `fallback` and the
 * original as its cause. A failed file operation is described in plain words, and is `IO` by default.
 */
export function toTrunklineError(error: unknown, fallback: ErrorCode = "INTERNAL"): TrunklineError {
  if (error instanceof TrunklineError) return error;
  const { syscall = "", path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const action = Object.hasOwn(FILE_ACTIONS, syscall) ? FILE_ACTIONS[syscall] : undefined;
  const reason = action === undefined ? undefined : fileReason(error);
  if (reason === undefined) return new TrunklineError(fallback, messageOf(error), { cause: error });
  const code = fallback === "INTERNAL" ? "IO" : fallback;
  const hint = reason === "permission denied" ? { hint: "Check the permissions of the file and its folders." } : {};
  // A file is written under another name first, which means nothing to the user.
  const folder = path?.match(/^(.*)[\\/]\.trunkline-[0-9a-f]+\.part$/s)?.[1];
  const what = folder === undefined ? `${action} ${path ?? "a file"}` : `write to ${folder}`;
  return new TrunklineError(code, `Cannot ${what}: ${reason}.`, { cause: error, ...hint });
}

/** What a system call does to a path. Calls of sockets and processes are not here. */
const FILE_ACTIONS: Readonly<Record<string, string>> = {
  ...{ open: "open", read: "read", stat: "open", lstat: "open", access: "open", realpath: "open", readlink: "open" },
  ...{ scandir: "open", opendir: "open", readdir: "open", watch: "watch", write: "write", ftruncate: "write" },
  ...{ mkdir: "create", mkdtemp: "create", symlink: "create", link: "create", copyfile: "copy", rename: "rename" },
  ...{ unlink: "remove", rmdir: "remove", rm: "remove", chmod: "change", fchmod: "change", utime: "change" },
};

/** Says in plain words why a file could not be used: "permission denied". Undefined for other errors. */
export function fileReason(error: unknown): string | undefined {
  switch (systemCodeOf(error)) {
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "ENOENT":
      return "it does not exist";
    case "EISDIR":
      return "it is a folder";
    case "EFTYPE":
      return "it is a pipe or a device, not a file";
    case "EFBIG":
      return "it is too large";
    case "ENOTDIR":
      return "a part of its path is not a folder";
    case "EEXIST":
      return "it already exists";
    case "ENOTEMPTY":
      return "the folder is not empty";
    case "ELOOP":
      return "its symbolic links form a loop";
    case "ENAMETOOLONG":
      return "its name is too long";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    case "EMFILE":
    case "ENFILE":
      return "too many files are open";
    case "EBUSY":
    case "ETXTBSY":
      return "another program is using it";
    case "EIO":
      return "the disk reports an error";
    default:
      return undefined;
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return String(error);
}

/**
 * Finds the `code` of a system error (`ENOENT`, `ECONNREFUSED`) in the deepest cause that has one: a wrapper may have
 * its own code.
 */
export function systemCodeOf(error: unknown): string | undefined {
  let found: string | undefined;
  for (let current = error, depth = 0; current instanceof Error && depth < 16; current = causeOf(current), depth++) {
    const code = (current as NodeJS.ErrnoException).code;
    if (typeof code === "string" && !(current instanceof TrunklineError)) found = code;
  }
  return found;
}

/** A connection tried on several addresses fails with all of their errors; the first one represents them. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
}
