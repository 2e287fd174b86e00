import { describe, expect, it } from "vitest";
import {
  checkJson,
  countOf,
  fieldOf,
  fieldsOf,
  indentedJson,
  itemsOf,
  spanKind,
  spanValue,
  wholeSpan,
} from "../src/json-bytes.js";

const span = (text: string) => wholeSpan(Buffer.from(text));
const check = (text: string, maxDepth = 500) => checkJson(Buffer.from(text), { maxDepth });

const VALID = [
  '{"a":[1,2,{"b":"c"}],"d":null}',
  " [ ] ",
  "{}",
  '"\\u00e9\\n\\"x\\\\"',
  "-0.5e+10",
  "0",
  "true",
  '{"":{"":[[],[{}]]}}',
  '[1 , 2\n,\t"x,]}" , false]',
  '{"a":1,"a":2}',
  '"é😀"',
];
const INVALID = [
  "",
  "[1,]",
  "{,}",
  '{"a"}',
  '{"a":}',
  "{a:1}",
  "[1 2]",
  "01",
  "1.",
  "-",
  "1e",
  "tru",
  "truex",
  '"\\x"',
  '"\\u12g4"',
  '"a\nb"',
  '"a',
  "[1}",
  "[[]",
  "[]]",
  "1 1",
  "nul",
  "+1",
  ".5",
];

describe("JSON as bytes", () => {
  it.each(VALID)("accepts %s, as JSON.parse does", (text) => {
    expect(check(text)).toBeUndefined();
    expect(spanValue(span(text))).toEqual(JSON.parse(text));
  });

  it.each(INVALID)("rejects %s, as JSON.parse does", (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(check(text)).toBe("invalid");
  });

  it("rejects deep nesting without recursion", () => {
    const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
    expect(check(deep)).toBe("deep");
    expect(check("[".repeat(500) + "]".repeat(500))).toBeUndefined();
    expect(check("[".repeat(501) + "]".repeat(501))).toBe("deep");
  });

  it("finds items and fields", () => {
    const list = span('[1, "a,]", {"x": [2, 3]} ,[]]');
    expect([...itemsOf(list)].map(spanValue)).toEqual([1, "a,]", { x: [2, 3] }, []]);
    expect(countOf(list)).toBe(4);
    expect([...itemsOf(span("[]"))]).toEqual([]);
    expect(countOf(span(" { } "))).toBe(0);
    const record = span('{"a" : {"b":1}, "\\u0062" :"}", "a":3}');
    expect([...fieldsOf(record)].map(([name, value]) => [name, spanValue(value)])).toEqual([
      ["a", { b: 1 }],
      ["b", "}"],
      ["a", 3],
    ]);
    expect(countOf(record)).toBe(3);
    expect(spanValue(fieldOf(record, "a") ?? span("null"))).toBe(3);
    expect(fieldOf(record, "c")).toBeUndefined();
    expect([record, list, span('"x"'), span("1")].map(spanKind)).toEqual(["record", "list", "text", "other"]);
  });

  it.each(VALID)("indents %s as JSON.stringify does", (text) => {
    const indented = Buffer.from(indentedJson(span(text))).toString("utf8");
    if (text.includes('"a":1,"a"') || text.includes("e+10")) expect(JSON.parse(indented)).toEqual(JSON.parse(text));
    else expect(indented).toBe(JSON.stringify(JSON.parse(text), null, 1));
  });

  it("does not multiply the size of deep values by indenting them", () => {
    const items = Array.from({ length: 1_000 }, () => "1").join(",");
    const text = `${"[".repeat(400)}${items}${"]".repeat(400)}`;
    const indented = indentedJson(span(text));
    expect(indented.length).toBeLessThan(text.length * 2);
    expect(JSON.parse(Buffer.from(indented).toString())).toEqual(JSON.parse(text));
  });
});
