import { isQuickPattern } from "@trunkline/core/schema";
import { describe, expect, it } from "vitest";
import { grepPattern } from "../page/pages/store/mark-patterns.js";

const QUICK = [
  "",
  "^[a-z]+$",
  "^[a-z][a-z0-9-]{0,62}$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^https?://.+$",
  "^(red|green|blue)$",
  "^(?:v|version)\\d+$",
  "^(?<year>\\d{4})$",
  "^\\p{Lu}\\p{L}*$",
  "^\\u{1F600}{2}$",
  "^[*+?(){}|]+$",
  "^[\\]+*]+$",
  "^\\(\\)\\*\\+$",
  "^(?!-)[a-z-]+$",
  "^.{3,}$",
  "^a+?b$",
  "foo.*bar",
  "\\0",
];

const HOSTILE = [
  "^a*a*a*a*b$",
  "^(a+)+$",
  "^(a|a)*b$",
  "^(a?){50}a{50}$",
  `^${"a?".repeat(40)}${"a".repeat(40)}$`,
  `^${"(a|a)".repeat(40)}b$`,
  `^${"(?:a|a)".repeat(40)}b$`,
  "^a{0,500}a{0,500}a{0,500}b$",
  "^a{1,}a{1,}b$",
  "^\\d+\\d+$",
  "^.*.*$",
  "^[^]*[^]*[]$",
  "^(?=.*a)(?=.*b).{8,}$",
  "^(?<!a*)b$",
  "^(a)\\1$",
  "^(?<x>a)\\k<x>$",
  "^\\p{L}*\\p{L}*b$",
  "^a*?a*?b$",
  "^(?:a*)a*b$",
  "^a*|a*b$",
  "(a*",
  "a)*",
  "a{",
  "a\\",
  "[a",
  "*a",
  "a**",
];

describe("a pattern of someone else", () => {
  it.each(QUICK)("is used: %s", (pattern) => {
    expect(isQuickPattern(pattern)).toBe(true);
    expect(() => new RegExp(pattern, "u")).not.toThrow();
  });

  it.each(HOSTILE)("is not used: %s", (pattern) => {
    expect(isQuickPattern(pattern)).toBe(false);
    expect(grepPattern(pattern, { ignoreCase: false, fixed: false })).toBeUndefined();
  });

  it("is not used if it is very long", () => {
    expect(isQuickPattern("x".repeat(501))).toBe(false);
  });

  it("is highlighted as text if it is meant as text", () => {
    expect("x a*a* x".search(grepPattern("a*a*", { ignoreCase: false, fixed: true }) ?? /never/)).toBe(2);
  });
});
