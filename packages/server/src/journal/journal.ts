// What was called: the journal keeps one line for each operation, the account what everything cost in tokens. Neither ever
// sees arguments or results.

/** One call, when it has ended. */
export interface CallRecord {
  /** When it began, in milliseconds since 1970. */
  readonly atMs: number;
  /** The client, as it calls itself. */
  readonly client: string;
  /** `search`, or `<server>.<tool>`. */
  readonly operation: string;
  readonly durationMs: number;
  /** The size of what came back. */
  readonly sizeBytes: number;
  readonly outcome: "ok" | "error" | "cancelled";
  /** The code of the error. */
  readonly code?: string | undefined;
}

/** Where calls are noted. Never throws and never makes the caller wait. */
export interface Journal {
  record(call: CallRecord): void;
}

/** What tokens were spent on: the tool list, what `describe` told, and everything else. */
export type TokenUse = "surface" | "schemas" | "results";

/** Counts what clients were sent. Never throws and never makes the caller wait. */
export interface TokenAccount {
  add(use: TokenUse, text: string): void;
  /** What has been spent so far: for `status {tokens: true}`. */
  report?(): Promise<Readonly<Record<string, unknown>>>;
}
