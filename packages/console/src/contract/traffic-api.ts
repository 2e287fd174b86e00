import type { Json } from "./tools-api.js";

/** A finished call: a line of the journal. */
export interface CallRow {
  /** Identifies the call within its workspace. */
  readonly id: string;
  /** When it began, in milliseconds since 1970. */
  readonly atMs: number;
  readonly client: string;
  /** `search`, `<server>.<tool>`, or `unknown (<name>)` if there is none with the name that was asked for. */
  readonly operation: string;
  readonly durationMs: number;
  readonly sizeBytes: number;
  readonly outcome: "ok" | "error" | "cancelled";
  readonly code?: string;
  /** Equal for the steps of one pipeline. */
  readonly request?: string;
  /** Whether arguments and result were recorded. */
  readonly isRecorded?: boolean;
}

export interface CallDetails {
  readonly call: CallRow;
  /** All steps of the pipeline it belongs to, in order; the call alone if it is not part of one. */
  readonly steps: readonly CallRow[];
  /** Redacted. Only if it was recorded. */
  readonly arguments?: Json;
  readonly result?: Json;
  /**
   * The call as a command line, without its arguments if they were not recorded. Absent if no command makes such a
   * call.
   */
  readonly command?: string;
  /** What to call to repeat it. Only if its arguments are known, and none of them was redacted or cut. */
  readonly repeat?:
    | { readonly kind: "tool"; readonly server: string; readonly tool: string }
    | { readonly kind: "operation"; readonly op: string };
  /** Whether a secret in the arguments was redacted. */
  readonly isRedacted: boolean;
}

/** One day of a workspace. */
export interface DayRow {
  /** `2026-11-17`. */
  readonly day: string;
  readonly calls: number;
  readonly errors: number;
  readonly byClient: readonly { readonly client: string; readonly calls: number }[];
  /** Tokens sent to clients: tool lists, schemas and results. */
  readonly tokens: number;
  /** Tokens that listing all tools directly would have cost in addition. Negative if it would have cost less. */
  readonly saved: number;
}
