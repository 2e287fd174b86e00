import { describe, expect, it } from "vitest";
import { buildParamHeaders, findHeaderMismatch, readParamHeaders } from "../src/headers.js";

const schema = (properties: Record<string, unknown>) => ({ type: "object", properties });
const headersOf = (inputSchema: unknown, args: Record<string, unknown>) => {
  const read = readParamHeaders(inputSchema);
  return read.problem !== undefined ? read.problem : buildParamHeaders(read.headers, args);
};

describe("x-mcp-header", () => {
  it("puts arguments into headers, at any depth", () => {
    const inputSchema = schema({
      region: { type: "string", "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Limit" },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
      nested: schema({ id: { type: "string", "x-mcp-header": "Id" } }),
      other: { type: "string" },
    });
    const args = { region: "eu", limit: 3, dry: false, nested: { id: "x" }, other: "no" };
    expect(headersOf(inputSchema, args)).toEqual({
      "Mcp-Param-Region": "eu",
      "Mcp-Param-Limit": "3",
      "Mcp-Param-Dry": "false",
      "Mcp-Param-Id": "x",
    });
    expect(headersOf(inputSchema, { region: null, nested: "flat" })).toEqual({});
  });

  it.each([
    ["", "=?base64??="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["Grüße", "=?base64?R3LDvMOfZQ==?="],
    ["two\nlines", "=?base64?dHdvCmxpbmVz?="],
    ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
    ["plain text, as it is", "plain text, as it is"],
  ])("sends %j as %j", (value, expected) => {
    const inputSchema = schema({ text: { type: "string", "x-mcp-header": "Text" } });
    expect(headersOf(inputSchema, { text: value })).toEqual({ "Mcp-Param-Text": expected });
  });

  it.each([
    [schema({ a: { type: "string", "x-mcp-header": "" } }), "a non-empty string"],
    [schema({ a: { type: "string", "x-mcp-header": "a b" } }), "is not a valid header name"],
    [schema({ a: { type: "number", "x-mcp-header": "A" } }), "only on string, integer and boolean"],
    [
      schema({ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }),
      "is used twice",
    ],
    [
      schema({ a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }),
      "only on properties, at any depth",
    ],
    [{ type: "object", $defs: { a: { type: "string", "x-mcp-header": "A" } } }, "only on properties, at any depth"],
    [{ type: "object", "x-mcp-header": "A" }, "only on properties, at any depth"],
  ])("refuses %j", (inputSchema, problem) => {
    expect(headersOf(inputSchema, {})).toContain(problem);
  });
});

const declared = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    plain: { type: "string" },
    deep: { type: "object", properties: { count: { type: "integer", "x-mcp-header": "Count" } } },
    many: { type: "array", items: { type: "string", "x-mcp-header": "Never" } },
  },
};

const problemOf = (inputSchema: object, args: unknown, sent: Record<string, string>) =>
  findHeaderMismatch(readParamHeaders(inputSchema).headers, args, sent);

describe("the headers of a call", () => {
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

  it("match the arguments, in any encoding", () => {
    const args = { region: "größe", deep: { count: 42 }, many: ["x"] };
    expect(problemOf(declared, args, { "mcp-param-region": base64("größe"), "mcp-param-count": "42" })).toBeUndefined();
    expect(problemOf(declared, { region: "a" }, { "mcp-param-region": " a " })).toBeUndefined();
    expect(problemOf(declared, { plain: "a", region: null }, {})).toBeUndefined();
    expect(problemOf(declared, undefined, {})).toBeUndefined();
  });

  it.each([
    ["missing", {}],
    ["another value", { "mcp-param-region": "b" }],
    ["padding that is not there", { "mcp-param-region": "=?base64?SGVsbG8?=" }],
    ["characters that are no base64", { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }],
  ])("are rejected: %s", (_, headers) => {
    expect(problemOf(declared, { region: "Hello" }, headers)).toContain("Mcp-Param-Region");
  });

  it("can omit a number that is too large to be exact, because the client sends no header for it", () => {
    const args = { deep: { count: 2 ** 60 } };
    expect(buildParamHeaders(readParamHeaders(declared).headers, args)).toEqual({});
    expect(problemOf(declared, args, {})).toBeUndefined();
  });
});
