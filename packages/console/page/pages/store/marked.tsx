// Text with the parts highlighted that a search was for.
import type { ComponentChildren } from "preact";
import { visible } from "../../kit/wording.js";

const MOST_CHARS = 400;
const BEFORE_MATCH = 60;

/** A line, cut around its first match. */
export function Marked({ text, pattern }: { readonly text: string; readonly pattern: RegExp | undefined }) {
  const start = text.slice(0, 2_000);
  const first = pattern === undefined ? -1 : start.search(pattern);
  const from = first > MOST_CHARS - 100 ? first - BEFORE_MATCH : 0;
  const shown = start.slice(from, from + MOST_CHARS);
  const parts: ComponentChildren[] = [];
  let at = 0;
  if (pattern !== undefined) {
    for (const { 0: match, index } of shown.matchAll(pattern)) {
      if (match === "") break;
      parts.push(visible(shown.slice(at, index)), <mark key={index}>{visible(match)}</mark>);
      at = index + match.length;
    }
  }
  parts.push(visible(shown.slice(at)));
  return (
    <>
      {from > 0 && "… "}
      {parts}
      {text.length > from + MOST_CHARS && " …"}
    </>
  );
}
