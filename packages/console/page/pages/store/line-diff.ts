// The difference between two texts, line by line, with line numbers.
import { lineEdits } from "@trunkline/core/text-diff";

interface LineChange {
  readonly sign: " " | "+" | "-";
  readonly text: string;
  /** Line numbers in the older and in the newer text, from 1. */
  readonly before?: number;
  readonly after?: number;
}

interface LineDiff {
  readonly changes: readonly LineChange[];
  readonly added: number;
  readonly removed: number;
  /** The texts differ so much that parts of them are shown as replaced, although they share lines. */
  readonly isRough: boolean;
}

export function diffLines(before: string, after: string): LineDiff {
  const { edits, isRough } = lineEdits(linesOf(before), linesOf(after));
  let [older, newer] = [0, 0];
  const changes = edits.map(({ sign, line: text }): LineChange => {
    if (sign === "-") return { sign, text, before: ++older };
    return sign === "+" ? { sign, text, after: ++newer } : { sign, text, before: ++older, after: ++newer };
  });
  const count = (wanted: LineChange["sign"]) => changes.filter(({ sign }) => sign === wanted).length;
  return { changes, added: count("+"), removed: count("-"), isRough };
}

/** Lines as editors count them: the last line break does not begin another one. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The changes with `context` equal lines around them; `undefined` marks equal lines that were left out. */
export function hunksOf(changes: readonly LineChange[], context = 3): readonly (LineChange | undefined)[] {
  const isNear = new Uint8Array(changes.length);
  changes.forEach(({ sign }, index) => {
    if (sign !== " ") isNear.fill(1, Math.max(0, index - context), index + context + 1);
  });
  const shown: (LineChange | undefined)[] = [];
  changes.forEach((change, index) => {
    if (isNear[index] === 1) shown.push(change);
    else if (shown.length === 0 || shown.at(-1) !== undefined) shown.push(undefined);
  });
  return shown;
}
