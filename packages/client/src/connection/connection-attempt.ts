// An attempt to connect, which all callers share. Only the one who began it waits while its user is asked to sign in.
import type { Caller } from "../channel/caller.js";

export class Attempt {
  readonly #caller: Caller;
  /** Settles when the attempt has succeeded or failed. */
  readonly done: Promise<void>;
  /** Rejects if the attempt cannot succeed without asking a user. */
  readonly #asking: Promise<never>;

  /** Starts the work. It calls `onAsking` with the reason before it asks a user. `onEnd` is called when it has settled. */
  constructor(caller: Caller, work: (onAsking: (reason: unknown) => void) => Promise<void>, onEnd: () => void) {
    this.#caller = caller;
    let onAsking: (reason: unknown) => void = () => {};
    this.#asking = new Promise<never>((_, reject) => {
      onAsking = reject;
    });
    // Usually no one else waits.
    this.#asking.catch(() => {});
    this.done = work((reason) => onAsking(reason)).finally(onEnd);
  }

  /** What a caller waits for. */
  for(caller: Caller): Promise<void> {
    return caller === this.#caller ? this.done : Promise.race([this.done, this.#asking]);
  }
}
