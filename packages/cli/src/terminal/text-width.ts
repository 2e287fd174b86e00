// How wide a text is on a terminal, and how to break it into lines of a given width.
import type { OutputStream } from "./program-io.js";

/** Colour codes take no room. Everything else that could is made visible before it is measured. */
const ESCAPE = "\u001b";
const COLOUR_CODES = new RegExp(`${ESCAPE}\\[[\\d;]*m`, "g");

/** Marks that combine with the character before them, and joiners. */
const NO_WIDTH = /^(?:\p{M}|[\u200b-\u200d])$/u;

/** East Asian wide characters and emoji. */
const DOUBLE_WIDTH =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/** Returns how many columns a text takes. */
export function widthOf(text: string): number {
  const plain = text.replace(COLOUR_CODES, "");
  if (/^[ -~]*$/.test(plain)) return plain.length;
  let columns = 0;
  for (const char of plain) columns += NO_WIDTH.test(char) ? 0 : DOUBLE_WIDTH.test(char) ? 2 : 1;
  return columns;
}

/** Returns the width of a terminal. Anything else is as wide as its longest line: programs read lines. */
export function columnsOf({ isTTY, columns }: Pick<OutputStream, "isTTY" | "columns">): number {
  return isTTY === true ? columns || 80 : Number.POSITIVE_INFINITY;
}

const NO_BREAK = "\u00a0";

interface WrapOptions {
  readonly columns: number;
  /** What the first line begins with. */
  readonly indent?: string;
  /** What the other lines begin with. Default: the same. */
  readonly hang?: string;
}

/** Narrower text is harder to read than text that the terminal breaks. */
const NARROWEST = 20;

/**
 * Breaks a text at spaces into lines that fit. Longer words stay whole, so that paths and URLs can be copied. Line breaks
 * in the text stay.
 */
export function wrap(text: string, { columns, indent = "", hang = indent }: WrapOptions): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => wrapLine(line, { columns, indent: index === 0 ? indent : hang, hang }));
}

function wrapLine(text: string, { columns, indent, hang }: Required<WrapOptions>): string[] {
  const whole = `${indent}${text}`;
  if (widthOf(whole) <= columns) return [breakable(whole.trimEnd())];
  // On a very narrow terminal indentation costs too much.
  const rest = widthOf(hang) + NARROWEST > columns ? hang.slice(0, Math.max(0, columns - NARROWEST)) : hang;
  const lines: string[] = [];
  let line = indent;
  let isEmpty = true;
  // Several spaces in a row align columns; they are kept inside a line.
  for (const [, gap = "", word = ""] of text.matchAll(/( *)([^ ]+)/g)) {
    const next = isEmpty && lines.length > 0 ? `${line}${word}` : `${line}${gap}${word}`;
    if (!isEmpty && widthOf(next) > columns) {
      lines.push(line);
      line = `${rest}${word}`;
    } else line = next;
    isEmpty = false;
  }
  return [...lines, line].map(breakable);
}

/** Keeps the words of a text on one line: `2 ms`. */
export function unbroken(text: string): string {
  return text.replaceAll(" ", NO_BREAK);
}

function breakable(line: string): string {
  return line.replaceAll(NO_BREAK, " ");
}
