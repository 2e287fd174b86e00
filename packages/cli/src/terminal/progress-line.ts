// How far a call has come: one line on the terminal, written over and over, gone before anything else is written.

/** Erases the line and returns to its beginning. */
const ERASE = "\r\u001b[K";

/** Not more often than the eye can follow: a server may report thousands of times a second. */
const INTERVAL_MS = 50;

/** A terminal to write to: `process.stderr`. */
interface Screen {
  /** 0 or absent where the terminal does not say. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** One line that is updated in place. While it is held, it is not shown. */
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

  /** Shows this text, which must be printable, in place of the former. */
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

  /** Takes the line away; the next update brings it back. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#shown) this.#screen.write(ERASE);
    this.#shown = false;
  }

  /** Keeps the line away until the disposable is disposed of. */
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

/** As much as surely fits into one row: what is not plain may be two columns wide. */
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
