// Cuts the long lines that `grep` finds to the text around their match. Many results are one line of JSON, and its
// beginning would fill the answer without showing the match.
import { isRecord } from "@trunkline/core";

/** Shorter lines are shown whole. */
const LONGEST_LINE = 1_000;
const SHOWN_BEFORE = 200;
const SHOWN_AFTER = 200;

const NOTICE =
  'Long lines are cut to the text around their first match. only_matching returns every match; get {"hash", "bytes"} reads more.';

/** Returns the result of `grep`, or of one for each item, with short lines. The value itself stays as it is. */
export function withShortLines(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withShortLines);
  if (!isRecord(value) || !Array.isArray(value.matches)) return value;
  const matches = value.matches.map(shortMatch);
  const isCut = matches.some((match, index) => match !== (value.matches as unknown[])[index]);
  return isCut ? { ...value, matches, notice: NOTICE } : value;
}

function shortMatch(match: unknown): unknown {
  if (!isRecord(match) || typeof match.text !== "string") return match;
  const { text, match_end: matchEnd, before, after } = match;
  const hasLong = [text, before, after].flat().some((line) => typeof line === "string" && line.length > LONGEST_LINE);
  if (!hasLong) return match;
  return {
    ...match,
    text: around(text, typeof matchEnd === "number" ? matchEnd : 0),
    ...(Array.isArray(before) ? { before: before.map((line) => around(line, 0)) } : {}),
    ...(Array.isArray(after) ? { after: after.map((line) => around(line, 0)) } : {}),
  };
}

/** Returns the part of a long line around a position, with marks where it was cut. */
function around(line: string, position: number): string {
  if (line.length <= LONGEST_LINE) return line;
  const from = Math.max(0, position - SHOWN_BEFORE);
  const to = Math.min(line.length, Math.max(position, SHOWN_BEFORE) + SHOWN_AFTER);
  // Keeps pairs of surrogates together.
  const shown = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${from > 0 ? "…" : ""}${shown}${to < line.length ? "…" : ""}`;
}
