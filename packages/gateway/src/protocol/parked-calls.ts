// Calls that wait for a modern client to repeat its request with answers. The state sent to the client is a random name
// for the call, which cannot be guessed or forged. If several gateways share a store, it starts with the gateway's name.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Call } from "./call.js";
import { ownedId } from "./gateway-relay.js";

export interface ParkedCallLimits {
  /** How long a question waits for its answer. */
  readonly ttlMs: number;
  /** Above this number for one principal, its call that has waited longest is dropped. */
  readonly max: number;
}

interface Parked {
  readonly call: Call;
  /** Method and name of the request: the repeated request has to match. */
  readonly what: string;
  /** The current state and the previous one, whose response may have been lost. */
  states: string[];
  /** Runs while the call waits for the client; undefined while a repeated request follows the call. */
  timer: NodeJS.Timeout | undefined;
}

export class ParkedCalls {
  readonly #limits: ParkedCallLimits;
  readonly #gateway: string | undefined;
  readonly #byState = new Map<string, Parked>();
  readonly #byCall = new Map<Call, Parked>();

  constructor(limits: ParkedCallLimits, gateway?: string) {
    this.#limits = limits;
    this.#gateway = gateway;
  }

  get size(): number {
    return this.#byCall.size;
  }

  /** Parks a call, for the first time or again, and returns the state that the client has to send back. */
  park(call: Call, what: string): string {
    const parked = this.#byCall.get(call) ?? { call, what, states: [], timer: undefined };
    // Reinserted, so that the call that has waited longest is always first.
    this.#byCall.delete(call);
    this.#byCall.set(call, parked);
    const state = ownedId(this.#gateway, randomBytes(24).toString("base64url"));
    this.#byState.set(state, parked);
    parked.states.push(state);
    if (parked.states.length > 2) this.#byState.delete(parked.states.shift() as string);
    // Two concurrent retries park the call twice.
    clearTimeout(parked.timer);
    parked.timer = setTimeout(() => {
      this.#drop(parked, new TrunklineError("TIMEOUT", "The client did not return with an answer."));
    }, this.#limits.ttlMs);
    parked.timer.unref();
    const { principal } = call.caller;
    const waiting = [...this.#byCall.values()].filter(
      (other) => other.timer !== undefined && other.call.caller.principal === principal,
    );
    if (waiting.length > this.#limits.max && waiting[0] !== undefined) {
      this.#drop(waiting[0], new TrunklineError("ABORTED", "Too many calls are waiting for an answer."));
    }
    return state;
  }

  /** Returns the call to resume. Throws if the state is unknown or belongs to another request or principal. */
  take(state: unknown, what: string, principal: string): Call {
    const parked = typeof state === "string" ? this.#byState.get(state) : undefined;
    if (parked === undefined || parked.what !== what || parked.call.caller.principal !== principal) {
      throw unknownState();
    }
    clearTimeout(parked.timer);
    parked.timer = undefined;
    return parked.call;
  }

  /** Removes a call that has ended or become a task. */
  release(call: Call): void {
    const parked = this.#byCall.get(call);
    if (parked !== undefined) this.#forget(parked);
  }

  /** Aborts the calls of a principal whose tokens are no longer valid. */
  endPrincipal(principal: string): void {
    const reason = new TrunklineError("ABORTED", "The token is no longer valid.");
    for (const parked of [...this.#byCall.values()]) {
      if (parked.call.caller.principal === principal) this.#drop(parked, reason);
    }
  }

  /** Aborts every parked call. */
  close(): void {
    const reason = new TrunklineError("CLOSED", "The server is stopping.");
    for (const parked of [...this.#byCall.values()]) this.#drop(parked, reason);
  }

  #drop(parked: Parked, reason: Error): void {
    this.#forget(parked);
    parked.call.cancel(reason);
  }

  #forget(parked: Parked): void {
    clearTimeout(parked.timer);
    this.#byCall.delete(parked.call);
    for (const state of parked.states) this.#byState.delete(state);
  }
}

/** The state belongs to no call, or not to one of this principal. */
export function unknownState(): RpcError {
  return new RpcError(
    RPC_CODES.invalidParams,
    "The requestState is unknown, modified or expired. Repeat the call without it.",
    { data: { reason: "requestState" } },
  );
}
