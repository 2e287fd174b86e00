// The levels of log messages in the protocol, those of syslog.
import type { LogMessageLevel } from "@trunkline/client";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** What a legacy client gets that never said what it wants. */
export const DEFAULT_LOG_LEVEL = "info";

/** Whether the protocol has this level. */
export function isLogLevel(level: unknown): level is LogMessageLevel {
  return typeof level === "string" && LEVELS.includes(level);
}

/** Whether a message of this level is wanted from `threshold` on. A level that nobody knows counts as the gravest. */
export function isLogged(level: string, threshold: string): boolean {
  const rank = LEVELS.indexOf(level);
  return rank === -1 || rank >= LEVELS.indexOf(threshold);
}
