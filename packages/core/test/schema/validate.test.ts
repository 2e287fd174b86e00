import { describe, expect, it } from "vitest";
import { schemaProblems, validate } from "../../src/schema/validate.js";

describe("schemaProblems", () => {
  const cases: [string, unknown, unknown, string | undefined][] = [
    ["a type", { type: "string" }, 1, "the value must be string, not number"],
    ["one of several types", { type: ["string", "null"] }, null, undefined],
    ["an integer", { type: "integer" }, 1.5, "must be integer"],
    ["an enumeration", { enum: ["a", { b: 1 }] }, { b: 1 }, undefined],
    ["a constant", { const: 1 }, 2, "must be 1"],
    ["a missing property", { required: ["a"] }, {}, "a is missing"],
    ["a nested property", { properties: { a: { items: { type: "number" } } } }, { a: [1, "x"] }, "a[1] must be number"],
    [
      "an unknown property",
      { additionalProperties: false, properties: { a: {} } },
      { b: 1 },
      "b is unknown (known: a)",
    ],
    ["further properties", { additionalProperties: { type: "number" } }, { b: "1" }, "b must be number"],
    ["limits", { minimum: 1, multipleOf: 0.1 }, 1.3, undefined],
    ["lengths", { maxLength: 1 }, "ab", "at most 1"],
    ["a surrogate pair as one character", { maxLength: 1 }, "😀", undefined],
    ["anyOf", { anyOf: [{ type: "string" }, { type: "number" }] }, true, "matches none"],
    ["oneOf", { oneOf: [{ type: "number" }, { minimum: 0 }] }, 1, "matches 2 forms"],
    ["not", { not: { type: "string" } }, "x", "a form it must not match"],
    ["a reference", { $ref: "#/$defs/n", $defs: { n: { type: "number" } } }, "x", "must be number"],
    ["a reference to itself", { properties: { a: { $ref: "#" } }, required: ["b"] }, { b: 1, a: {} }, "a.b is missing"],
    ["a property named like one of Object's", { properties: { constructor: { type: "string" } } }, {}, undefined],
    [
      "unique items",
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "must not contain duplicates",
    ],
    ["what it does not know", { format: "date", contentEncoding: "x" }, "no date", undefined],
  ];

  it.each(cases)("checks %s", (_, schema, value, problem) => {
    const problems = schemaProblems(schema, value);
    if (problem === undefined) expect(problems).toEqual([]);
    else expect(problems[0]).toContain(problem);
  });

  it("checks untrusted patterns only if they are certain to be quick", () => {
    expect(schemaProblems({ pattern: "^(a+)+$" }, `${"a".repeat(40)}!`)).toEqual([]);
    expect(schemaProblems({ pattern: "^(b+)+$" }, "a")).toEqual([]);
    expect(schemaProblems({ pattern: "^b$" }, "a")).toEqual(['the value must match the pattern "^b$"']);
    expect(schemaProblems({ pattern: "^(b+)+$" }, "a", { trusted: true })).toHaveLength(1);
  });

  it("rejects integers that have lost digits only when told to", () => {
    expect(schemaProblems({ type: "integer" }, 2 ** 60)).toEqual([]);
    expect(schemaProblems({ type: "integer" }, 2 ** 60, { exact: true })).toHaveLength(1);
  });

  it("terminates on a schema that refers to itself", () => {
    expect(schemaProblems({ $ref: "#" }, 1)).toEqual([]);
  });

  it("terminates on a schema that combines itself with itself", () => {
    const twice = [{ $ref: "#" }, { $ref: "#" }];
    expect(schemaProblems({ allOf: twice, anyOf: twice }, 1)).toEqual([]);
  });

  it("tells missing and unknown properties from wrong values, with their paths", () => {
    const schema = { required: ["a"], properties: { b: { type: "string" } }, additionalProperties: false };
    expect(validate({ items: schema }, [{ b: 1, c: 1 }]).map(({ path, kind }) => [path, kind])).toEqual([
      [[0, "a"], "missing"],
      [[0, "b"], "wrong"],
      [[0, "c"], "unknown"],
    ]);
  });
});
