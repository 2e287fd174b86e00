import { type ArgumentField, readArgumentFields } from "@trunkline/core/schema";
import { describe, expect, it } from "vitest";
import { draftOf, enteredIn, type GroupDraft } from "../page/kit/form-values.js";
import type { Json } from "../src/contract/index.js";

function fields(properties: Record<string, Json>, required: string[] = [], more: Record<string, Json> = {}) {
  return readArgumentFields({ type: "object", properties, required, ...more }) ?? [];
}

function kinds(list: readonly ArgumentField[]) {
  return Object.fromEntries(list.map(({ name, kind }) => [name, kind]));
}

const mistakesOf = (list: readonly ArgumentField[], draft: GroupDraft) => enteredIn(list, draft).mistakes;

describe("the fields of a schema", () => {
  it("are inputs for simple types, and JSON for everything else", () => {
    const shown = fields(
      {
        name: { type: "string" },
        age: { type: "integer", minimum: 0 },
        size: { enum: ["s", "m"] },
        unit: { oneOf: [{ const: "c", title: "Celsius" }, { const: "f" }] },
        flag: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
        days: { type: "array", items: { enum: ["mon", "tue"] } },
        place: { type: "object", properties: { city: { type: "string" } } },
        maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
        colour: { $ref: "#/$defs/Colour" },
        either: { anyOf: [{ type: "string" }, { type: "number" }] },
        free: { type: "object", additionalProperties: true },
        rows: { type: "array", items: { type: "object" } },
        any: {},
        yes: true,
        elsewhere: { $ref: "https://example.com/schema" },
      },
      [],
      { $defs: { Colour: { type: "string", enum: ["red"] } } },
    );
    expect(kinds(shown)).toEqual({
      name: "text",
      age: "number",
      size: "choice",
      unit: "choice",
      flag: "boolean",
      tags: "list",
      days: "choices",
      place: "group",
      maybe: "text",
      colour: "choice",
      either: "json",
      free: "json",
      rows: "json",
      any: "json",
      yes: "json",
      elsewhere: "json",
    });
    expect(shown.find(({ name }) => name === "unit")).toMatchObject({
      options: [
        { value: "c", title: "Celsius" },
        { value: "f", title: "f" },
      ],
    });
  });

  it("end where a schema contains itself, is deep, or is very large", () => {
    const node = { type: "object", properties: { child: { $ref: "#/$defs/Node" }, name: { type: "string" } } };
    const [root] = fields({ root: { $ref: "#/$defs/Node" } }, [], { $defs: { Node: node } });
    expect(root?.kind).toBe("group");
    expect(JSON.stringify(root).length).toBeLessThan(2_000);
    let deep: Json = { type: "string" };
    for (let depth = 0; depth < 1_000; depth++) deep = { type: "object", properties: { deeper: deep } };
    expect(readArgumentFields(deep)).toBeDefined();
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { type: "string" }]));
    expect(readArgumentFields({ type: "object", properties: many })).toBeUndefined();
    expect(readArgumentFields({ type: "string" })).toBeUndefined();
    expect(readArgumentFields({ type: "object", anyOf: [{}, {}] })).toBeUndefined();
  });

  it("may have the names of an object's own members", () => {
    const shown = readArgumentFields(
      JSON.parse('{"properties": {"__proto__": {"type": "string"}, "toString": {"type": "string"}}}'),
    );
    const draft = JSON.parse('{"__proto__": "a"}') as GroupDraft;
    expect(JSON.stringify(enteredIn(shown ?? [], draft).value)).toBe('{"__proto__":"a"}');
  });
});

