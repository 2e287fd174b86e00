import { readFileSync, rmSync } from "node:fs";
import { isTrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { trigramsOf } from "../../store/test/grep/memory-source.js";
import { compilePattern, mayMatch, Scanner } from "../src/index.js";
import { CASES, REFUSED } from "./cases.js";
import { randomPattern } from "./random-patterns.js";
import { askRg, askRgForParts, type Case, rgVersion, writeTree } from "./rg.js";
import { makeTree, random } from "./tree.js";

const tree = makeTree();
const trigrams = new Map(tree.map(({ name, bytes }) => [name, trigramsOf(bytes)]));
const ALL = { before: 0, after: 0, afterLine: 0, collect: 1e9, collectBytes: 1e12, firstOnly: false };

/** Runs our grep and returns the result in the format of `askRg`. */
function askOurs(what: Case): Record<string, number[]> | "error" {
  try {
    const scanner = new Scanner(compilePattern(what.pattern, what));
    const found: Record<string, number[]> = {};
    for (const { name, bytes } of tree) {
      const { matches } = scanner.scan(bytes, { ...ALL, maxCount: what.maxCount ?? 0 });
      if (matches.length > 0) found[name] = matches.map((match) => match.line);
    }
    return found;
  } catch (error) {
    if (isTrunklineError(error, "INVALID_ARGUMENT")) return "error";
    throw error;
  }
}

/** Like {@link askOurs}, for matching parts, in the format of `askRgForParts`. */
function ourParts(what: Case): Record<string, string[]> {
  const scanner = new Scanner(compilePattern(what.pattern, what));
  const found: Record<string, string[]> = {};
  for (const { name, bytes } of tree) {
    const { matches, count } = scanner.scan(bytes, { ...ALL, maxCount: what.maxCount ?? 0, onlyMatching: true });
    expect(count).toBe(matches.length);
    if (matches.length > 0) found[name] = matches.map(({ line, text }) => `${line}:${text}`);
  }
  return found;
}

/**
 * Whether ripgrep 13 returns every part. It misses some with -w, \A, \b, \B and {0}: `rg -o '\B.'` finds one in "foo bar",
 * not four.
 */
function hasSoundParts({ pattern, word, invert }: Case): boolean {
  return word !== true && invert !== true && !/\\[AbB]|\{0\}/.test(pattern);
}

const recorded = JSON.parse(readFileSync(new URL("./ripgrep.json", import.meta.url), "utf8")) as {
  version: string;
  answers: { what: Case; lines: Record<string, number[]> | "error" }[];
};

describe(`the recorded results of ${recorded.version}`, () => {
  it("exist for every case", () => {
    expect(recorded.answers.map((answer) => answer.what)).toEqual([...CASES, ...REFUSED]);
  });

  it.each(recorded.answers)("match ours for $what", ({ what, lines }) => {
    expect(askOurs(what)).toEqual(lines);
  });
});

const version = rgVersion();
describe(`the real ${version ?? "ripgrep"}${needs("ripgrep", version !== undefined)}`, () => {
  it.skipIf(version === undefined)("finds the same lines as ours in every case", () => {
    const folder = writeTree(tree);
    try {
      for (const what of [...CASES, ...REFUSED]) expect([what, askOurs(what)]).toEqual([what, askRg(folder, what)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.skipIf(version === undefined)("finds the same lines as ours for 150 random patterns", () => {
    const folder = writeTree(tree);
    const below = random(11);
    try {
      for (let count = 0; count < 150; count++) {
        const what = {
          pattern: randomPattern(below),
          ignoreCase: below(4) === 0,
          word: below(5) === 0,
          invert: below(10) === 0,
        };
        expect([what, askOurs(what)]).toEqual([what, askRg(folder, what)]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("only the matching parts", () => {
  it.skipIf(version === undefined)("are those of ripgrep, in every case and for 100 random patterns", () => {
    const folder = writeTree(tree);
    const below = random(17);
    const patterns = Array.from({ length: 100 }, () => ({ pattern: randomPattern(below), ignoreCase: below(4) === 0 }));
    try {
      for (const what of [...CASES, ...patterns].filter(hasSoundParts)) {
        expect([what, ourParts(what)]).toEqual([what, askRgForParts(folder, what)]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ["ab|a", {}, "a ab abc", ["a", "ab", "ab"]],
    ["a|ab", {}, "ab", ["a"]],
    ["a|ab", { word: true }, "ab a", ["ab", "a"]],
    ["<.+?>", {}, "<a><b>", ["<a>", "<b>"]],
    ["<.+>", {}, "<a><b>", ["<a><b>"]],
    ["(?U)<.+>", {}, "<a><b>", ["<a>", "<b>"]],
    ["a*", {}, "baac", ["aa"]],
    ["^.", {}, "éab", ["é"]],
    ["\\bt\\w*", {}, "to the other", ["to", "the"]],
    [".$", {}, "ab", ["b"]],
    ["\\B.", {}, "foo bar", ["o", "o", "a", "r"]],
    ["foo", { ignoreCase: true }, "foo FOO", ["foo", "FOO"]],
    ["a.c", { fixed: true }, "abc a.c a.c", ["a.c", "a.c"]],
  ])("of %s %j in %s are %j", (pattern, options, text, parts) => {
    const scanner = new Scanner(compilePattern(pattern, options));
    const { matches } = scanner.scan(Buffer.from(`${text}\n`), { ...ALL, maxCount: 0, onlyMatching: true });
    expect(matches.map((match) => match.text)).toEqual(parts);
  });
});

describe("the trigram filter", () => {
  it("never skips matching content, for 2,000 random patterns", () => {
    const below = random(5);
    let filtering = 0;
    let leftOut = 0;
    for (let count = 0; count < 2000; count++) {
      const what = { pattern: randomPattern(below), ignoreCase: below(3) === 0, word: below(5) === 0 };
      const pattern = compilePattern(what.pattern, what);
      const query = pattern.trigrams();
      if (query === "none") continue;
      filtering++;
      const scanner = new Scanner(pattern);
      for (const { name, bytes } of tree) {
        if (mayMatch(query, (trigram) => trigrams.get(name)?.has(trigram) === true)) continue;
        leftOut++;
        expect([what, name, scanner.scan(bytes, { ...ALL, maxCount: 0 }).count]).toEqual([what, name, 0]);
      }
    }
    // A filter that filters nothing would pass too.
    expect(filtering).toBeGreaterThan(200);
    expect(leftOut).toBeGreaterThan(2000);
  });
});
