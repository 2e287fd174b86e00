// What a person approves in the console.

/**
 * A text that is not redacted on its way to the page. A secret that repeats a word of a command must not hide it from the
 * person who approves it. The text itself is made without secret values.
 */
class Verbatim {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toJSON(): string {
    return this.#text;
  }
}

export function asItIs(text: string): string {
  // In JSON, where the page sees it, it is a string. The redactor copies plain values only and leaves it alone.
  return new Verbatim(text) as unknown as string;
}