describe("what was entered", () => {
  it("becomes a value without what was left empty", () => {
    const shown = fields({
      name: { type: "string" },
      empty: { type: "string" },
      count: { type: "number" },
      size: { enum: [1, 2] },
      off: { type: "boolean" },
      untouched: { type: "boolean" },
      tags: { type: "array", items: { type: "integer" } },
      days: { type: "array", items: { enum: ["mon", "tue"] } },
      place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      other: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      data: {},
    });
    const draft = {
      name: "Ada",
      empty: "",
      count: " 2.5 ",
      size: "1",
      off: false,
      tags: ["1", "", "2"],
      days: ["1"],
      place: { city: "Turin" },
      other: { city: "" },
      data: '{"a": [null]}',
    };
    expect(enteredIn(shown, draft)).toEqual({
      mistakes: {},
      value: {
        name: "Ada",
        count: 2.5,
        size: 2,
        off: false,
        tags: [1, 2],
        days: ["tue"],
        place: { city: "Turin" },
        data: { a: [null] },
      },
    });
  });

  it("is checked field by field", () => {
    const shown = fields(
      {
        name: { type: "string", minLength: 2, maxLength: 3, pattern: "^[a-z]+$" },
        mail: { type: "string", format: "email" },
        link: { type: "string", format: "uri" },
        day: { type: "string", format: "date" },
        count: { type: "integer", minimum: 1, maximum: 5 },
        share: { type: "number", exclusiveMinimum: 0 },
        tags: { type: "array", items: { type: "number" }, maxItems: 1 },
        place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        data: {},
      },
      ["name", "place"],
    );
    expect(mistakesOf(shown, {})).toEqual({ name: "This is required.", "place.city": "This is required." });
    const place = { city: "x" };
    const wrong = (name: string, draft: GroupDraft[string]) => mistakesOf(shown, { name: "ab", place, [name]: draft });
    expect(wrong("name", "a")).toEqual({ name: "It must have at least 2 characters." });
    expect(wrong("name", "👍👍👍👍")).toEqual({ name: "It must have at most 3 characters." });
    expect(wrong("name", "AB")).toEqual({ name: 'It must match the pattern "^[a-z]+$".' });
    expect(wrong("mail", "ada")).toHaveProperty("mail");
    expect(wrong("link", "example.com/a")).toHaveProperty("link");
    expect(wrong("day", "2026-13-01")).toHaveProperty("day");
    expect(wrong("count", "many")).toEqual({ count: "It must be a whole number, such as 3." });
    expect(wrong("count", "1.5")).toEqual({ count: "It must be a whole number, such as 3." });
    expect(wrong("count", "6")).toEqual({ count: "It must be at most 5." });
    expect(wrong("share", "0")).toEqual({ share: "It must be more than 0." });
    expect(wrong("tags", ["1", "x"])).toEqual({ "tags.1": "It must be a number, such as 3.14." });
    expect(wrong("tags", ["1", "2"])).toEqual({ tags: "It must have at most 1 item." });
    expect(wrong("data", "{")).toEqual({ data: "This is not valid JSON." });
    expect(wrong("count", "5")).toEqual({});
  });

  it("is not held up by a pattern that would take forever", () => {
    const shown = fields({ name: { type: "string", pattern: "^(a+)+$" }, broken: { type: "string", pattern: "(" } });
    expect(mistakesOf(shown, { name: `${"a".repeat(40)}!`, broken: "x" })).toEqual({});
  });

  it("leaves it to the server whether a text matches a pattern that could take long", () => {
    const shown = fields({
      slow: { type: "string", pattern: "^a*a*a*a*b$" },
      optional: { type: "string", pattern: "^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b$" },
      quick: { type: "string", pattern: "^a*b$" },
    });
    expect(mistakesOf(shown, { slow: "x", optional: "x", quick: "x" })).toEqual({
      quick: 'It must match the pattern "^a*b$".',
    });
  });

  it("can be shown again as it was", () => {
    const shown = fields({
      name: { type: "string", default: "Ada" },
      at: { type: "string", format: "date-time" },
      size: { enum: ["s", "m"], default: "m" },
      tags: { type: "array", items: { type: "string" } },
      place: { type: "object", properties: { city: { type: "string", default: "Turin" } } },
      data: {},
    });
    expect(enteredIn(shown, draftOf(shown, {}, true)).value).toEqual({
      name: "Ada",
      size: "m",
      place: { city: "Turin" },
    });
    const value = { name: "Bo", at: "2026-01-02T03:04:05.000Z", size: "s", tags: ["a"], place: {}, data: { a: 1 } };
    const { place: _, ...rest } = value;
    expect(enteredIn(shown, draftOf(shown, value, false)).value).toEqual(rest);
  });
});
