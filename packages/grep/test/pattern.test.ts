import { isTrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { compilePattern, type PatternOptions, queryText, Scanner } from "../src/index.js";
import { encodeSet, perlClass, setOfClass, TABLE_CLASSES } from "../src/unicode.js";
import { UNICODE_TABLES } from "../src/unicode-tables.js";

function errorOf(pattern: string): { message: string; start: unknown } {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (isTrunklineError(error, "INVALID_ARGUMENT")) return { message: error.message, start: error.data?.start };
    throw error;
  }
  throw new Error(`${pattern} is no error`);
}

function trigrams(pattern: string, options: PatternOptions = {}): string {
  const query = compilePattern(pattern, options).trigrams();
  return query === "none" ? "none" : queryText(query);
}

function matches(pattern: string, text: string, options: PatternOptions = {}): boolean {
  const all = { maxCount: 0, before: 0, after: 0, afterLine: 0, collect: 1, collectBytes: 1e9, firstOnly: false };
  return new Scanner(compilePattern(pattern, options)).scan(Buffer.from(text), all).count > 0;
}

describe("an error about a pattern", () => {
  it.each([
    ["foo(?=bar)", "look-ahead", 3],
    ["(?<!a)b", "look-behind", 0],
    ["(a)b\\1", "backreferences", 4],
    ["\\k<n>", "backreferences", 0],
    ["(?>a)", "atomic groups", 0],
    ["a\\Kb", "\\K", 1],
    ["\u{1F600}\u{1F600}[z-a]", "a range ends before it starts", 3],
    ["a{5,2}", "a repetition ends before it starts", 1],
    ["x(y", "unclosed group", 1],
    ["a\\nb", "line break", 1],
    ["\\p{Klingon}", "Klingon", 0],
  ])("says what is not supported and where: %s", (pattern, problem, start) => {
    const error = errorOf(pattern);
    expect(error.message).toContain(problem);
    expect(error.start).toBe(start);
  });

  it("comes before repetitions that multiply are expanded", () => {
    expect(() => compilePattern("((a{1000}){1000}){1000}")).toThrow(/too large/);
    expect(() => compilePattern("(((((){99999}){99999}){99999}){99999}){99999}")).not.toThrow();
  });

  it("reports groups that are nested too deeply", () => {
    expect(() => compilePattern(`${"(".repeat(5000)}${")".repeat(5000)}`)).toThrow(/nested/);
    expect(() => compilePattern("[".repeat(5000))).toThrow(/nested/);
  });
});

describe("syntax of newer ripgrep versions", () => {
  it("works: named groups without P, half boundaries, escaped punctuation", () => {
    expect(matches("(?<year>\\d{4})\\/", "on 2024/01")).toBe(true);
    expect(matches("\\<foo\\>", "a foo b")).toBe(true);
    expect(matches("\\<foo\\>", "afoo")).toBe(false);
    expect(matches("\\b{start}foo\\b{end-half}", "x foo.")).toBe(true);
  });
});

describe("trigrams", () => {
  it("come from the literals that must be present", () => {
    expect(trigrams("parse")).toBe('("par" AND "ars" AND "rse")');
    expect(trigrams("Parse")).toBe('("par" AND "ars" AND "rse")');
    expect(trigrams("foo.*bar")).toBe('("foo" AND "bar")');
    expect(trigrams("(foo)+x?")).toBe('"foo"');
    expect(trigrams("foo|bar")).toBe('("foo" OR "bar")');
    expect(trigrams("ab[cd]e")).toContain("OR");
    expect(trigrams('a"b')).toBe('"a\\"b"');
  });

  it("ignore case if the pattern does", () => {
    expect(trigrams("kiss", { ignoreCase: true })).toBe('("kis" AND "iss")');
    expect(trigrams("\u00e9t\u00e9", { ignoreCase: true })).toContain("OR");
  });

  it.each([["ab"], ["\\w+"], ["foo|\\d"], ["(foo)*"], ["(foo)?"], [".*"], [""], ["a.b.c"], ["(?-u:\\xff)ab"]])(
    "are empty without a literal of three characters: %s",
    (pattern) => {
      expect(trigrams(pattern)).toBe("none");
    },
  );

  it("are empty for inverted matches", () => {
    expect(trigrams("foo", { invert: true })).toBe("none");
  });
});

describe("the Unicode tables", () => {
  it.skipIf(UNICODE_TABLES.version !== process.versions.unicode)(
    "match this version of the engine (not with another version of Unicode)",
    () => {
      for (const [name, source] of Object.entries(TABLE_CLASSES)) {
        expect([name, UNICODE_TABLES[name as keyof typeof TABLE_CLASSES]]).toEqual([
          name,
          encodeSet(setOfClass(source)),
        ]);
      }
    },
  );

  it("are read back as written", () => {
    expect(encodeSet(perlClass("s"))).toBe(UNICODE_TABLES.s);
  });
});
