// All limits of the protocol layer in one place. Each keeps one client, or all clients of one principal, from slowing
// down the others.
import type { ParkedCallLimits } from "./parked-calls.js";
import type { TaskLimits } from "./task-table.js";

export interface ProtocolLimits {
  readonly parked: ParkedCallLimits;
  readonly tasks: TaskLimits;
  /** After this time, a call that can be a task becomes one, for a modern client that supports tasks. */
  readonly taskAfterMs: number;
  /** The same for a call whose task support is unknown. Later, because polling is slower than waiting. */
  readonly undeclaredTaskAfterMs: number;
  /** How long a client may take to answer one of our requests. */
  readonly questionTimeoutMs: number;
  /** Maximum number of concurrent notification streams per principal. */
  readonly maxSubscriptions: number;
  /** Maximum number of resources that one client can subscribe to. */
  readonly maxResourcesPerClient: number;
  /** Maximum number of concurrent requests per connection, and over HTTP per principal. */
  readonly maxInFlight: number;
  /** Maximum number of messages in a batch. */
  readonly maxBatch: number;
}

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
