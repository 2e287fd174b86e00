// Tracks the calls in flight on one connection, and which call a server's request belongs to.
//
// A legacy stdio server does not say which call a question belongs to. With one channel in flight the owner is clear.
// With several it is not, so either only one is allowed at a time (`serialize`), or the question is declined. Most
// servers never ask, so channels take turns only at a server that has asked.
import type { Deadline } from "@trunkline/core";
import { type Channel, canAnswer, partyOf } from "./channel.js";
import type { Leaseholder } from "./leaseholder.js";

/** What to do when several channels use one legacy stdio server, which cannot say which of them it asks. */
export type AskPolicy = "serialize" | "isolate" | "decline";

export interface Call {
  readonly holder: Leaseholder;
  readonly channel: Channel | undefined;
  readonly tool?: string;
  readonly deadline: Deadline;
  /** How many questions the call has caused. */
  questions: number;
  /** The questions that wait for an answer, as a person reads them. */
  readonly open: Set<string>;
}

/** What a call may wait for. */
interface TurnLimits {
  readonly holder: Leaseholder;
  readonly signal: AbortSignal | undefined;
  /** How long to wait behind a question that nobody answers. */
  readonly waitMs: number;
  /** Creates the error for a call that has waited too long. The question is undefined if it is another holder's. */
  readonly onBusy: (question: string | undefined) => Error;
}

interface Waiting {
  readonly holder: Leaseholder;
  readonly channel: Channel;
  readonly admit: () => void;
  readonly giveUp: (reason: unknown) => void;
}

export class InFlightTable {
  readonly #calls = new Set<Call>();
  readonly #admitted = new Map<Channel, number>();
  readonly #waiting: Waiting[] = [];

  /** Adds a call, until {@link remove}. */
  add(call: Call): void {
    this.#calls.add(call);
  }

  remove(call: Call): void {
    this.#calls.delete(call);
  }

  /**
   * Returns the calls to one of which a question without a recipient must belong, all of one client; `several` if
   * clients are ambiguous.
   */
  owners(): readonly Call[] | "several" {
    const [first, ...others] = this.#calls;
    if (first === undefined) return [];
    const isOne = others.every((call) => partyOf(channelOf(call)) === partyOf(channelOf(first)));
    return isOne ? [first, ...others] : "several";
  }

  /** Those of the calls that are still in flight. */
  remaining(calls: readonly Call[]): readonly Call[] {
    return calls.filter((call) => this.#calls.has(call));
  }

  /** Whether any call in flight meets the condition. */
  some(condition: (call: Call) => boolean): boolean {
    return [...this.#calls].some(condition);
  }

  /** The holders with calls in flight. */
  holders(): ReadonlySet<Leaseholder> {
    return new Set([...this.#calls].map(({ holder }) => holder));
  }

  /** Ends the waiting of a holder's calls. */
  drop(holder: Leaseholder, reason: unknown): void {
    for (const waiting of this.#waiting.filter((each) => each.holder === holder)) waiting.giveUp(reason);
  }

  /** Begins a turn at once: the call only counts as being in flight. */
  begin(channel: Channel): void {
    this.#count(channel, 1);
  }

  /**
   * Waits until no other channel that could be asked is in flight, and begins a turn. Channels take turns in order of
   * arrival, so a busy one does not block the others. A call does not wait longer than `waitMs` behind a question:
   * whoever is asked may never answer.
   */
  async take(channel: Channel, limits: TurnLimits): Promise<void> {
    if (this.#mayEnter(channel)) this.#count(channel, 1);
    else await this.#wait(channel, limits);
  }

  /** Ends a turn. */
  end(channel: Channel): void {
    this.#count(channel, -1);
    this.#admitNext();
  }

  async #wait(channel: Channel, { holder, signal, waitMs, onBusy }: TurnLimits): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = (end: () => void) => {
        clearInterval(timer);
        signal?.removeEventListener("abort", onAbort);
        end();
      };
      const giveUp = (reason: unknown) => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        settle(() => reject(reason));
      };
      const waiting: Waiting = { holder, channel, admit: () => settle(resolve), giveUp };
      const onAbort = () => giveUp(signal?.reason);
      const timer = setInterval(() => {
        const asked = [...this.#calls].find(({ open }) => open.size > 0);
        // Nobody is asked: the other calls just take long, and their own timeouts end them.
        if (asked !== undefined) giveUp(onBusy(asked.holder === holder ? [...asked.open][0] : undefined));
      }, waitMs);
      timer.unref();
      this.#waiting.push(waiting);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  #mayEnter(channel: Channel): boolean {
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

  #count(channel: Channel, change: 1 | -1): void {
    const count = (this.#admitted.get(channel) ?? 0) + change;
    if (count === 0) this.#admitted.delete(channel);
    else this.#admitted.set(channel, count);
  }
}

/** The channel that counts for taking turns. */
function channelOf({ channel, holder }: Call): Channel {
  return channel ?? holder.noChannel;
}
