import { describe, expect, it } from "vitest";
import { paletteFor } from "../src/terminal/palette.js";
import { columnsOf, widthOf, wrap } from "../src/terminal/text-width.js";

describe("widthOf", () => {
  it.each([
    ["abc", 3],
    ["✓ größe", 7],
    ["界界", 4],
    ["e\u0301", 1],
    ["😀", 2],
    [paletteFor({}, {}, "always").match("abc"), 3],
  ])("of %j is %i", (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });
});

describe("wrap", () => {
  it("breaks at spaces and indents the following lines", () => {
    expect(wrap("one two three four", { columns: 10, indent: "- ", hang: "  " })).toEqual(["- one two", "three four"]);
    expect(wrap("one two three four five six", { columns: 24, indent: "- ", hang: "  " })).toEqual([
      "- one two three four",
      "  five six",
    ]);
  });

  it("keeps long words whole and line breaks where they are", () => {
    expect(wrap(`see ${"x".repeat(30)} there`, { columns: 24, indent: "  " })).toEqual([
      "  see",
      `  ${"x".repeat(30)}`,
      "  there",
    ]);
    expect(wrap("a\nb", { columns: 24, indent: "  " })).toEqual(["  a", "  b"]);
  });

  it("keeps aligned columns inside a line, and ignores colours", () => {
    const { error } = paletteFor({}, {}, "always");
    expect(wrap("a    b    c", { columns: 24 })).toEqual(["a    b    c"]);
    expect(wrap(`${error("1234567890")} ${error("1234567890")}`, { columns: 21 })).toHaveLength(1);
    expect(wrap(`${error("1234567890")}  ${error("1234567890")}`, { columns: 21 })).toHaveLength(2);
  });

  it("changes nothing without a terminal", () => {
    expect(columnsOf({})).toBe(Number.POSITIVE_INFINITY);
    expect(columnsOf({ isTTY: true, columns: 60 })).toBe(60);
    expect(wrap("word ".repeat(100), { columns: columnsOf({}) })).toHaveLength(1);
  });
});
