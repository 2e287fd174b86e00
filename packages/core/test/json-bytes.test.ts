import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../test/support/seed.js";
import {
  checkJson,
  countOf,
  decodedText,
  fieldOf,
  fieldsOf,
  itemsOf,
  recordOfText,
  spanKind,
  spanValue,
  textHead,
  textTail,
  wholeSpan,
} from "../src/json-bytes.js";
import { linedJson } from "../src/json-bytes-format.js";
import { shrink, shrinkSpan } from "../src/shrink.js";

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

  it.each(VALID)("keeps the value of %s in lines", (text) => {
    const { bytes, lines } = linedJson(span(text));
    const lined = Buffer.from(bytes).toString("utf8");
    expect(JSON.parse(lined)).toEqual(JSON.parse(text));
    expect(lined.split("\n")).toHaveLength(lines);
  });

  it("writes what is short on one line, and each part of the rest on its own", () => {
    const value = {
      total: 2,
      items: [
        { id: 1, tags: ["a", "b"] },
        { id: 2, text: "x".repeat(250) },
      ],
      none: [],
      last: { a: {} },
    };
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 4)]) {
      expect(
        Buffer.from(linedJson(span(text)).bytes)
          .toString()
          .split("\n"),
      ).toEqual([
        "{",
        ' "total": 2,',
        ' "items": [',
        '  {"id": 1, "tags": ["a", "b"]},',
        "  {",
        '   "id": 2,',
        `   "text": "${"x".repeat(250)}"`,
        "  }",
        " ],",
        ' "none": [],',
        ' "last": {"a": {}}',
        "}",
      ]);
    }
  });

  it("does not multiply the size of deep values by indenting them", () => {
    const items = Array.from({ length: 1_000 }, () => "1").join(",");
    const text = `${"[".repeat(400)}${items}${"]".repeat(400)}`;
    const { bytes: indented } = linedJson(span(text));
    expect(indented.length).toBeLessThan(text.length * 2);
    expect(JSON.parse(Buffer.from(indented).toString())).toEqual(JSON.parse(text));
  });

  // Values above 16 KB are remembered when they are checked, and texts above 64 KB are decoded in pieces.
  const LONG_TEXTS: readonly [string, string][] = [
    ["plain characters", "The quick brown fox. ".repeat(10_000)],
    ["line breaks and quotes", 'She said "hi"\n\\ twice.\t'.repeat(10_000)],
    ["quotes only", '"'.repeat(100_001)],
    ["backslashes only", "\\".repeat(100_001)],
    ["characters of several bytes", "xé€😀".repeat(20_000)],
    ["nothing but long characters", "😀".repeat(50_001)],
  ];
  const escaped = (text: string) =>
    `"${[...text].map((char) => [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")).join("")}"`;

  it.each(LONG_TEXTS)("decodes a long text of %s", (_, text) => {
    for (const json of [JSON.stringify(text), escaped(text), ` ${JSON.stringify(`ab${text}`)}`]) {
      const value = JSON.parse(json) as string;
      expect(check(json)).toBeUndefined();
      const { bytes, length } = decodedText(span(json));
      expect(Buffer.from(bytes).toString("utf8") === value).toBe(true);
      expect(length).toBe(value.length);
      expect(countOf(span(json))).toBe(value.length);
    }
  });

  it.each(LONG_TEXTS)("finds, formats and shrinks large values with %s", (_, text) => {
    const value = {
      before: [1, { text }, [text, "}"]],
      list: Array.from({ length: 5_000 }, (_, at) => ({ at, "]": '"{', inner: [[], {}] })),
      after: "x",
    };
    const bytes = Buffer.from(JSON.stringify(value));
    const whole = wholeSpan(bytes);
    // Before and after the check, which remembers large values.
    for (const expected of [undefined, checkJson(bytes, { maxDepth: 500 })]) {
      expect(expected).toBeUndefined();
      const fields = new Map(fieldsOf(whole));
      expect([...fields.keys()]).toEqual(["before", "list", "after"]);
      expect(spanValue(fields.get("after") ?? whole)).toBe("x");
      expect([...fields.values()].slice(0, 2).map(countOf)).toEqual([3, 5_000]);
      expect([...itemsOf(fields.get("before") ?? whole)].map(spanValue)).toEqual(value.before);
      const lined = linedJson(whole);
      const written = Buffer.from(lined.bytes).toString("utf8");
      expect(JSON.parse(written)).toEqual(value);
      expect(lined.lines).toBe(written.split("\n").length);
      expect(shrinkSpan(whole, 2_000)).toEqual(shrink(value, 2_000));
      const record = recordOfText("text", span(JSON.stringify(text)));
      expect(shrinkSpan(record, 1_000)).toEqual(shrink({ text }, 1_000));
      expect([...fieldsOf(record)].map(([name, field]) => [name, spanValue(field) === text])).toEqual([["text", true]]);
    }
  });

  const UNITS = [
    "a",
    " ",
    "é",
    "€",
    "😀",
    '\\"',
    "\\\\",
    "\\n",
    "\\/",
    "\\u00e9",
    "\\u0000",
    "\\u005c",
    "\\ud83d\\ude00",
    "\\\\ud83d",
    "\\\\ude00",
  ];
  /** A JSON text of a few kinds of characters, so that runs of each are common. */
  const randomText = (random: ReturnType<typeof seededRandom>, units: number) => {
    const few = Array.from({ length: 1 + random.below(4) }, () => random.pick(UNITS));
    return `"${Array.from({ length: units }, () => random.pick(few)).join("")}"`;
  };
  const hasHalf = (text: string) => /^[\udc00-\udfff]|[\ud800-\udbff]$/.test(text);

  it("cuts a text at any size, whole or not, without splitting an escape or a character", () => {
    const random = seededRandom();
    for (let round = 0; round < 120; round++) {
      const json = randomText(random, random.below(60));
      const text = span(json);
      const value = JSON.parse(json) as string;
      const bytes = text.end - text.start - 2;
      for (let least = -2; least < bytes + 20; least += random.pick([1, 0.25, 1 / 3])) {
        const head = textHead(text, least);
        expect(value.startsWith(head) && !hasHalf(head), `the first ${least} bytes of ${json}`).toBe(true);
        const rest = textTail(text, least);
        expect(value.endsWith(rest) && !hasHalf(rest), `the last ${least} bytes of ${json}`).toBe(true);
        if (least >= bytes) expect([head, rest]).toEqual([value, value]);
      }
    }
  });

  it.each(["\\u00e9", "\\ud83d\\ude00", "\\\\", '\\"'])(
    "decodes only as much of a text of %s as it is asked for",
    (unit) => {
      const text = span(`"${unit.repeat(100_000)}"`);
      for (const bytes of [100, 100.5, 1_001]) {
        expect(textHead(text, bytes).length).toBeLessThan(bytes + 10);
        expect(textTail(text, bytes).length).toBeLessThan(bytes + 10);
        expect(textHead(text, bytes).length).toBeGreaterThanOrEqual(Math.floor(bytes / 6) - 2);
        expect(textTail(text, bytes).length).toBeGreaterThanOrEqual(Math.floor(bytes / 6) - 2);
      }
    },
  );

  it("shrinks a value to any size, whole or not", () => {
    const random = seededRandom();
    for (let round = 0; round < 40; round++) {
      const texts = Array.from({ length: 4 }, () => randomText(random, 500));
      const json = `{"a":${texts[0]},"list":[${texts[1]},{"b":${texts[2]},"n":[1,2.5,-3e4]}],"inner":${JSON.stringify(texts[3])}}`;
      for (let size = 1; size < 3_000; size += random.next() * 200) {
        for (const digest of [false, true]) {
          const { value } = shrinkSpan(span(json), size, { digest });
          expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        }
      }
    }
  });
});
