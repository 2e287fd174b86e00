import { describe, expect, it } from "vitest";
import { excerptOf, headOf, LEFT_OUT, wholeHead } from "../src/excerpt.js";
import { wholeSpan } from "../src/json-bytes.js";
import { shrink, shrinkSpan } from "../src/shrink.js";

interface Table {
  readonly columns: readonly string[];
  readonly total: number;
  readonly rows: readonly (readonly unknown[])[];
}

const digest = (value: unknown, maxBytes: number) => shrink(value, maxBytes, { digest: true });
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

const issues = (length: number) =>
  Array.from({ length }, (_, number) => ({
    number,
    title: `Saving file ${number} fails`,
    state: number % 3 === 0 ? "closed" : "open",
    ...(number % 4 === 0 ? { assignee: "ada" } : {}),
  }));

describe("a digest of a list", () => {
  it("is a table if its items are alike, with a mark on columns that some of them lack", () => {
    const { value, cuts } = digest({ total_count: 400, items: issues(400) }, 2_000);
    const { items, total_count } = value as { items: Table; total_count: number };
    expect(total_count).toBe(400);
    expect(items.columns).toEqual(["number", "title", "state", "assignee?"]);
    expect(items.total).toBe(400);
    expect(items.rows.slice(0, 2)).toEqual([
      [0, "Saving file 0 fails", "closed", "ada"],
      [1, "Saving file 1 fails", "open", null],
    ]);
    expect(items.rows.length).toBeGreaterThan(30);
    expect(cuts).toEqual([`items: the first ${items.rows.length} of 400 items`]);
  });

  it("shows more items than the list itself would in the same room", () => {
    const list = shrink({ items: issues(400) }, 2_000).value as { items: unknown[] };
    const table = digest({ items: issues(400) }, 2_000).value as { items: Table };
    expect(table.items.rows.length).toBeGreaterThan(list.items.length * 1.4);
  });

  it("shows a few items of a list rather than many without their fields", () => {
    const files = Array.from({ length: 26 }, (_, index) => ({
      path: `/home/ada/project/src/module-${index}.ts`,
      count: index,
    }));
    const { value, cuts } = shrink({ total: 101, files }, 250);
    const shown = (value as { files: unknown[] }).files;
    expect(shown.length).toBeGreaterThan(1);
    expect(shown).toEqual(files.slice(0, shown.length));
    expect(cuts).toEqual([`files: the first ${shown.length} of 26 items`]);
    expect(JSON.stringify(value).length).toBeLessThanOrEqual(250);
  });

  it("leaves a list out if there is no room for any item", () => {
    const results = Array.from({ length: 9 }, (_, id) => ({ id, path: "p".repeat(90), snippet: "s".repeat(90) }));
    const { value, cuts } = shrink({ total: 9, results }, 60);
    expect(value).toEqual({ total: 9 });
    expect(cuts).toContain("results: the first 0 of 9 items");
  });

  it("has every value in full or visibly cut, and names the columns it leaves out", () => {
    const wide = issues(50).map((issue) => ({
      ...issue,
      user: { login: "octocat", avatar: `https://example.com/${"a".repeat(200)}` },
      labels: Array.from({ length: 30 }, (_, index) => `label ${index}`),
      body: "It fails whenever the disk is full. ".repeat(40),
    }));
    const { value } = digest(wide, 2_500);
    const { columns, rows } = value as Table;
    expect(columns).toEqual(["number", "title", "state", "assignee?", "user", "labels", "body"]);
    expect(rows.length).toBeGreaterThanOrEqual(8);
    expect(rows[1]?.slice(0, 4)).toEqual([1, "Saving file 1 fails", "open", null]);
    const [user, labels, body] = (rows[1] ?? []).slice(4) as [Record<string, unknown>, unknown[], string];
    expect(user).toEqual({ login: "octocat", avatar: expect.stringMatching(/^https:.*a…$/), "…": "…" });
    expect([labels[0], labels.at(-1)]).toEqual(["label 0", "…"]);
    expect(body).toMatch(/^It fails .*\w…$/);
    const { value: narrow, cuts } = digest(wide, 1_000);
    expect((narrow as Table).columns).not.toContain("body");
    expect(cuts.join("; ")).toMatch(/list without .*body/);
  });

  it.each([
    ["items of different kinds", [...issues(40), "text", ...issues(40)], 41],
    ["an item with a field of its own", [...issues(40), { number: 1, other: 2 }, ...issues(40)], 41],
  ])("ends before %s, which a table cannot show", (_, list, end) => {
    const { value } = digest(list, 4_000);
    expect((value as Table).rows.length).toBeLessThan(end);
    expect((value as Table).total).toBe(list.length);
  });

  it.each([
    [
      "null and a missing field could be confused",
      issues(99).map((item, n) => (n === 5 ? { ...item, assignee: null } : item)),
    ],
    ["a name ends like a mark", issues(99).map((item) => ({ ...item, "sure?": 1 }))],
    ["items have little in common", issues(99).map(({ title }, n) => ({ [`key ${n}`]: title, title }))],
    ["items have one field", issues(99).map(({ title }) => ({ title }))],
    ["items are not objects", issues(99).map(({ title }) => title)],
  ])("stays a list if %s", (_, list) => {
    const { value } = digest(list, 1_500);
    expect(Array.isArray(value)).toBe(true);
    expect((value as unknown[])[0]).toEqual(list[0]);
  });

  it("is not confused by names that objects inherit", () => {
    const list = JSON.parse(`[${'{"__proto__":1,"constructor":"x","toString":null},'.repeat(300)}{}]`) as unknown[];
    const { columns, rows } = digest(list, 1_000).value as Table;
    expect(columns).toEqual(["__proto__", "constructor", "toString"]);
    expect(rows[0]).toEqual([1, "x", null]);
  });
});

