import { describe, expect, it } from "vitest";
import { readCall } from "../../src/commands/call/call-expression.js";

describe("a call written as in a program", () => {
  it("has a tool and named arguments", () => {
    expect(readCall("docs.get_sum(a: 2, b: -3.5e1)")).toEqual({ tool: "docs.get_sum", args: { a: 2, b: -35 } });
  });

  it("takes text in either quotes, with escapes and line breaks", () => {
    const { args } = readCall(`t(a: "x \\"y\\" \\u00e9", b: 'it\\'s "so"', c: "two\nlines")`) ?? {};
    expect(args).toEqual({ a: 'x "y" é', b: `it's "so"`, c: "two\nlines" });
  });

  it("takes nested values, keys in quotes and commas at the end", () => {
    const { args } = readCall(`t("a-b": [1, [true, null], {x: 'y',},], c-d: {},)`) ?? {};
    expect(args).toEqual({ "a-b": [1, [true, null], { x: "y" }], "c-d": {} });
  });

  it("can have no arguments", () => {
    expect(readCall("t( )")).toEqual({ tool: "t", args: {} });
  });

  it("is not complete without its closing parenthesis", () => {
    expect(() => readCall("docs.get_sum(a: 1, b")).toThrow("no closing parenthesis");
  });

  it("is not a call without parentheses", () => {
    for (const text of ["docs.get_sum", "(a: 1)", "t(a: 1) b", "t)"]) expect(readCall(text)).toBeUndefined();
  });

  it.each([
    ["t(1)", "expected `name: value`"],
    ["t(a)", "expected `name: value`"],
    ["t(a: b)", '"b" is not a value; quote text'],
    ["t(a: 01)", '"01" is not a value'],
    ["t(a: 1e999)", '"1e999" is not a value'],
    ["t(a: 1 b: 2)", 'expected "," or ")"'],
    ["t(a: [1 2])", 'expected "," or "]"'],
    ["t(a: 1, a: 2)", '"a" is given twice'],
    ["t(a: 1) (b: 2)", "nothing may follow"],
    ["t(a: )", "expected a value"],
    ['t(a: "\\q")', "not a valid string"],
    ['t(a: "x)', "expected a value"],
  ])("says what is wrong with %s", (text, reason) => {
    expect(() => readCall(text)).toThrow(reason);
  });

  it("keeps the names of inherited properties as data", () => {
    const args = readCall(`t(__proto__: {"admin": true}, constructor: 1)`)?.args ?? {};
    expect(Object.keys(args)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect("admin" in args).toBe(false);
  });

  it("rejects values that are nested too deeply", () => {
    expect(() => readCall(`t(a: ${"[".repeat(50_000)}${"]".repeat(50_000)})`)).toThrow("nested too deeply");
  });
});
