import { describe, expect, it } from "vitest";
import { signatureOf, typeOf } from "../src/index.js";

describe("signature", () => {
  it("lists required parameters first, and nested objects as objects", () => {
    const schema = {
      properties: {
        limit: { type: "integer" },
        filter: { type: "object", properties: { tag: { type: "string" } } },
        query: { type: "string" },
      },
      required: ["query"],
    };
    expect(signatureOf(schema)).toBe("(query: string, limit?: number, filter?: object)");
    expect(signatureOf(schema, { depth: 1 })).toBe("(query: string, limit?: number, filter?: {tag?: string})");
    expect(signatureOf(schema, { optionalTypes: false })).toBe("(query: string, limit?, filter?)");
  });

  it.each([
    [{ enum: ["a", "b"] }, '"a" | "b"'],
    [{ const: 1 }, "1"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "string | string[]"],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    [
      { type: "array", items: { type: "object", properties: { a: { type: ["string", "null"] } }, required: ["a"] } },
      "{a: string | null}[]",
    ],
    [{ $ref: "#/$defs/thing" }, "unknown"],
    [
      { $ref: "#/$defs/point", $defs: { point: { type: "object", properties: { x: { type: "number" } } } } },
      "{x?: number}",
    ],
    [{ type: "array", items: { $ref: "#/definitions/e" }, definitions: { e: { enum: [1, 2] } } }, "(1 | 2)[]"],
    [{ allOf: [{ type: "string" }] }, "string"],
  ])("renders %j as %s", (schema, text) => {
    expect(typeOf(schema, 1)).toBe(text);
  });

  it("follows references that lead back to themselves only so far", () => {
    const self = { $ref: "#/$defs/self" };
    expect(typeOf({ ...self, $defs: { self } })).toBe("unknown");
    const twice = { anyOf: Array.from({ length: 50 }, () => self) };
    expect(typeOf({ ...self, $defs: { self: twice } })).toBe("unknown");
    expect(typeOf({ $ref: "#/$defs/constructor", $defs: {} })).toBe("unknown");
  });

  it.each([
    [{ description: "Time zone, e.g. Europe/Oslo. Default UTC." }, " /* Time zone, e.g. Europe/Oslo */"],
    [{ description: "The name of the user." }, ""],
    [{ format: "date-time" }, " /* date-time */"],
    [{ default: "asc" }, ' = "asc"'],
    [{ description: "Must not end */ the comment" }, " /* Must not end  the comment */"],
    [{ description: `Must ${"be long ".repeat(50)}` }, ""],
  ])("adds to %j: %s", (property, hint) => {
    const properties = { value: { type: "string", ...property } };
    expect(signatureOf({ properties }, { hints: true })).toBe(`(value?: string${hint})`);
    expect(signatureOf({ properties })).toBe("(value?: string)");
  });
});
