// What a model says, on its way to a person: no key of ours may be in it.
import type { Redactor } from "@trunkline/core";

/** Writes text that comes in pieces. A secret may be cut anywhere, so the last word waits until it is whole. */
export class PieceWriter {
  readonly #write: (text: string) => void;
  readonly #redactor: Redactor;
  #pending = "";
  #written = "";

  constructor(write: (text: string) => void, redactor: Redactor) {
    this.#write = write;
    this.#redactor = redactor;
  }

  /** Whether the cursor stands behind text. */
  get isOpen(): boolean {
    return this.#written !== "" && !this.#written.endsWith("\n");
  }

  add(piece: string): void {
    const text = this.#pending + piece;
    const end = text.search(/\s\S*$/) + 1;
    this.#pending = text.slice(end);
    this.#put(text.slice(0, end));
  }

  /** Writes what waits; with `endLine`, the line ends there. */
  flush({ endLine = false }: { endLine?: boolean } = {}): void {
    this.#put(this.#pending);
    this.#pending = "";
    if (endLine && this.isOpen) this.#put("\n");
  }

  #put(text: string): void {
    if (text === "") return;
    this.#write(this.#redactor.text(text));
    this.#written = text;
  }
}
