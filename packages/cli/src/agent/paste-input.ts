// Keys on their way from the terminal to the line editor. What is pasted comes between two marks (bracketed paste); its line
// ends become a sign that the editor shows, so that the paste stays one entry. Whatever is typed ahead of a line's end is
// kept for the next line: the editor would drop it.
import { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";
/** What stands for a line end and a tab within one line of the editor. */
const LINE_SIGN = "\u2424";
const TAB_SIGN = "\u2409";

/** Text as the editor's one line shows it. */
export function toEditorLine(text: string): string {
  return text.replace(/\r\n|\r|\n/g, LINE_SIGN).replaceAll("\t", TAB_SIGN);
}

/** The text behind a line of the editor. */
export function fromEditorLine(line: string): string {
  return line.replaceAll(LINE_SIGN, "\n").replaceAll(TAB_SIGN, "\t");
}

/** Splits what comes from a terminal into keys and pastes; a mark may be cut anywhere. */
export class PasteReader {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #pasted: string | undefined;

  /** The keys in a chunk, pastes made one line. */
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

/** A paste's last line end goes: whoever pastes sends it with Enter. Keys within it would otherwise be pressed. */
function pastedLine(pasted: string): string {
  const line = toEditorLine(pasted.replace(/[\r\n]+$/, ""));
  return line.replace(/[\p{Cc}]/gu, "");
}

/**
 * How many characters at the end of a text may be the beginning of a mark. One alone is the key Escape, which must not
 * wait; within a paste there are no keys.
 */
function beginningAtEnd(text: string, mark: string): number {
  const least = mark === PASTE_END ? 1 : 2;
  for (let length = mark.length - 1; length >= least; length--) if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/** The stream that the line editor reads from. Keys are handed over at once, so that it is known which of them it took. */
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

  /** As a terminal has it: the editor calls it. */
  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    this.#terminal.setRawMode?.(isRaw);
    return this;
  }

  press(keys: string): void {
    this.emit("data", keys);
  }
}
