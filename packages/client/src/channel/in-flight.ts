// Tracks the calls in flight on one connection, and which call a server's request belongs to.
//
// A legacy stdio server does not say which call a question belongs to. With one channel in flight the owner is clear.
// With several it is not, so either only one is allowed at a time (`serialize`), or the question is declined.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Deadline } from "@trunkline/core";
import { type Channel, canAnswer, partyOf, runOutsideChannels } from "./channel.js";

/** What to do when several channels use one legacy stdio server, which cannot say which of them it asks. */
export type AskPolicy = "serialize" | "isolate" | "decline";

export interface Call {
  readonly channel: Channel | undefined;
  readonly tool?: string | undefined;
  readonly deadline: Deadline;
  /** How many questions the call has caused. */
  questions: number;
}

interface Waiting {
  readonly channel: Channel | undefined;
  readonly admit: () => void;
}

export class InFlightTable {
  readonly #calls = new Set<Call>();
  readonly #admitted = new Map<Channel | undefined, number>();
  readonly #waiting: Waiting[] = [];

  /** Adds a call until the returned disposable is disposed. */
  add(call: Call): Disposable {
    this.#calls.add(call);
    return { [Symbol.dispose]: () => void this.#calls.delete(call) };
  }

  /** Returns the call that a question without a recipient must belong to; `several` if it is ambiguous. */
  owner(): Call | "none" | "several" {
    const [first, ...others] = this.#calls;
    if (first === undefined) return "none";
    return others.every(({ channel }) => partyOf(channel) === partyOf(first.channel)) ? first : "several";
  }

  /**
   * Waits until no other channel that could be asked is in flight. Channels take turns in order of arrival, so a busy
   * one does not block the others.
   */
  async turn(channel: Channel | undefined, signal: AbortSignal): Promise<Disposable> {
    if (!this.#mayEnter(channel)) {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { channel, admit: () => settle(resolve) };
        const settle = (end: () => void) => {
          signal.removeEventListener("abort", onAbort);
          end();
        };
        const onAbort = () => {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          settle(() => reject(signal.reason));
        };
        this.#waiting.push(waiting);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
      });
    } else this.#count(channel, 1);
    let left = false;
    return {
      [Symbol.dispose]: () => {
        if (left) return;
        left = true;
        this.#count(channel, -1);
        this.#admitNext();
      },
    };
  }

  #mayEnter(channel: Channel | undefined): boolean {
    const present = [...this.#admitted.keys(), ...this.#waiting.map((waiting) => waiting.channel)];
    if (present.every((other) => partyOf(other) === partyOf(channel))) return true;
    return !canAnswer(channel) && !present.some(canAnswer);
  }

  /**
   * Admits all waiting calls of the next channel in line. They are counted here, so no other call can get in between.
   */
  #admitNext(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#admitted.size > 0) return;
    for (const waiting of this.#waiting.filter(({ channel }) => partyOf(channel) === partyOf(next.channel))) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      this.#count(waiting.channel, 1);
      waiting.admit();
    }
  }

  #count(channel: Channel | undefined, change: 1 | -1): void {
    const count = (this.#admitted.get(channel) ?? 0) + change;
    if (count === 0) this.#admitted.delete(channel);
    else this.#admitted.set(channel, count);
  }
}

const callScope = new AsyncLocalStorage<Call>();

/**
 * Sends a request in the scope of its call. Over HTTP, messages on the response's own stream are then known to belong
 * to that call.
 */
export function runInCall<T>(call: Call, send: () => T): T {
  return callScope.run(call, send);
}

/** Returns the call on whose stream the current message arrived; undefined over stdio and on a separate stream. */
export function currentCall(): Call | undefined {
  return callScope.getStore();
}

/** Runs `work` outside every call and channel. Keeps long-lived work out of its first caller's scope. */
export function runOutsideScopes<T>(work: () => T): T {
  return callScope.exit(() => runOutsideChannels(work));
}
