// What is going on right now: one terminal line, updated in place and cleared before other output.
import type { CommandContext } from "./context.js";
import { widthOf } from "./text-width.js";

/** Erases the line and returns to its start. */
const ERASE = "\r\u001b[K";

/** Updates no faster than the eye can follow: a server can report thousands of times a second. */
const INTERVAL_MS = 50;

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const FRAME_MS = 80;

/** A terminal to write to: `process.stderr`. */
interface Screen {
  /** 0 or absent if the terminal does not report it. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** Returns the progress line on stderr, or undefined if there is no terminal that can erase a line. */
export function progressLineFor(
  context: Pick<CommandContext, "io" | "env" | "notePalette" | "onNote">,
): ProgressLine | undefined {
  const { stderr } = context.io;
  // Every terminal that can erase a line says its name.
  const { TERM: term } = context.env;
  if (stderr.isTTY !== true || term === "dumb" || (!term && process.platform !== "win32")) return undefined;
  const line = new ProgressLine(stderr, context.notePalette.accent);
  context.onNote(() => line.erase());
  return line;
}

/** One line that is updated in place, and hidden while held. */
export class ProgressLine implements Disposable {
  readonly #screen: Screen;
  readonly #paint: (text: string) => string;
  #text = "";
  #shown = false;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;
  #spinning: NodeJS.Timeout | undefined;
  #frame = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `paint` colours the spinner. */
  constructor(screen: Screen, paint: (text: string) => string = (text) => text) {
    this.#screen = screen;
    this.#paint = paint;
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

  /** Replaces the shown text and turns a spinner in front of it until the line is cleared. */
  spin(text: string): void {
    if (this.#spinning === undefined) {
      this.#spinning = setInterval(() => {
        this.#frame = (this.#frame + 1) % FRAMES.length;
        if (this.#holds === 0) this.#draw();
      }, FRAME_MS);
      this.#spinning.unref();
    }
    this.update(text);
  }

  /** Removes the line; the next update brings it back. */
  clear(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#spinning);
    this.#timer = undefined;
    this.#spinning = undefined;
    this.erase();
  }

  /** Makes room for other output. A spinner comes back with its next turn. */
  erase(): void {
    if (this.#shown) this.#screen.write(ERASE);
    this.#shown = false;
  }

  /** Hides the line until the returned disposable is disposed. */
  hold(): Disposable {
    this.clear();
    this.#holds++;
    return { [Symbol.dispose]: () => void this.#holds-- };
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  #draw(): void {
    this.#timer = undefined;
    if (this.#holds > 0) return;
    this.#lastMs = performance.now();
    this.#shown = true;
    const columns = (this.#screen.columns || 80) - 1;
    const spinner = this.#spinning === undefined ? "" : `${this.#paint(FRAMES[this.#frame] ?? "")} `;
    this.#screen.write(`${ERASE}${spinner}${fit(this.#text, columns - widthOf(spinner))}`);
  }
}

/** Truncates to one row. */
function fit(text: string, columns: number): string {
  let used = 0;
  let kept = "";
  for (const char of text) {
    used += widthOf(char);
    if (used > columns) break;
    kept += char;
  }
  return kept;
}
