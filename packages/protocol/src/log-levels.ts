/** Log levels, as in syslog, least severe first. */
export const LOG_MESSAGE_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export type LogMessageLevel = (typeof LOG_MESSAGE_LEVELS)[number];

/** The level for a legacy client that has not set one. */
export const DEFAULT_LOG_LEVEL: LogMessageLevel = "info";

export function isLogLevel(level: unknown): level is LogMessageLevel {
  return (LOG_MESSAGE_LEVELS as readonly unknown[]).includes(level);
}

/** Whether a message of this level is at or above `threshold`. An unknown level counts as the most severe. */
export function isLogged(level: string, threshold: string): boolean {
  const levels: readonly string[] = LOG_MESSAGE_LEVELS;
  const rank = levels.indexOf(level);
  return rank === -1 || rank >= levels.indexOf(threshold);
}
