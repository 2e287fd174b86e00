// Every bound of the protocol layer in one place: each of them is what keeps one client from costing the others.
import type { ParkedCallLimits } from "./parked-calls.js";
import type { TaskLimits } from "./task-table.js";

/** The bounds of the protocol layer. */
export interface ProtocolLimits {
  readonly parked: ParkedCallLimits;
  readonly tasks: TaskLimits;
  /** After this long a call that may be a task becomes one, for a modern client that knows tasks. */
  readonly taskAfterMs: number;
  /** The same for a call of which nobody said that it may be one: late, since asking after it is slower than waiting. */
  readonly undeclaredTaskAfterMs: number;
  /** How long a client may take to answer a request of ours. */
  readonly questionTimeoutMs: number;
  /** Streams of notifications at a time. */
  readonly maxSubscriptions: number;
  /** Resources that one client may follow. */
  readonly maxResourcesPerClient: number;
  /** Requests of one connection at a time. */
  readonly maxInFlight: number;
  /** Messages in a batch. */
  readonly maxBatch: number;
}

/** The bounds, unless somebody says otherwise. */
export const DEFAULT_LIMITS: ProtocolLimits = {
  parked: { ttlMs: 15 * 60_000, max: 1_000 },
  tasks: { ttlMs: 60 * 60_000, maxTtlMs: 24 * 60 * 60_000, max: 1_000, pollIntervalMs: 500 },
  taskAfterMs: 500,
  undeclaredTaskAfterMs: 20_000,
  questionTimeoutMs: 10 * 60_000,
  maxSubscriptions: 1_000,
  maxResourcesPerClient: 1_000,
  maxInFlight: 10_000,
  maxBatch: 100,
};
