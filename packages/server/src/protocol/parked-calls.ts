// Calls that wait for the client of the modern era to repeat its request with answers. The state that the client is given is
// a random name for the call: it says nothing, and cannot be guessed or forged.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Call } from "./call.js";

/** What bounds the table. */
export interface ParkedCallLimits {
  /** How long a question waits for its answer. */
  readonly ttlMs: number;
  /** More than this, and the one that has waited longest is given up. */
  readonly max: number;
}

interface Parked {
  readonly call: Call;
  /** Method and name of the request: the repeated one has to be the same. */
  readonly what: string;
  /** The current state and the one before it, whose answer may have got lost. */
  states: string[];
  timer: NodeJS.Timeout | undefined;
}

/** The table of parked calls. */
export class ParkedCalls {
  readonly #limits: ParkedCallLimits;
  readonly #byState = new Map<string, Parked>();
  readonly #byCall = new Map<Call, Parked>();

  constructor(limits: ParkedCallLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#byCall.size;
  }

  /** Parks a call, anew or again, and names the state that the client is to send back. */
  park(call: Call, what: string): string {
    const parked = this.#byCall.get(call) ?? { call, what, states: [], timer: undefined };
    // Set again, so that the one that has waited longest is always the first.
    this.#byCall.delete(call);
    this.#byCall.set(call, parked);
    const state = randomBytes(24).toString("base64url");
    this.#byState.set(state, parked);
    parked.states.push(state);
    if (parked.states.length > 2) this.#byState.delete(parked.states.shift() as string);
    parked.timer = setTimeout(() => {
      this.#drop(parked, new TrunklineError("TIMEOUT", "The client did not come back with an answer."));
    }, this.#limits.ttlMs);
    parked.timer.unref();
    const [longest] = this.#byCall.values();
    if (this.#byCall.size > this.#limits.max && longest !== undefined) {
      this.#drop(longest, new TrunklineError("ABORTED", "Too many calls wait for an answer."));
    }
    return state;
  }

  /** The call that goes on. Throws where there is none of this state, or it belongs to another request. */
  take(state: unknown, what: string): Call {
    const parked = typeof state === "string" ? this.#byState.get(state) : undefined;
    if (parked === undefined || parked.what !== what) {
      throw new RpcError(
        RPC_CODES.invalidParams,
        "The requestState is unknown, changed or expired: make the call again without it.",
        { data: { reason: "requestState" } },
      );
    }
    clearTimeout(parked.timer);
    return parked.call;
  }

  /** The call waits no more: it ended, or became a task. */
  release(call: Call): void {
    const parked = this.#byCall.get(call);
    if (parked !== undefined) this.#forget(parked);
  }

  /** Ends every parked call. */
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
