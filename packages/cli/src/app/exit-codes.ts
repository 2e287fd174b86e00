// All exit codes in one table. Nothing else knows about them.
import type { ErrorCode } from "@trunkline/core";

export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  signIn: 3,
  interrupted: 130,
  /** SIGTERM, as shells report it. `serve` is normally stopped this way and exits with 0. */
  terminated: 143,
  /** SIGHUP. */
  hungUp: 129,
} as const;

/** Returns the exit code for an error; the default is failure. */
export function exitCodeOf(code: ErrorCode): number {
  switch (code) {
    case "USAGE":
    case "CONFIG_INVALID":
    case "INVALID_ARGUMENT":
    case "TOOL_NOT_FOUND":
    case "SERVER_NOT_FOUND":
    case "AMBIGUOUS":
      return EXIT.usage;
    case "AUTH_REQUIRED":
      return EXIT.signIn;
    case "ABORTED":
      return EXIT.interrupted;
    default:
      return EXIT.failure;
  }
}
