// Finds the forms of all known secrets in a text. The time grows with the length of the text and with the size of the
// secrets, but not with both at once, whatever they are: a project chooses both. A regular expression would be too large
// for the engine, which throws an error that quotes the secret.
import { REDACTED } from "./literal-secrets.js";

/** A text to look for. */
export interface Form {
  readonly text: string;
  /** What replaces it. */
  readonly shown: string;
  /** Whether the next character and the padding belong to it. */
  readonly isBase64: boolean;
}

/** A form, or a piece of a long one, at its place in a text. */
export interface Found {
  readonly start: number;
  readonly end: number;
  readonly form: Form;
}

/** A longer form is found by its pieces. */
const PIECE_LENGTH = 256;
/** Pieces overlap, so that the places where they are found do too. */
const PIECE_STEP = PIECE_LENGTH - 1;
/** The hash covers the last characters of this number, because each shifts those before by 5 of 30 bits. No form is shorter. */
const HEAD_LENGTH = 6;
const HASH_MASK = 0x3fffffff;
/** The next character holds the secret's last bits. */
const BASE64_END = /[\w+/-]?={0,2}/y;

/** Forms with at least 6 characters. */
export class FormIndex {
  /** In the order of their texts, without pieces of the same text. */
  readonly #forms: readonly Form[];
  /** For each form, the longest other one that it begins with, or -1. */
  readonly #shorter: readonly number[];
  /** Hashes of the first characters of forms, folded: nearly everywhere in a text, no form begins. */
  readonly #heads: Uint8Array;

  constructor(forms: Iterable<Form>) {
    this.#forms = sortedPieces(forms);
    this.#shorter = shorterForms(this.#forms);
    this.#heads = new Uint8Array(2 ** Math.min(22, 12 + Math.ceil(Math.log2(this.#forms.length + 1))));
    for (const { text } of this.#forms) {
      let hash = 0;
      for (let at = 0; at < HEAD_LENGTH; at++) hash = nextHash(hash, text.charCodeAt(at));
      this.#heads[this.#fold(hash)] = 1;
    }
  }

  /** Returns the longest form at each place where one begins, in order. */
  find(text: string): Found[] {
    const found: Found[] = [];
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = nextHash(hash, text.charCodeAt(at));
      const start = at - HEAD_LENGTH + 1;
      if (start < 0 || this.#heads[this.#fold(hash)] === 0) continue;
      const form = this.#longestAt(text, start);
      if (form === undefined) continue;
      const end = start + form.text.length;
      found.push({ start, end: form.isBase64 ? base64End(text, end) : end, form });
    }
    return found;
  }

  #fold(hash: number): number {
    return (hash ^ (hash >>> 15)) & (this.#heads.length - 1);
  }

  /** The last form that is not after the rest of the text begins with every form that the rest begins with. */
  #longestAt(text: string, start: number): Form | undefined {
    const rest = text.slice(start, start + PIECE_LENGTH);
    let [low, high] = [0, this.#forms.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#forms[middle]?.text ?? "") <= rest) low = middle + 1;
      else high = middle;
    }
    for (let at = low - 1; at >= 0; at = this.#shorter[at] ?? -1) {
      const form = this.#forms[at];
      if (form !== undefined && rest.startsWith(form.text)) return form;
    }
    return undefined;
  }
}

function nextHash(hash: number, char: number): number {
  return ((hash << 5) ^ char) & HASH_MASK;
}

function base64End(text: string, at: number): number {
  BASE64_END.lastIndex = at;
  return BASE64_END.test(text) ? BASE64_END.lastIndex : at;
}

function sortedPieces(forms: Iterable<Form>): Form[] {
  const pieces = new Map<string, Form>();
  const add = (piece: Form) => {
    if (piece.text.length >= HEAD_LENGTH && !pieces.has(piece.text)) pieces.set(piece.text, piece);
  };
  const long: Form[] = [];
  for (const form of forms)
    if (form.text.length <= PIECE_LENGTH) add(form);
    else long.push(form);
  for (const form of long) {
    const { text, isBase64 } = form;
    add({ ...form, text: text.slice(0, PIECE_LENGTH) });
    for (let end = PIECE_LENGTH + PIECE_STEP; end < text.length; end += PIECE_STEP)
      add({ text: text.slice(end - PIECE_LENGTH, end), shown: REDACTED, isBase64 });
    add({ text: text.slice(-PIECE_LENGTH), shown: REDACTED, isBase64 });
  }
  return [...pieces.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

function shorterForms(sorted: readonly Form[]): number[] {
  const open: number[] = [];
  return sorted.map(({ text }, at) => {
    while (open.length > 0 && !text.startsWith(sorted[open.at(-1) ?? 0]?.text ?? "")) open.pop();
    const shorter = open.at(-1) ?? -1;
    open.push(at);
    return shorter;
  });
}
