// Cuts out the part of a text that shows why it was found.
import { splitIdentifier } from "../engine/content/text.js";

const MAX_LINE_LENGTH = 240;

/**
 * Returns the line with the most terms, and the lines around it. `within` are the lines found by meaning. The number is
 * that of the line itself.
 */
export function cutSnippet(
  text: string,
  terms: readonly string[],
  {
    context,
    lineNumbers,
    within,
  }: { context: number; lineNumbers: boolean; within?: { readonly from: number; readonly to: number } },
): { snippet: string; line: number | undefined } {
  if (text === "") return { snippet: "", line: undefined };
  const lines = text.split(/\r?\n/);
  const stems = terms.flatMap((term) => [term, ...splitIdentifier(term)]).map(roughStem);
  const patterns = [...new Set(stems)].map((stem) => stem.toLowerCase());
  let best = { line: -1, count: 0 };
  const first = Math.min(lines.length, within?.from ?? 1) - 1;
  const end = Math.min(lines.length, within?.to ?? lines.length);
  for (let index = first; index < end; index++) {
    const lower = (lines[index] as string).toLowerCase();
    const count = patterns.reduce((sum, pattern) => sum + (lower.includes(pattern) ? 1 : 0), 0);
    if (count > best.count) {
      best = { line: index, count };
      if (count === patterns.length) break;
    }
  }
  const at =
    best.line === -1
      ? Math.max(
          0,
          lines.findIndex((line, index) => index >= first && line.trim() !== ""),
        )
      : best.line;
  const from = Math.max(0, at - context);
  const shown = lines.slice(from, at + context + 1).map((line, offset) => {
    const short = shorten(line, patterns);
    return lineNumbers ? `${from + offset + 1}: ${short}` : short;
  });
  return { snippet: shown.join("\n"), line: best.line === -1 && within === undefined ? undefined : at + 1 };
}

/** The index has stems; the text does not. Stripping common endings is enough to find the position. */
function roughStem(word: string): string {
  return word.length <= 4 ? word : word.replace(/(?:ing|ies|ed|es|s|y|e)$/i, "");
}

function shorten(line: string, patterns: readonly string[]): string {
  const trimmed = line.trimEnd();
  if (trimmed.length <= MAX_LINE_LENGTH) return trimmed;
  const lower = trimmed.toLowerCase();
  const places = patterns.map((pattern) => lower.indexOf(pattern)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - 60);
  const end = start + MAX_LINE_LENGTH;
  return `${start > 0 ? "…" : ""}${trimmed.slice(start, end)}${end < trimmed.length ? "…" : ""}`;
}
