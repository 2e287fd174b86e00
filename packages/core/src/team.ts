// The port for gateways that work on one store: what they share besides documents. Only a store on a database has it.
import { randomBytes } from "node:crypto";

/** A name for a gateway: it is part of ids that clients send back, and of a channel of the database. */
const GATEWAY_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/;

export function isGatewayName(name: string): boolean {
  return GATEWAY_NAME.test(name);
}

/** Returns a name for a gateway that was given none. */
export function randomGatewayName(): string {
  return `g-${randomBytes(6).toString("hex")}`;
}

/** The gateways of a store. */
export interface Team {
  /** Joins under this name. Rejects with `USAGE` if a living gateway has it, and with `STORE_UNAVAILABLE`. */
  join(name: string): Promise<Gateway>;
}

/** A request of another gateway. */
export interface GatewayRequest {
  readonly body: Uint8Array;
  /** Aborted when the other gateway cancels the request or is gone. */
  readonly signal: AbortSignal;
  /** Sends something ahead of the answer. Parts arrive in order. Never throws; what cannot be delivered is dropped. */
  send(part: Uint8Array): void;
}

/**
 * How a request to another gateway ended. `unknown`: there was no such gateway lately. `gone`: it has ended, or ended
 * before it answered.
 */
export type GatewayAnswer =
  | { readonly kind: "answer"; readonly body: Uint8Array }
  | { readonly kind: "unknown" }
  | { readonly kind: "gone" };

/** A task that has ended. */
export interface EndedTask {
  readonly id: string;
  readonly principal: string;
  readonly detail: Uint8Array;
  /** How much longer it is kept. */
  readonly ttlMs: number;
  /** Above this number for one principal, its oldest one is removed. */
  readonly max: number;
}

/** A batch with an idempotency key. */
export interface BatchKey {
  readonly principal: string;
  /** Stands for the idempotency key. */
  readonly id: string;
  /** Stands for the operations of the batch. */
  readonly batch: string;
}

/**
 * The state of a batch with a key, whatever gateway has claimed it. `batch` is what was claimed.
 * - `claimed`: this gateway has it now, and has to call `endBatch`.
 * - `running`: another caller has it. `waitForBatch` waits for a change.
 * - `ended`: it has a result.
 * - `lost`: its gateway ended before it had a result.
 */
export type BatchClaim =
  | { readonly kind: "claimed" }
  | { readonly kind: "running"; readonly batch: string }
  | { readonly kind: "ended"; readonly batch: string; readonly result: Uint8Array }
  | { readonly kind: "lost"; readonly batch: string };

/**
 * One gateway of a team. All methods reject with `STORE_UNAVAILABLE` while the database cannot be reached, and recover by
 * themselves. Durations and expiry are measured by the database or by one gateway, so their clocks need not agree.
 */
export interface Gateway extends AsyncDisposable {
  readonly name: string;
  /**
   * Handles the requests of other gateways until the returned function is called. A rejection counts as `undefined`:
   * there is no answer, because the request was cancelled.
   */
  serve(handler: (request: GatewayRequest) => Promise<Uint8Array | undefined>): () => void;
  /** Sends a request to another gateway. Rejects with `ABORTED` on the signal, which also cancels the request. */
  ask(
    gateway: string,
    body: Uint8Array,
    options: { signal: AbortSignal; onPart: (part: Uint8Array) => void },
  ): Promise<GatewayAnswer>;
  keepTask(task: EndedTask): Promise<void>;
  /** Returns the details of an ended task of this principal, made at any gateway. */
  findTask(id: string, principal: string): Promise<Uint8Array | undefined>;
  /** Removes the ended tasks of a principal. */
  forgetTasks(principal: string): Promise<void>;
  /** Claims a batch for this gateway unless it has been claimed within the last `keptMs`. */
  claimBatch(key: BatchKey, keptMs: number): Promise<BatchClaim>;
  /** Ends a claim: with its result, as if it had never been made (`released`), or without a known outcome (`lost`). */
  endBatch(key: BatchKey, outcome: Uint8Array | "released" | "lost"): Promise<void>;
  /** Resolves when a running batch may have ended. Rejects with `ABORTED`. */
  waitForBatch(key: BatchKey, signal: AbortSignal): Promise<void>;
  /** Leaves the team: others learn at once that this gateway is gone. Idempotent. */
  leave(): Promise<void>;
}
