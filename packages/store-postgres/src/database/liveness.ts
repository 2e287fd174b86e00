// Notices a database that no longer answers although its connections are open: a stopped server, a lost network. A statement
// may take long, so only a second connection can tell.

/** How long all statements may be silent before the database is asked whether it is there. */
const QUIET_MS = 4000;
const LOOK_MS = 500;

export class Liveness {
  readonly #isAlive: () => Promise<boolean>;
  readonly #onDead: () => void;
  /** When each statement began that has not been answered. */
  readonly #waiting = new Set<{ readonly since: number }>();
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor({ isAlive, onDead }: { isAlive: () => Promise<boolean>; onDead: () => void }) {
    this.#isAlive = isAlive;
    this.#onDead = onDead;
  }

  /** Call it when a statement is sent, and the returned function when it was answered. */
  sent(): () => void {
    const statement = { since: performance.now() };
    this.#waiting.add(statement);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      this.#heardAt = performance.now();
      this.#waiting.delete(statement);
      if (this.#waiting.size === 0) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = performance.now();
    const oldest = [...this.#waiting].reduce((first, { since }) => Math.min(first, since), now);
    if (this.#asking || now - Math.max(this.#heardAt, oldest) < QUIET_MS) return;
    this.#asking = true;
    void this.#isAlive().then((isAlive) => {
      this.#asking = false;
      if (isAlive) this.#heardAt = performance.now();
      else if (this.#waiting.size > 0) this.#onDead();
    });
  }
}
