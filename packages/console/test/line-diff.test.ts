import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../test/support/seed.js";
import { diffLines, hunksOf } from "../page/pages/store/line-diff.js";

function signsOf(before: string, after: string): string[] {
  return diffLines(before, after).changes.map(({ sign, text }) => `${sign}${text}`);
}

describe("diffLines", () => {
  test("shows which lines were removed and added, with their numbers", () => {
    const { changes, added, removed } = diffLines("a\nb\nc\n", "a\nx\nc\nd\n");
    expect(changes).toEqual([
      { sign: " ", text: "a", before: 1, after: 1 },
      { sign: "-", text: "b", before: 2 },
      { sign: "+", text: "x", after: 2 },
      { sign: " ", text: "c", before: 3, after: 3 },
      { sign: "+", text: "d", after: 4 },
    ]);
    expect([added, removed]).toEqual([2, 1]);
  });

  test("finds nothing in equal texts, and everything if one is empty", () => {
    expect(signsOf("a\nb", "a\nb\n")).toEqual([" a", " b"]);
    expect(signsOf("", "a\nb\n")).toEqual(["+a", "+b"]);
    expect(signsOf("a\n\n", "")).toEqual(["-a", "-"]);
  });

  test("is a shortest script that turns one text into the other, for random texts", () => {
    const random = seededRandom();
    const text = () => Array.from({ length: random.below(12) }, () => random.pick(["a", "b", "c"]));
    for (let round = 0; round < 2_000; round++) {
      const [before, after] = [text(), text()];
      const { changes, added, removed } = diffLines(before.join("\n"), after.join("\n"));
      const linesWith = (sign: string) => changes.filter((change) => change.sign !== sign).map((change) => change.text);
      expect(linesWith("+")).toEqual(before);
      expect(linesWith("-")).toEqual(after);
      expect(added + removed).toBe(before.length + after.length - 2 * longestCommon(before, after));
    }
  });

  test("gives up on details if two large texts have little in common, and stays correct", () => {
    const random = seededRandom();
    const large = () => Array.from({ length: 12_000 }, () => String(random.below(4_000)));
    const [before, after] = [large(), large()];
    const { changes, isRough } = diffLines(before.join("\n"), after.join("\n"));
    expect(isRough).toBe(true);
    expect(changes.filter(({ sign }) => sign !== "+").map(({ text }) => text)).toEqual(before);
    expect(changes.filter(({ sign }) => sign !== "-").map(({ text }) => text)).toEqual(after);
  });
});

test("hunksOf leaves out equal lines that are far from a change", () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = before.with(10, "changed");
  const shown = hunksOf(diffLines(before.join("\n"), after.join("\n")).changes, 2);
  expect(shown.map((change) => change?.text)).toEqual([
    undefined,
    "line 8",
    "line 9",
    "line 10",
    "changed",
    "line 11",
    "line 12",
    undefined,
  ]);
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const rows = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  a.forEach((line, i) => {
    b.forEach((other, j) => {
      const best = Math.max(rows[i]?.[j + 1] ?? 0, rows[i + 1]?.[j] ?? 0);
      (rows[i + 1] as number[])[j + 1] = line === other ? (rows[i]?.[j] ?? 0) + 1 : best;
    });
  });
  return rows[a.length]?.[b.length] ?? 0;
}
