import { describe, expect, it } from "vitest";
import { reindent } from "../../src/weights/pull.js";

describe("reindenting JSON", () => {
  it.each([
    [{ a: [1, 2, { b: null }], c: {}, d: [], e: "x, {y}: [z]" }],
    ['text with "quotes", \\ and \n'],
    [[[], [[]], -1.5e-7, true]],
  ])("writes %j like JSON.stringify", (value) => {
    const expected = JSON.stringify(value, null, 2);
    expect(reindent(JSON.stringify(value))).toBe(expected);
    expect(reindent(`${JSON.stringify(value, null, "\t")}\n`)).toBe(expected);
  });

  it("keeps the order of keys that look like numbers, and the notation of every value", () => {
    expect(reindent('{"b":1.0,"10":"\\u00e9","2":1}')).toBe('{\n  "b": 1.0,\n  "10": "\\u00e9",\n  "2": 1\n}');
  });
});
