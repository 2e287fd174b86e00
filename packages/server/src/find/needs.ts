// Splits a task into its needs: "read the sheet, plot it and save a PDF" asks for three different tools.
import { wordsOf } from "./words.js";

/** A part with fewer meaningful words belongs to its neighbour. */
const FEWEST_WORDS = 2;
/** Each need costs an embedding, and a page of text is not a list of tasks. */
const MOST_NEEDS = 8;

const BOUNDARY =
  /(?<=[\p{L}\p{N})"'\]])[.;!?:](?=\s|$)|,\s+|\s+(?:and|then|also|while|including|with|plus|or)\s+|\n+|[。；，、！？]/u;

/** Returns the parts of a question that ask for different things; none if it asks for one. */
export function needsOf(question: string): string[] {
  const needs: string[] = [];
  let short = "";
  for (const part of question.split(BOUNDARY)) {
    const text = `${short} ${part}`.trim();
    if (wordsOf(text).length >= FEWEST_WORDS) {
      needs.push(text);
      short = "";
    } else short = text;
    if (needs.length === MOST_NEEDS) break;
  }
  if (short !== "" && needs.length > 0) needs.push(`${needs.pop()} ${short}`);
  return needs.length > 1 ? needs : [];
}