describe("a digest of a text", () => {
  const log = Array.from({ length: 3_000 }, (_, line) => `line ${line} of the log`).join("\n");

  it("has whole lines of its beginning and end, and says how much is left out", () => {
    const { content } = digest({ content: log }, 1_000).value as { content: string };
    const [head = "", tail = ""] = content.split(LEFT_OUT);
    const left = Number(/\[… (\d+) characters/.exec(content)?.[1]);
    expect(log.startsWith(`${head}\n`)).toBe(true);
    expect(log.endsWith(`\n${tail}`)).toBe(true);
    expect(head.length + left + tail.length).toBe(log.length);
    expect(head.length).toBeGreaterThan(tail.length);
  });

  it("has whole words if there are no lines", () => {
    const { content } = digest({ content: "several words ".repeat(900) }, 1_000).value as { content: string };
    for (const part of content.split(LEFT_OUT)) expect(part.trim()).toMatch(/^(several|words)\b.*\b(several|words)$/);
  });

  it("cuts between code points even without any words", () => {
    for (let bytes = 20; bytes < 700; bytes += 13) {
      const text = '🙂"\\\u0001é漢'.repeat(200);
      const cut = excerptOf(bytes, { first: text, last: () => text, length: text.length });
      expect(cut).toBe(Buffer.from(cut).toString());
      expect(sizeOf(cut) - 2).toBeLessThanOrEqual(bytes);
    }
  });
});

describe("the beginning of a text", () => {
  it("ends between words if it can", () => {
    expect(headOf("several words", 9)).toBe("several w");
    expect(wholeHead("several words", 9)).toBe("several");
    expect(wholeHead("several words", 7)).toBe("several");
    expect(wholeHead("several words", 50)).toBe("several words");
    expect(wholeHead("x".repeat(200), 100)).toBe("x".repeat(100));
  });
});

describe("a digest", () => {
  const values = [
    { total: 1, items: issues(500), log: "a line\n".repeat(5_000) },
    issues(500),
    { text: '\\\n"\u0001🙂'.repeat(3_000) },
    issues(500).map((issue) => ({ issue, more: issues(5) })),
    { deep: JSON.parse(`${"[".repeat(300)}1${"]".repeat(300)}`) },
    issues(200).map((issue, n) => ({ ...issue, text: "🙂 ".repeat(n) })),
    Array.from({ length: 300 }, (_, n) =>
      Object.fromEntries(Array.from({ length: 59 }, (__, key) => [`key ${key}`, n])),
    ),
  ];

  it("is JSON within the size limit", () => {
    for (const [index, value] of values.entries()) {
      for (const bytes of [20, 60, 100, 300, 1_000, 5_000]) {
        expect(sizeOf(digest(value, bytes).value), `value ${index}, ${bytes} bytes`).toBeLessThanOrEqual(bytes);
      }
    }
  });

  it("is the same for a value that was never built", () => {
    for (const value of values) {
      const span = wholeSpan(Buffer.from(JSON.stringify(value)));
      for (const bytes of [300, 1_000, 5_000]) {
        expect(shrinkSpan(span, bytes, { digest: true })).toEqual(digest(value, bytes));
      }
    }
  });
});
