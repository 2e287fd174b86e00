// The progress of a call: one terminal line, updated in place and cleared before other output.

/** Erases the line and returns to its start. */
const ERASE = "\r\u001b[K";

/** Updates no faster than the eye can follow: a server can report thousands of times a second. */
const INTERVAL_MS = 50;

/** A terminal to write to: `process.stderr`. */
interface Screen {
  /** 0 or absent if the terminal does not report it. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** One line that is updated in place, and hidden while held. */
export class ProgressLine {
  readonly #screen: Screen;
  #text = "";
  #shown = false;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Replaces the shown text. It must be printable. */
  update(text: string): void {
    this.#text = text;
    if (this.#timer !== undefined || this.#holds > 0) return;
    const waitMs = this.#lastMs + INTERVAL_MS - performance.now();
    if (waitMs <= 0) this.#draw();
    else {
      this.#timer = setTimeout(() => this.#draw(), waitMs);
      this.#timer.unref();
    }
  }

  /** Removes the line; the next update brings it back. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#shown) this.#screen.write(ERASE);
    this.#shown = false;
  }

  /** Hides the line until the returned disposable is disposed. */
  hold(): Disposable {
    this.clear();
    this.#holds++;
    return { [Symbol.dispose]: () => void this.#holds-- };
  }

  #draw(): void {
    this.#timer = undefined;
    if (this.#holds > 0) return;
    this.#lastMs = performance.now();
    this.#shown = true;
    this.#screen.write(`${ERASE}${fit(this.#text, (this.#screen.columns || 80) - 1)}`);
  }
}

/** Truncates to one row. Non-ASCII characters can be two columns wide. */
function fit(text: string, columns: number): string {
  let used = 0;
  let kept = "";
  for (const char of text) {
    used += char >= " " && char <= "~" ? 1 : 2;
    if (used > columns) break;
    kept += char;
  }
  return kept;
}
