// Truncates text to a number of characters. A character is a code point, so a surrogate pair is never split. If it is
// cheap, grapheme clusters are not split either.
import { TrunklineError } from "@trunkline/core";

/** The start of a text. */
interface CutText {
  readonly text: string;
  readonly keptChars: number;
  readonly leftOutChars: number;
}

/** Code units around a cut that are examined to find where a visible character starts. */
const WINDOW = 64;

/** Created on first use: it takes longer than the rest of the package to load. */
let graphemes: Intl.Segmenter | undefined;

/**
 * The text, or its first `maxChars` characters and a note on how much was omitted and how to get it. The note does not
 * count towards the cap. `howToGet` ends the note's sentence; by default, the note refers to the raw result.
 */
export function capText(text: string, maxChars: number, howToGet?: string): string {
  const cut = cutText(text, maxChars);
  if (cut.leftOutChars === 0) return text;
  const { leftOutChars, keptChars } = cut;
  const note = leftOutNote({ leftOutChars, totalChars: keptChars + leftOutChars, howToGet });
  return cut.text === "" ? note : `${cut.text}\n${note}`;
}

/** Cuts a text to its first `maxChars` characters, or a few fewer to keep a visible character whole. */
export function cutText(text: string, maxChars: number): CutText {
  if (Number.isNaN(maxChars) || maxChars < 0) {
    throw new TrunklineError("INVALID_ARGUMENT", `A cap of ${maxChars} characters is not valid.`, {
      hint: "Use 0 or more.",
    });
  }
  const limit = Math.floor(maxChars);
  let end = 0;
  let chars = 0;
  for (; end < text.length && chars < limit; chars++) end += codePointLength(text, end);
  if (end >= text.length) return { text, keptChars: chars, leftOutChars: 0 };
  const kept = text.slice(0, wholeCharacterEnd(text, end));
  const keptChars = chars - countChars(text, kept.length, end);
  return { text: kept, keptChars, leftOutChars: chars - keptChars + countChars(text, end, text.length) };
}

/** Builds the sentence that replaces the omitted text. */
export function leftOutNote(left: { leftOutChars: number; totalChars: number; howToGet?: string }): string {
  const { leftOutChars, totalChars, howToGet = "the raw result has all of them" } = left;
  return `[${leftOutChars} of ${totalChars} characters left out; ${howToGet}]`;
}

/**
 * Finds the end of the last visible character at or before `end`; returns `end` itself if that is hard to determine.
 */
function wholeCharacterEnd(text: string, end: number): number {
  if (end === 0 || isPlain(text, end)) return end;
  // Segmentation must start at a known character boundary, or flags and family emoji would be paired wrongly.
  let start = end;
  while (start > 0 && end - start < WINDOW && !isPlain(text, start)) start--;
  if (start > 0 && !isPlain(text, start)) return end;
  let boundary = start;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { index, segment } of graphemes.segment(text.slice(start, end + WINDOW))) {
    if (start + index > end) break;
    boundary = start + index;
    if (boundary + segment.length > end) break;
  }
  // If one visible character fills the whole cap, part of it is better than nothing.
  return boundary === 0 ? end : boundary;
}

/** A character that does not join with the one before it. */
function isPlain(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x20 && unit < 0x7f;
}

function codePointLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function countChars(text: string, from: number, to: number): number {
  let chars = 0;
  for (let at = from; at < to; at += codePointLength(text, at)) chars++;
  return chars;
}
