import { describe, expect, it } from "vitest";
import { briefSignature } from "../../src/operations/describe.js";

const content = { type: "object", properties: { content: { type: "string" } }, required: ["content"] };

function named(count: number, properties: (index: number) => object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, properties(index)]));
}

describe("a one-line signature", () => {
  it("spells out parameters and results, including objects", () => {
    const entity = {
      type: "object",
      properties: { name: { type: "string" }, notes: { type: "array", items: { type: "string" } } },
      required: ["name"],
    };
    const schema = {
      type: "object",
      properties: { dry: { type: "boolean" }, entities: { type: "array", items: entity } },
      required: ["entities"],
    };
    expect(briefSignature(schema, content)).toBe(
      "(entities: {name: string, notes?: string[]}[], dry?: boolean) => {content: string}",
    );
  });

  it("says what values look like, unless that takes too much room", () => {
    const dated = {
      properties: {
        date: { type: "string", description: "Day of departure (format YYYY-MM-DD). May be in the past." },
        limit: { type: "integer", description: "How many to return.", default: 10 },
      },
      required: ["date"],
    };
    expect(briefSignature(dated, undefined)).toBe("(date: string /* format YYYY-MM-DD */, limit?: number = 10)");
    const many = { properties: named(12, () => ({ type: "string", description: "For example a long text, or two." })) };
    expect(briefSignature(many, undefined)).not.toContain("/*");
    expect(briefSignature(many, undefined)).toContain("name11?: string)");
  });

  it("drops the result before it drops parameters", () => {
    const large = { type: "object", properties: named(40, () => ({ type: "string" })) };
    expect(briefSignature({ properties: { path: { type: "string" } } }, large)).toBe("(path?: string)");
  });

  it("lists parameters without types if there are many, and shows where the list was cut", () => {
    const some = {
      properties: { first: { type: "string" }, ...named(25, () => ({ type: "string" })) },
      required: ["first"],
    };
    expect(briefSignature(some, undefined)).toMatch(/^\(first: string, name0\?, name1\?, .*name24\?\)$/);
    const many = briefSignature({ properties: named(200, () => ({ type: "string" })) }, undefined);
    expect(many).toMatch(/^\(name0\?, name1\?.*…$/);
    expect(many.length).toBeLessThan(310);
  });

  it("does not claim to be complete if the schema combines other schemas", () => {
    expect(briefSignature({ oneOf: [{ required: ["a"] }, { required: ["b"] }] }, undefined)).toBe("() …");
  });
});
