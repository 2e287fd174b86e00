// A unified diff by Myers' algorithm. Common prefixes and suffixes are stripped first, so memory use is linear for the
// part that differs.

const CONTEXT = 3;
/** Above this many differing lines, the shortest script costs too much and the middle is shown as replaced. */
const MAX_EDITS = 4000;

interface Edit {
  readonly kind: " " | "-" | "+";
  readonly line: string;
}

/** Returns a unified diff, empty if the texts are equal. */
export function unifiedDiff(
  before: string,
  after: string,
  { from, to, check = () => {} }: { from: string; to: string; check?: () => void },
): string {
  if (before === after) return "";
  const edits = editsBetween(linesOf(before), linesOf(after), check);
  const hunks = hunksOf(edits);
  return [`--- ${from}`, `+++ ${to}`, ...hunks].join("\n").concat("\n");
}

/** Splits text into lines. Marks a last line without a newline, as other tools do. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines[lines.length - 1] += "\n\\ No newline at end of file";
  return lines;
}

function editsBetween(a: readonly string[], b: readonly string[], check: () => void): Edit[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (line: string): Edit => ({ kind: " ", line });
  const middle = shortestEdits(a.slice(start, a.length - end), b.slice(start, b.length - end), check);
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

function shortestEdits(a: readonly string[], b: readonly string[], check: () => void): Edit[] {
  const replaced = (): Edit[] => [
    ...a.map((line): Edit => ({ kind: "-", line })),
    ...b.map((line): Edit => ({ kind: "+", line })),
  ];
  if (a.length === 0 || b.length === 0) return replaced();
  const most = Math.min(a.length + b.length, MAX_EDITS);
  const offset = most + 1;
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    check();
    trace.push(furthest.slice(offset - edits - 1, offset + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && at(furthest, offset + k - 1) < at(furthest, offset + k + 1));
      let x = down ? at(furthest, offset + k + 1) : at(furthest, offset + k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest[offset + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace);
    }
  }
  return replaced();
}

function walkBack(a: readonly string[], b: readonly string[], trace: readonly Int32Array[]): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let step = trace.length - 1; step >= 0; step--) {
    const furthest = trace[step] as Int32Array;
    const middle = step + 1;
    const k = x - y;
    const down = k === -step || (k !== step && at(furthest, middle + k - 1) < at(furthest, middle + k + 1));
    const previousK = down ? k + 1 : k - 1;
    const previousX = step === 0 ? 0 : at(furthest, middle + previousK);
    const previousY = step === 0 ? 0 : previousX - previousK;
    while (x > previousX && y > previousY && !(step > 0 && x === previousX && y === previousY)) {
      if (a[x - 1] !== b[y - 1]) break;
      edits.push({ kind: " ", line: a[x - 1] as string });
      x--;
      y--;
    }
    if (step === 0) break;
    if (down) edits.push({ kind: "+", line: b[y - 1] as string });
    else edits.push({ kind: "-", line: a[x - 1] as string });
    x = previousX;
    y = previousY;
  }
  return edits.reverse();
}

function at(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}

function hunksOf(edits: readonly Edit[]): string[] {
  const lines: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  let index = 0;
  while (index < edits.length) {
    if (edits[index]?.kind === " ") {
      index++;
      oldLine++;
      newLine++;
      continue;
    }
    const start = Math.max(0, index - CONTEXT);
    let end = index;
    for (let next = index; next < edits.length && next - end <= 2 * CONTEXT; next++) {
      if (edits[next]?.kind !== " ") end = next + 1;
    }
    const hunk = edits.slice(start, Math.min(edits.length, end + CONTEXT));
    const oldCount = hunk.filter((edit) => edit.kind !== "+").length;
    const newCount = hunk.filter((edit) => edit.kind !== "-").length;
    const lead = index - start;
    lines.push(`@@ -${range(oldLine - lead, oldCount)} +${range(newLine - lead, newCount)} @@`);
    lines.push(...hunk.map((edit) => edit.kind + edit.line));
    oldLine += oldCount - lead;
    newLine += newCount - lead;
    index = start + hunk.length;
  }
  return lines;
}

function range(start: number, count: number): string {
  return count === 1 ? String(start) : `${count === 0 ? start - 1 : start},${count}`;
}
