import { describe, expect, it } from "vitest";
import { diffDefinitions } from "../../src/pins/definition-diff.js";

const textsOf = (before: string, after: string) =>
  diffDefinitions({ description: before }, { description: after }).map(({ sign, text }) => `${sign}${text}`);

describe("the difference between two definitions", () => {
  it("has the lines that only one of them has, as often as it has them", () => {
    expect(textsOf("a\nb\nb\nc", "c\nd\na\nd")).toEqual(["-b", "-b", "+d", "+d"]);
    expect(textsOf("a\na", "a")).toEqual([]);
  });

  it("is found in one pass, however many lines differ", () => {
    const text = (name: string) => Array.from({ length: 200_000 }, (_, index) => `${name}${index}`).join("\n");
    const lines = diffDefinitions({ description: text("a") }, { description: text("b") });
    expect(lines).toHaveLength(400_000);
    expect(lines[0]).toEqual({ sign: "-", field: "description", text: "a0" });
    expect(lines[400_000 - 1]).toEqual({ sign: "+", field: "description", text: "b199999" });
  });

  it("takes a list with any number of items", () => {
    const items = Array.from({ length: 200_000 }, () => 1);
    expect(diffDefinitions({ items }, { items: [...items.slice(1), 2] })).toEqual([
      { sign: "-", field: "items[199999]", text: "1" },
      { sign: "+", field: "items[199999]", text: "2" },
    ]);
  });
});
