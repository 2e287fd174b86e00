import { describe, expect, it } from "vitest";
import { missingArguments } from "../../src/schema/missing-arguments.js";

describe("missingArguments", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" }, c: { type: "string", default: "x" } },
    required: ["a", "b", "c"],
  };

  it("names required parameters that are not given", () => {
    expect(missingArguments({ a: 1 }, schema)).toEqual(["b"]);
    expect(missingArguments({}, schema)).toEqual(["a", "b"]);
  });

  it("accepts a required parameter with a default, and null as a value", () => {
    expect(missingArguments({ a: 1, b: null }, schema)).toEqual([]);
  });

  it("ignores what the prototype has, and schemas that make no sense", () => {
    expect(missingArguments({}, { required: ["toString"], properties: {} })).toEqual(["toString"]);
    expect(missingArguments({}, { required: "a" })).toEqual([]);
    expect(missingArguments({}, { required: [7] })).toEqual([]);
  });
});
