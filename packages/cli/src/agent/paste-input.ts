// Passes keys from the terminal to the line editor. Pasted text arrives between two marks (bracketed paste); its line
// breaks become a visible sign, so that the paste stays one entry. Keys typed ahead of a line's end are kept for the
// next line, because the editor would drop them.
import { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";
/** Stand for a line break and a tab inside the editor's single line. */
const LINE_SIGN = "\u2424";
const TAB_SIGN = "\u2409";

/** Converts text to the editor's single line. */
export function toEditorLine(text: string): string {
  return text.replace(/\r\n|\r|\n/g, LINE_SIGN).replaceAll("\t", TAB_SIGN);
}

/** Converts an editor line back to text. */
export function fromEditorLine(line: string): string {
  return line.replaceAll(LINE_SIGN, "\n").replaceAll(TAB_SIGN, "\t");
}

/** Splits terminal input into keys and pastes; a mark can be cut anywhere. */
export class PasteReader {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #pasted: string | undefined;

  /** Returns the keys in a chunk, with each paste as one line. */
  read(chunk: Buffer | string): string {
    let text = this.#rest + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#rest = "";
    let keys = "";
    for (;;) {
      const mark: string = this.#pasted === undefined ? PASTE_BEGIN : PASTE_END;
      const at = text.indexOf(mark);
      const end = at === -1 ? text.length - beginningAtEnd(text, mark) : at;
      const before = text.slice(0, end);
      if (this.#pasted === undefined) keys += before;
      else this.#pasted += before;
      if (at === -1) {
        this.#rest = text.slice(end);
        return keys;
      }
      text = text.slice(at + mark.length);
      if (this.#pasted === undefined) this.#pasted = "";
      else {
        keys += pastedLine(this.#pasted);
        this.#pasted = undefined;
      }
    }
  }
}

/**
 * Drops a paste's final line break, because the user sends it with Enter, and its control characters, which would act
 * as key presses.
 */
function pastedLine(pasted: string): string {
  const line = toEditorLine(pasted.replace(/[\r\n]+$/, ""));
  return line.replace(/[\p{Cc}]/gu, "");
}

/**
 * Counts the characters at the end of a text that could be the start of a mark. A single one is the Escape key, which
 * must not wait; inside a paste there are no keys.
 */
function beginningAtEnd(text: string, mark: string): number {
  const least = mark === PASTE_END ? 1 : 2;
  for (let length = mark.length - 1; length >= least; length--) if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/** The stream the line editor reads from. Keys are handed over at once, so we know which ones the editor consumed. */
export class KeyStream extends Readable {
  readonly isTTY = true;
  isRaw = false;
  readonly #terminal: { setRawMode?(isRaw: boolean): unknown };

  /** `terminal`: where the keys come from. */
  constructor(terminal: { setRawMode?(isRaw: boolean): unknown }) {
    super();
    this.#terminal = terminal;
  }

  override _read(): void {}

  /** Called by the editor, as on a real terminal. */
  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    this.#terminal.setRawMode?.(isRaw);
    return this;
  }

  press(keys: string): void {
    this.emit("data", keys);
  }
}
