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
  ])("renders %j as %s", (schema, text) => {
    expect(typeOf(schema, 1)).toBe(text);
  });
});
