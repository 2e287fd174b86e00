// Every call ends with one line in the journal, and one of the log at debug level.
import { type Clock, isRecord, isTrunklineError, type Logger, systemClock, toTrunklineError } from "@trunkline/core";
import { RpcError } from "../protocol/rpc-error.js";
import type { Journal } from "./journal.js";

/** How a call ended: with a value, with what was thrown, or with the code of an error. */
export interface CallEnd {
  readonly value?: unknown;
  readonly error?: unknown;
  readonly code?: string | undefined;
}

/** Begins to time a call of this client. What it answers with notes the call. */
export type BeginCall = (operation: string, client: string) => (end: CallEnd) => void;

/** Where nothing is noted. */
export const notNoted: BeginCall = () => () => {};

/** Makes the way to note calls. */
export function callNotes(options: {
  readonly journal?: Journal | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}): BeginCall {
  const { journal, logger, clock = systemClock } = options;
  return (operation, client) => {
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
  };
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
