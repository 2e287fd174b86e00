// The difference between two texts, line by line: Myers' algorithm in linear space. Imports nothing, so the console's page
// has it, too.

const CONTEXT = 3;
/** Beyond that, what is left to compare is shown as replaced: lists that share little would take minutes. */
const MOST_STEPS = 4_000_000;

interface LineEdit {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

interface LineEdits {
  readonly edits: readonly LineEdit[];
  /** The lists differ so much that parts of them are shown as replaced, although they share lines. */
  readonly isRough: boolean;
}

/** Returns a unified diff, empty if the texts are equal. */
export function unifiedDiff(
  before: string,
  after: string,
  { from, to, check = () => {} }: { from: string; to: string; check?: () => void },
): string {
  if (before === after) return "";
  const { edits } = lineEdits(linesOf(before), linesOf(after), check);
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

/** Returns a shortest list of edits that turns one list of lines into another. `check` is called often, and may throw. */
export function lineEdits(
  before: readonly string[],
  after: readonly string[],
  check: () => void = () => {},
): LineEdits {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [a1, b1] = [before.length, after.length];
  while (a1 > start && b1 > start && before[a1 - 1] === after[b1 - 1]) {
    a1--;
    b1--;
  }
  const ids = new Map<string, number>();
  const [a, b] = [numbered(before.slice(start, a1), ids), numbered(after.slice(start, b1), ids)];
  const work: Work = {
    a,
    b,
    removed: new Uint8Array(a.length),
    added: new Uint8Array(b.length),
    forward: new Int32Array(a.length + b.length + 3),
    backward: new Int32Array(a.length + b.length + 3),
    steps: 0,
    check,
  };
  compare(work, { a0: 0, a1: a.length, b0: 0, b1: b.length });
  const edits: LineEdit[] = [];
  for (let [at, to] = [0, 0]; at < before.length || to < after.length; ) {
    if (work.removed[at - start] === 1) edits.push({ sign: "-", line: before[at++] as string });
    else if (work.added[to - start] === 1) edits.push({ sign: "+", line: after[to++] as string });
    else {
      edits.push({ sign: " ", line: before[at++] as string });
      to++;
    }
  }
  return { edits, isRough: work.steps > MOST_STEPS };
}

/** Gives equal lines equal numbers, which are quicker to compare. */
function numbered(lines: readonly string[], ids: Map<string, number>): Int32Array {
  const numbers = new Int32Array(lines.length);
  for (const [index, line] of lines.entries()) {
    const known = ids.get(line);
    numbers[index] = known ?? ids.size;
    if (known === undefined) ids.set(line, ids.size);
  }
  return numbers;
}

interface Work {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
  /** How far each diagonal was followed, from the beginning and from the end. */
  readonly forward: Int32Array;
  readonly backward: Int32Array;
  readonly check: () => void;
  steps: number;
}

/** A part of both texts; the ends are exclusive. */
interface Box {
  readonly a0: number;
  readonly a1: number;
  readonly b0: number;
  readonly b1: number;
}

function compare(work: Work, box: Box): void {
  const { a, b } = work;
  let { a0, a1, b0, b1 } = box;
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) {
    a0++;
    b0++;
  }
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) {
    a1--;
    b1--;
  }
  const middle = a0 < a1 && b0 < b1 ? middleOf(work, { a0, a1, b0, b1 }) : undefined;
  if (middle === undefined) {
    work.removed.fill(1, a0, a1);
    work.added.fill(1, b0, b1);
    return;
  }
  compare(work, { a0, a1: middle.a0, b0, b1: middle.b0 });
  compare(work, { a0: middle.a1, a1, b0: middle.b1, b1 });
}

/**
 * Finds the run of equal lines (possibly empty) in the middle of a shortest edit script, by searching from both ends.
 * Undefined if the box has nothing in common, or if that would take too long.
 */
function middleOf(work: Work, { a0, a1, b0, b1 }: Box): Box | undefined {
  const { a, b, forward, backward } = work;
  const [n, m] = [a1 - a0, b1 - b0];
  const delta = n - m;
  const isOdd = (n + m) % 2 === 1;
  /** Where diagonal 0 is: they go from -m - 1 to n + 1. */
  const zero = m + 1;
  forward[zero + 1] = 0;
  backward[zero + 1] = 0;
  for (let depth = 0; depth <= Math.ceil((n + m) / 2); depth++) {
    work.check();
    const from = -(depth - 2 * Math.max(0, depth - m));
    const to = depth - 2 * Math.max(0, depth - n);
    for (let step = 1; step >= -1; step -= 2) {
      const isForward = step === 1;
      const [own, other] = isForward ? [forward, backward] : [backward, forward];
      const [startA, startB] = isForward ? [a0, b0] : [a1 - 1, b1 - 1];
      const canMeet = isOdd === isForward;
      const reach = isForward ? depth - 1 : depth;
      for (let k = from; k <= to; k += 2) {
        const left = own[zero + k - 1] as number;
        const right = own[zero + k + 1] as number;
        let x = k === -depth || (k !== depth && left < right) ? right : left + 1;
        const startX = x;
        while (x < n && x - k < m && a[startA + step * x] === b[startB + step * (x - k)]) x++;
        own[zero + k] = x;
        work.steps += 1 + x - startX;
        const opposite = delta - k;
        if (!canMeet || opposite < -reach || opposite > reach || x + (other[zero + opposite] as number) < n) continue;
        const [low, high] = isForward ? [startX, x] : [n - x, n - startX];
        const shift = isForward ? k : opposite;
        return { a0: a0 + low, a1: a0 + high, b0: b0 + low - shift, b1: b0 + high - shift };
      }
    }
    if (work.steps > MOST_STEPS) return undefined;
  }
  return undefined;
}

function hunksOf(edits: readonly LineEdit[]): string[] {
  const lines: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  let index = 0;
  while (index < edits.length) {
    if (edits[index]?.sign === " ") {
      index++;
      oldLine++;
      newLine++;
      continue;
    }
    const start = Math.max(0, index - CONTEXT);
    let end = index;
    for (let next = index; next < edits.length && next - end <= 2 * CONTEXT; next++) {
      if (edits[next]?.sign !== " ") end = next + 1;
    }
    const hunk = edits.slice(start, Math.min(edits.length, end + CONTEXT));
    const oldCount = hunk.filter((edit) => edit.sign !== "+").length;
    const newCount = hunk.filter((edit) => edit.sign !== "-").length;
    const lead = index - start;
    lines.push(`@@ -${range(oldLine - lead, oldCount)} +${range(newLine - lead, newCount)} @@`);
    lines.push(...hunk.map((edit) => edit.sign + edit.line));
    oldLine += oldCount - lead;
    newLine += newCount - lead;
    index = start + hunk.length;
  }
  return lines;
}

function range(start: number, count: number): string {
  return count === 1 ? String(start) : `${count === 0 ? start - 1 : start},${count}`;
}
