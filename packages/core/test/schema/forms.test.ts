import { describe, expect, it } from "vitest";
import { validateField, validateForm } from "../../src/schema/form-check.js";
import type { FormField } from "../../src/schema/form-fields.js";
import { describeField, parseText } from "../../src/schema/form-text.js";
import { readFormFields } from "../../src/schema/read-form.js";

/** The only field of a form with this schema. */
function fieldOf(schema: unknown, required = false): FormField {
  const [field] = readFormFields({
    type: "object",
    properties: { field: schema },
    ...(required ? { required: ["field"] } : {}),
  });
  if (field === undefined) throw new Error("no field");
  return field;
}

const common = { name: "field", title: "field", required: false };
const size = [
  { value: "s", title: "Small" },
  { value: "l", title: "Large" },
];

describe("reading a form", () => {
  it.each<[string, unknown, unknown]>([
    ["a text", { type: "string" }, { kind: "text" }],
    [
      "a text with limits and a format",
      { type: "string", minLength: 1, maxLength: 9, format: "email", default: "a@b.c" },
      { kind: "text", minLength: 1, maxLength: 9, format: "email", default: "a@b.c" },
    ],
    ["a text of an unknown format", { type: "string", format: "colour" }, { kind: "text" }],
    ["a text that may be null", { type: ["string", "null"] }, { kind: "text" }],
    [
      "a number",
      { type: "number", minimum: 0, maximum: 1, default: 0.5 },
      { kind: "number", integer: false, minimum: 0, maximum: 1, default: 0.5 },
    ],
    ["a whole number", { type: "integer", default: 0 }, { kind: "number", integer: true, default: 0 }],
    ["a boolean", { type: "boolean", default: false }, { kind: "boolean", default: false }],
    [
      "a choice without titles",
      { type: "string", enum: ["a", "b"], default: "b" },
      {
        kind: "choice",
        options: [
          { value: "a", title: "a" },
          { value: "b", title: "b" },
        ],
        default: "b",
      },
    ],
    [
      "a choice with titles",
      {
        type: "string",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
        default: "s",
      },
      { kind: "choice", options: size, default: "s" },
    ],
    [
      "a choice with titles of the old kind",
      { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
      { kind: "choice", options: size },
    ],
    [
      "a choice with fewer old titles than values",
      { type: "string", enum: ["s", "xl"], enumNames: ["Small"] },
      {
        kind: "choice",
        options: [
          { value: "s", title: "Small" },
          { value: "xl", title: "xl" },
        ],
      },
    ],
    [
      "a text or nothing",
      { anyOf: [{ type: "string", maxLength: 9 }, { type: "null" }] },
      { kind: "text", maxLength: 9 },
    ],
    ["a choice that leaves out its type", { enum: ["a"] }, { kind: "choice", options: [{ value: "a", title: "a" }] }],
    [
      "choices without titles",
      { type: "array", items: { type: "string", enum: ["a"] }, minItems: 1, maxItems: 2, default: ["a"] },
      { kind: "choices", options: [{ value: "a", title: "a" }], minItems: 1, maxItems: 2, default: ["a"] },
    ],
    [
      "choices with titles",
      {
        type: "array",
        items: {
          anyOf: [
            { const: "s", title: "Small" },
            { const: "l", title: "Large" },
          ],
        },
      },
      { kind: "choices", options: size },
    ],
  ])("recognizes %s", (_, schema, expected) => {
    expect(fieldOf(schema)).toEqual({ ...common, ...(expected as object) });
  });

  it.each<[string, unknown]>([
    ["an object", { type: "object", properties: {} }],
    ["a list of free texts", { type: "array", items: { type: "string" } }],
    ["several types", { type: ["string", "number"] }],
    ["numbers to choose from", { enum: [1, 2] }],
    ["no schema at all", true],
  ])("treats %s as a field that can still be answered", (_, schema) => {
    expect(fieldOf(schema)).toEqual({ ...common, kind: "other", schema });
  });

  it("keeps order, titles, descriptions and required fields", () => {
    const fields = readFormFields({
      properties: {
        b: { type: "string", title: "Bee", description: "A bee." },
        a: { type: "string", title: " " },
      },
      required: ["a", "nowhere", 7],
    });
    expect(fields).toEqual([
      { kind: "text", name: "b", title: "Bee", description: "A bee.", required: false },
      { kind: "text", name: "a", title: "a", required: true },
    ]);
  });

  it.each([
    ["of another type", { type: "string", default: 7 }],
    ["that does not match", { type: "string", pattern: "^[a-z]$", default: "A" }],
    ["that is not among the choices", { type: "string", enum: ["a"], default: "b" }],
    ["out of range", { type: "integer", maximum: 3, default: 4 }],
    ["of too many choices", { type: "array", items: { enum: ["a", "b"] }, maxItems: 1, default: ["a", "b"] }],
  ])("drops a default %s", (_, schema) => {
    expect(fieldOf(schema)).not.toHaveProperty("default");
  });

  it.each([{}, { properties: null }, { properties: [] }])("finds no fields in %j", (schema) => {
    expect(readFormFields(schema)).toEqual([]);
  });
});

const choices = { type: "array", items: { enum: ["red", "green", "2026"] } };
const titled = {
  oneOf: [
    { const: "1", title: "One, or two" },
    { const: "x", title: "Two" },
  ],
};

describe("typed input", () => {
  it.each<[string, unknown, string, unknown]>([
    ["text as it is, without the spaces around it", { type: "string" }, " a  b ", "a  b"],
    ["two quotes for an empty text", { type: "string" }, '""', ""],
    ["characters counted as people do", { type: "string", maxLength: 1 }, "👋", "👋"],
    ["an e-mail address", { type: "string", format: "email" }, "a.b+c@d.example", "a.b+c@d.example"],
    ["an address", { type: "string", format: "uri" }, "mailto:a@b.c", "mailto:a@b.c"],
    ["a date", { type: "string", format: "date" }, "2024-02-29", "2024-02-29"],
    ["a time", { type: "string", format: "date-time" }, "2024-02-29T23:59:59.5+01:00", "2024-02-29T23:59:59.5+01:00"],
    ["a time in UTC", { type: "string", format: "date-time" }, "2024-02-29t23:59:59z", "2024-02-29t23:59:59z"],
    ["a number", { type: "number" }, "-1.5e3", -1500],
    ["a number at its limit", { type: "number", minimum: 0, maximum: 100 }, "100", 100],
    ["a whole number", { type: "integer" }, "+7", 7],
    ["a whole number with a point", { type: "integer" }, "7.0", 7],
    ["yes", { type: "boolean" }, "Yes", true],
    ["no", { type: "boolean" }, "n", false],
    ["a choice by number", { enum: ["a", "b"] }, "2", "b"],
    ["a choice by name in any case", { enum: ["a", "B"] }, "b", "B"],
    ["a choice by title", titled, "two", "x"],
    ["a choice whose value looks like a number before the number", titled, "1", "1"],
    ["a choice whose title has a comma", titled, "one, or two", "1"],
    ["choices by number and name, each once", choices, "green, 1,green,", ["green", "red"]],
    ["choices by a name that is a number", choices, "2026", ["2026"]],
    ["no choices", choices, '""', []],
    ["JSON for an unknown kind", { type: "array" }, '["a"]', ["a"]],
    ["text for an unknown kind", { type: "object" }, "{ a", "{ a"],
    ["text for JSON that the protocol cannot carry", { type: "object" }, '{"a":1}', '{"a":1}'],
  ])("can be %s", (_, schema, text, value) => {
    expect(parseText(fieldOf(schema), text)).toEqual({ ok: true, value });
  });

  it.each<[string, unknown, string, string]>([
    ["too short", { type: "string", minLength: 2 }, "a", "It must have at least 2 characters."],
    ["too long", { type: "string", maxLength: 1 }, "ab", "It must have at most 1 character."],
    ["no e-mail address", { type: "string", format: "email" }, "a@", "It must be an e-mail address."],
    [
      "no e-mail address but a list",
      { type: "string", format: "email" },
      "a@b.c,d@e.f",
      "It must be an e-mail address.",
    ],
    [
      "no address",
      { type: "string", format: "uri" },
      "example.com",
      "It must be a URL with a scheme, such as https://example.com.",
    ],
    ["no day", { type: "string", format: "date" }, "2023-02-29", "It must be a date as YYYY-MM-DD."],
    ["a day of another form", { type: "string", format: "date" }, "1/2/2023", "It must be a date as YYYY-MM-DD."],
    [
      "no time zone",
      { type: "string", format: "date-time" },
      "2023-01-01T00:00:00",
      "It must be a time as YYYY-MM-DDThh:mm:ssZ.",
    ],
    [
      "no such hour",
      { type: "string", format: "date-time" },
      "2023-01-01T25:00:00Z",
      "It must be a time as YYYY-MM-DDThh:mm:ssZ.",
    ],
    ["no number", { type: "number" }, "0x10", "It must be a number, such as 3.14."],
    ["no number at all", { type: "number" }, "Infinity", "It must be a number, such as 3.14."],
    ["no whole number", { type: "integer" }, "1.5", "It must be a whole number, such as 3."],
    ["too large to be exact", { type: "integer" }, "9007199254740993", "It is too large to be stored exactly."],
    ["no match", { type: "string", pattern: "^[a-z]$" }, "A", 'It must match the pattern "^[a-z]$".'],
    ["not above its limit", { type: "number", exclusiveMinimum: 0 }, "0", "It must be more than 0."],
    ["too small", { type: "number", minimum: 0 }, "-1", "It must be at least 0."],
    ["too great", { type: "number", maximum: 10 }, "11", "It must be at most 10."],
    ["neither yes nor no", { type: "boolean" }, "perhaps", "Please answer y or n."],
    ["no choice", { enum: ["a", "b"] }, "3", '"3" is not an option. Choose one of a, b.'],
    ["the number 0", { enum: ["a", "b"] }, "0", '"0" is not an option. Choose one of a, b.'],
    ["not the only choice", { enum: ["a"] }, "b", '"b" is not an option. Choose a.'],
    ["a choice and no choice", choices, "red, pink", '"pink" is not an option. Choose one of red, green, 2026.'],
    ["too few choices", { ...choices, minItems: 2 }, "red,1", "Choose at least 2."],
    ["too many choices", { ...choices, maxItems: 1 }, "red,green", "Choose at most 1."],
  ])("is rejected if it is %s", (_, schema, text, problem) => {
    expect(parseText(fieldOf(schema), text)).toEqual({ ok: false, problem });
  });

  it("can be empty unless the field is required", () => {
    for (const schema of [{ type: "string" }, { type: "boolean" }, { enum: ["a"] }, choices, { type: "object" }]) {
      expect(parseText(fieldOf(schema), "  ")).toEqual({ ok: true, value: undefined });
      expect(parseText(fieldOf(schema, true), "  ")).toEqual({ ok: false, problem: "This is required." });
    }
  });
});

describe("a value from a program", () => {
  it.each<[unknown, unknown, string]>([
    [{ type: "string" }, 7, "It must be text."],
    [{ type: "number" }, "7", "It must be a number, such as 3.14."],
    [{ type: "number" }, Number.NaN, "It must be a number, such as 3.14."],
    [{ type: "boolean" }, "true", "It must be yes or no."],
    [titled, "Two", "It must be one of One, or two, Two."],
    [choices, "red", "It must be a list."],
    [choices, ["red", undefined], "undefined is not an option. The options are red, green, 2026."],
    [{ type: "object" }, { a: 1 }, "It must be text, a number, true, false or a list of strings."],
    [{ type: "string" }, null, "It must be text."],
  ])("is rejected for %j if it is %j", (schema, value, problem) => {
    expect(validateField(fieldOf(schema), value)).toBe(problem);
  });

  it("is validated with the rest of its form, including defaults", () => {
    const fields = readFormFields({
      properties: {
        name: { type: "string" },
        age: { type: "integer", minimum: 0 },
        size: { enum: ["s"], default: "s" },
        toString: { type: "string" },
      },
      required: ["name", "size", "toString"],
    });
    expect(validateForm(fields, { age: -1 })).toEqual({
      name: "This is required.",
      age: "It must be at least 0.",
      toString: "This is required.",
    });
    expect(validateForm(fields, { name: "", toString: "", more: 1 })).toEqual({});
  });
});

describe("field description", () => {
  it.each<[unknown, string]>([
    [{ type: "string" }, ""],
    [{ type: "string", minLength: 2, format: "date" }, "a date as YYYY-MM-DD, at least 2 characters"],
    [{ type: "string", minLength: 4, maxLength: 4 }, "exactly 4 characters"],
    [{ type: "number" }, "number"],
    [{ type: "integer", minimum: 1, maximum: 9 }, "whole number, 1 to 9"],
    [{ type: "boolean" }, "y/n"],
    [{ enum: ["a"] }, "number or name"],
    [{ ...choices, maxItems: 2 }, "numbers or names, separated by commas, at most 2 of them"],
    [{ type: "object" }, "text or JSON"],
  ])("for %j is: %s", (schema, words) => {
    expect(describeField(fieldOf(schema))).toBe(words);
  });
});
