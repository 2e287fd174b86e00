import { describe, expect, it } from "vitest";
import { typeOfSchema } from "../../src/commands/generate/schema-type.js";

describe("the type of a schema", () => {
  it.each<[unknown, string]>([
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "string", nullable: true }, "string | null"],
    [{ enum: ["a", 1, null, true] }, '"a" | 1 | null | true'],
    [{ const: "x" }, '"x"'],
    [{ anyOf: [{ type: "string" }, { type: "number" }, { type: "string" }] }, "string | number"],
    [{ anyOf: [{ type: "string" }, {}] }, "unknown"],
    [{ type: "array", items: { enum: ["a", "b"] } }, 'Array<"a" | "b">'],
    [{ type: "array" }, "Array<unknown>"],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false }, "[string, number]"],
    [{ type: "array", prefixItems: [{ type: "string" }] }, "[string, ...Array<unknown>]"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", properties: {} }, "Record<string, never>"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ type: "object", additionalProperties: false }, "Record<string, never>"],
    [true, "unknown"],
    [false, "never"],
    [{ type: "nonsense" }, "unknown"],
  ])("of %j is %s", (schema, type) => {
    expect(typeOfSchema(schema)).toBe(type);
  });

  it("has required and optional properties, with their descriptions and defaults", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "number", description: "How many." }, "b-c": { type: "string", default: "x" } },
      required: ["a"],
    };
    expect(typeOfSchema(schema)).toBe(`{
  /** How many. */
  a: number;
  /** Default: "x" */
  "b-c"?: string;
}`);
  });

  it("allows other properties if the schema says so", () => {
    const schema = { properties: { a: { type: "number" } }, additionalProperties: { type: "string" } };
    expect(typeOfSchema(schema)).toBe("{\n  a?: number;\n  [name: string]: unknown;\n}");
  });

  it("combines allOf with its own properties", () => {
    const a = { type: "object", properties: { a: { type: "string" } } };
    const schema = { allOf: [a], type: "object", properties: { b: { type: "number" } } };
    expect(typeOfSchema(schema)).toBe("({\n  a?: string;\n}) & ({\n  b?: number;\n})");
  });

  it("follows references, and ends where a schema contains itself", () => {
    const schema = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/Node" }, other: { $ref: "https://example.com/x" } },
      $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" }, name: { type: "string" } } } },
    };
    expect(typeOfSchema(schema)).toContain("next?: unknown;\n    name?: string;");
    expect(typeOfSchema(schema)).toContain("other?: unknown;");
  });
});
