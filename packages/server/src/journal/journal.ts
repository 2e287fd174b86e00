// What was called: the journal keeps one line for each operation, the account what everything cost in tokens. Neither ever
// sees arguments or results.
import { type Clock, isRecord, isTrunklineError, type Logger, systemClock, toTrunklineError } from "@trunkline/core";
import { RpcError } from "@trunkline/protocol";

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

/** How a call ended: with a value, with what was thrown, or with the code of an error. */
interface CallEnd {
  readonly value?: unknown;
  readonly error?: unknown;
  readonly code?: string | undefined;
}

/** What calls are logged to. */
interface CallLogOptions {
  readonly journal?: Journal | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/** Writes one journal entry and one debug line per call. */
export class CallLog {
  readonly #options: CallLogOptions;

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  /** Starts timing a call. The returned function writes its entry. */
  begin(operation: string, client: string): (end: CallEnd) => void {
    const { journal, logger, clock = systemClock } = this.#options;
    const atMs = clock.now();
    const started = clock.monotonicMs();
    return ({ value, error, code = error === undefined ? undefined : codeOf(error) }) => {
      const durationMs = Math.round(clock.monotonicMs() - started);
      const outcome = code === undefined ? "ok" : code === "ABORTED" ? "cancelled" : "error";
      const fields = {
        operation,
        durationMs,
        sizeBytes: sizeOf(value),
        outcome,
        ...(code === undefined ? {} : { code }),
      } as const;
      journal?.record({ ...fields, atMs, client });
      logger?.debug("operation", { ...fields, client });
    };
  }

  /** Writes the entry of a call that ended before any operation ran. */
  note(operation: string, client: string, end: CallEnd): void {
    this.begin(operation, client)(end);
  }
}

/** The code of whatever was thrown: our own where there is one, else the protocol's number. */
function codeOf(error: unknown): string {
  if (!(error instanceof RpcError)) return toTrunklineError(error).code;
  if (isTrunklineError(error.cause)) return error.cause.code;
  return String(error.code);
}

/** About how many bytes a value has as JSON, without making the JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item) + 1, 2);
  if (isRecord(value)) {
    let sum = 2;
    for (const name in value) if (value[name] !== undefined) sum += name.length + 4 + sizeOf(value[name]);
    return sum;
  }
  return value === undefined ? 0 : String(value).length;
}
