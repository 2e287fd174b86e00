// The difference between two texts, line by line: Myers' algorithm in linear space.

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

/** About a tenth of a second. */
const MOST_STEPS = 4_000_000;

export function diffLines(before: string, after: string): LineDiff {
  const old = linesOf(before);
  const now = linesOf(after);
  const ids = new Map<string, number>();
  const idOf = (line: string) => {
    const known = ids.get(line);
    if (known !== undefined) return known;
    ids.set(line, ids.size);
    return ids.size - 1;
  };
  const work: Work = {
    a: Int32Array.from(old, idOf),
    b: Int32Array.from(now, idOf),
    removed: new Uint8Array(old.length),
    added: new Uint8Array(now.length),
    steps: 0,
  };
  compare(work, { a0: 0, a1: old.length, b0: 0, b1: now.length });
  const changes: LineChange[] = [];
  let [added, removed, at, to] = [0, 0, 0, 0];
  while (at < old.length || to < now.length) {
    if (at < old.length && work.removed[at] === 1) {
      changes.push({ sign: "-", text: old[at] as string, before: ++at });
      removed++;
    } else if (to < now.length && work.added[to] === 1) {
      changes.push({ sign: "+", text: now[to] as string, after: ++to });
      added++;
    } else {
      changes.push({ sign: " ", text: old[at] as string, before: ++at, after: ++to });
    }
  }
  return { changes, added, removed, isRough: work.steps > MOST_STEPS };
}

/** Lines as editors count them: the last line break does not begin another one. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

interface Work {
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
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
  const { a, b } = work;
  const [n, m] = [a1 - a0, b1 - b0];
  const delta = n - m;
  const isOdd = (n + m) % 2 === 1;
  const size = 2 * Math.min(n, m) + 2;
  const forward = new Int32Array(size);
  const backward = new Int32Array(size);
  const slot = (k: number) => ((k % size) + size) % size;
  for (let depth = 0; depth <= Math.ceil((n + m) / 2); depth++) {
    for (const isForward of [true, false]) {
      const own = isForward ? forward : backward;
      const other = isForward ? backward : forward;
      const from = -(depth - 2 * Math.max(0, depth - m));
      const to = depth - 2 * Math.max(0, depth - n);
      for (let k = from; k <= to; k += 2) {
        const [left, right] = [own[slot(k - 1)] as number, own[slot(k + 1)] as number];
        let x = k === -depth || (k !== depth && left < right) ? right : left + 1;
        let y = x - k;
        const [startX, startY] = [x, y];
        while (x < n && y < m && (isForward ? a[a0 + x] === b[b0 + y] : a[a1 - 1 - x] === b[b1 - 1 - y])) {
          x++;
          y++;
        }
        own[slot(k)] = x;
        work.steps += 1 + x - startX;
        const opposite = delta - k;
        const reach = isForward ? depth - 1 : depth;
        const meets = isOdd === isForward && opposite >= -reach && opposite <= reach;
        if (meets && x + (other[slot(opposite)] as number) >= n) {
          return isForward
            ? { a0: a0 + startX, a1: a0 + x, b0: b0 + startY, b1: b0 + y }
            : { a0: a1 - x, a1: a1 - startX, b0: b1 - y, b1: b1 - startY };
        }
      }
    }
    if (work.steps > MOST_STEPS) return undefined;
  }
  return undefined;
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
