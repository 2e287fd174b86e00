// Handles Ctrl-C in stages. Usually it ends the command, but a command with something smaller to stop, such as a
// running call or a turn, gets it first.

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/**
 * Handles a Ctrl-C. Returns false if there was nothing to stop; then the next handler is tried, and finally the command
 * ends.
 */
type OnInterrupt = () => boolean;

export class Interrupts {
  readonly #ending = new AbortController();
  readonly #handlers: OnInterrupt[] = [];
  readonly #raise: (signal: StopSignal) => void;

  /** `raise`: how `raise()` reaches the outside world; `press` by default. */
  constructor(raise?: (signal: StopSignal) => void) {
    this.#raise = raise ?? ((signal) => this.press(signal));
  }

  /** Aborts when the command must end. The reason is the signal's name. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  press(signal: StopSignal): void {
    if (signal === "SIGINT" && this.#handlers.findLast((onInterrupt) => onInterrupt()) !== undefined) return;
    this.#ending.abort(signal);
  }

  /** Reports a Ctrl-C that a prompt read from the terminal. */
  raise(): void {
    this.#raise("SIGINT");
  }

  /** Handles Ctrl-C before all other handlers, until disposed. */
  take(onInterrupt: OnInterrupt): Disposable {
    this.#handlers.push(onInterrupt);
    return {
      [Symbol.dispose]: () => {
        const at = this.#handlers.lastIndexOf(onInterrupt);
        if (at !== -1) this.#handlers.splice(at, 1);
      },
    };
  }
}
