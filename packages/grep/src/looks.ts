// Conditions between two characters, such as `^` and `\b`, and what has to be known about the character before.
import type { LookOp, SymbolClasses } from "./automaton.js";

/** What is known about the character before a position, as bits. */
export const AT_START = 1;
export const AFTER_WORD = 2;
export const AFTER_ASCII_WORD = 4;
export const AFTER_INVALID = 8;

/** Returns the bits for the position after a symbol of this class. */
export function bitsAfter(symbolClass: number, classes: SymbolClasses): number {
  let bits = 0;
  if (classes.isWord[symbolClass] === 1) bits |= AFTER_WORD;
  if (classes.isAsciiWord[symbolClass] === 1) bits |= AFTER_ASCII_WORD;
  if (symbolClass === classes.invalid) bits |= AFTER_INVALID;
  return bits;
}

/** Whether a look holds between what is known from before and the next symbol. */
export function holds(
  { look, ascii }: LookOp,
  { before, symbolClass, classes }: { before: number; symbolClass: number; classes: SymbolClasses },
): boolean {
  const was = (before & (ascii ? AFTER_ASCII_WORD : AFTER_WORD)) !== 0;
  const is = (ascii ? classes.isAsciiWord : classes.isWord)[symbolClass] === 1;
  switch (look) {
    case "line-start":
      return (before & AT_START) !== 0;
    case "line-end":
      return symbolClass === classes.lineFeed;
    case "word-boundary":
      return was !== is;
    case "not-word-boundary":
      return was === is;
    case "word-start":
      return !was && is;
    case "word-end":
      return was && !is;
    // ripgrep sees no word boundary next to an invalid byte.
    case "word-start-half":
      return !was && (before & AFTER_INVALID) === 0;
    default:
      return !is && symbolClass !== classes.invalid;
  }
}
