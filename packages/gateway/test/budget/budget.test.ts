import type { ContentStore } from "@trunkline/core";
import { contentIdOf, jsonBytes, LargeValue, shareOut, shrink, TrunklineError } from "@trunkline/core";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { type FitOptions, fitAnswer } from "../../src/budget/fit.js";
import { serializeValue } from "../../src/budget/stored-value.js";
import { tokensWithin } from "../../src/budget/tokens.js";

const plain = { disallowedSpecial: new Set<string>() };
const count = (text: string) => countTokens(text, plain);

const rows = (length: number) =>
  Array.from({ length }, (_, id) => ({
    id,
    path: `/src/module-${id}/index.ts`,
    score: id / 7,
    snippet: `line ${id} of “text” 🙂`,
  }));

/** A store that only records what it is given. */
function noting(fails = false): { store: ContentStore; added: Map<string, string> } {
  const added = new Map<string, string>();
  const store = {
    run: async (operation: string, params: { content: Uint8Array; collection: string; name: string }) => {
      expect(operation).toBe("add");
      expect(params.collection).toBe("results");
      if (fails) throw new TrunklineError("IO", "The disk is full.");
      const text = new TextDecoder().decode(params.content);
      added.set(contentIdOf(text), text);
      return {};
    },
  } as unknown as ContentStore;
  return { store, added };
}

/** Fields that tests look at. Each test knows which ones its answer has. */
interface Fitted {
  readonly truncated: boolean;
  readonly hash: string;
  readonly size: number;
  readonly hint: string;
  readonly text: string;
  readonly content: string;
  readonly head: readonly unknown[];
  readonly results: readonly unknown[];
  readonly steps: readonly { readonly result: Fitted }[];
}

async function fit(value: unknown, options: Partial<FitOptions> = {}) {
  const { store, added } = noting();
  const { maxTokens = 500 } = options;
  const fitted = await fitAnswer({
    parts: [{ op: "search", value, isStorable: true }],
    frame: ([only]) => only,
    maxTokens,
    budget: maxTokens,
    store: async () => store,
    ...options,
  });
  expect(fitted.text).toBe(JSON.stringify(fitted.value));
  expect(JSON.parse(fitted.text)).toEqual(fitted.value);
  return { ...fitted, value: fitted.value as Fitted, added };
}

describe("counting", () => {
  it("agrees with the tokenizer", async () => {
    for (const text of [JSON.stringify(rows(200)), "grüße 🙂 漢字 ".repeat(300), "<|endoftext|>".repeat(100)]) {
      const tokens = count(text);
      expect(await tokensWithin(text, tokens)).toBe(tokens);
      expect(await tokensWithin(text, tokens - 1)).toBeUndefined();
    }
  });

  it("counts short text as one token per byte", async () => {
    expect(await tokensWithin("hello", 100)).toBe(5);
  });

  it("sees that text which the tokenizer cannot split is over the budget", async () => {
    await tokensWithin("load the tables, which takes a while", 10);
    for (const text of ["a".repeat(200_000), " ".repeat(200_000), "漢".repeat(60_000), "=".repeat(200_000)]) {
      expect(await tokensWithin(text, 1_000), text.slice(0, 1)).toBeUndefined();
    }
  });

  it("never takes text that is counted in pieces for one token less than it has", async () => {
    for (const text of [
      "a".repeat(3_000),
      "ab".repeat(1_500),
      " ".repeat(4_000),
      "=-".repeat(1_000),
      "漢字".repeat(800),
    ]) {
      const tokens = count(text);
      expect(await tokensWithin(text, tokens - 1)).toBeUndefined();
    }
  });
});

describe("shrinking", () => {
  it("keeps small values whole and cuts long ones to their beginning", () => {
    const { value, cuts } = shrink({ total: 1000, type: "hybrid", results: rows(1000), note: "short" }, 2_000);
    const { results, ...rest } = value as { results: unknown[] };
    expect(rest).toEqual({ total: 1000, type: "hybrid", note: "short" });
    expect(results).toEqual(rows(results.length));
    expect(results.length).toBeGreaterThan(10);
    expect(cuts).toEqual([`results: the first ${results.length} of 1000 items`]);
  });

  it("cuts text between code points and returns a prefix", () => {
    for (let bytes = 10; bytes < 60; bytes++) {
      const text = '🙂"\\\n\u0001é漢'.repeat(20);
      const { value } = shrink(text, bytes);
      expect(text.startsWith(value as string)).toBe(true);
      expect(value).toBe(Buffer.from(value as string).toString());
      expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(bytes);
    }
  });

  it("shows part of several large items", () => {
    const { value } = shrink(
      { documents: ["a", "b", "c"].map((path) => ({ path, content: path.repeat(10_000) })) },
      1_000,
    );
    const { documents } = value as { documents: { path: string; content: string }[] };
    expect(documents.map(({ path }) => path)).toEqual(["a", "b", "c"]);
    for (const { content } of documents) expect(content.length).toBeGreaterThan(100);
  });

  it("produces JSON within the size limit for any value", () => {
    const values = [
      rows(500),
      Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`key ${n}`, n])),
      { deep: JSON.parse(`${"[".repeat(500)}1${"]".repeat(500)}`) },
      { [`${"k".repeat(5000)}`]: 1, b: 2 },
      ["x".repeat(10_000), 1, null, true, { a: "y".repeat(10_000) }],
    ];
    for (const value of values) {
      for (const bytes of [20, 50, 100, 400, 3_000]) {
        const { value: small } = shrink(value, bytes);
        expect(Buffer.byteLength(JSON.stringify(small)), `${bytes}`).toBeLessThanOrEqual(bytes);
      }
    }
  });

  it("measures like JSON.stringify, or at most 60 bytes more", () => {
    for (const value of [rows(20), { a: ['"\n\u0001é漢🙂\ud800'] }, [], {}, "", null, 1.5e-9, { u: undefined }]) {
      const exact = Buffer.byteLength(JSON.stringify(value));
      const measured = jsonBytes(value, 1e9);
      expect(measured).toBeGreaterThanOrEqual(exact);
      expect(measured).toBeLessThanOrEqual(exact + 60);
    }
  });

  it("distributes the available size", () => {
    expect(shareOut([10, 1000, 20, 1000], 430)).toEqual([10, 200, 20, 200]);
    expect(shareOut([10, 20], 100)).toEqual([10, 20]);
    expect(shareOut([10, 20], -5)).toEqual([0, 0]);
  });
});

describe("an answer", () => {
  it("stays unchanged if it fits", async () => {
    const value = { results: rows(3) };
    const { value: fitted, added } = await fit(value);
    expect(fitted).toEqual(value);
    expect(added.size).toBe(0);
  });

  it("that does not fit is stored whole and replaced by its beginning and a handle", async () => {
    const value = { total: 2000, results: rows(2000) };
    const { value: fitted, text, added } = await fit(value);
    expect(count(text)).toBeLessThanOrEqual(500);
    expect(count(text)).toBeGreaterThan(400);
    expect(fitted).toMatchObject({
      total: 2000,
      truncated: true,
      hint: expect.stringMatching(/get \{"hash": .* or grep \{"pattern": "…", "hash": "/),
    });
    expect(fitted.results).toEqual(rows(fitted.results.length));
    const whole = added.get(fitted.hash);
    expect(JSON.parse(whole ?? "")).toEqual(value);
    expect(Buffer.byteLength(whole ?? "")).toBe(fitted.size);
    expect(whole?.split("\n").length).toBeGreaterThan(2000);
  });

  it("that is text is stored as that text", async () => {
    const log = "a line of a log – grüße 🙂\n".repeat(5_000);
    const { value, text, added } = await fit({ text: log });
    expect(count(text)).toBeLessThanOrEqual(500);
    expect(log.startsWith(value.text)).toBe(true);
    expect(added.get(value.hash)).toBe(log);
    expect(value.hash).toBe(contentIdOf(log));
  });

  it("that is a list has its beginning in a field", async () => {
    const { value } = await fit(rows(2000));
    expect(value).toMatchObject({ head: rows(value.head.length), truncated: true, hash: expect.any(String) });
  });

  it("without spilling has a beginning but no handle", async () => {
    const { value, text } = await fit({ results: rows(2000) }, { store: undefined });
    expect(count(text)).toBeLessThanOrEqual(500);
    expect(value).toMatchObject({ truncated: true, size: expect.any(Number) });
    expect(value).not.toHaveProperty("hash");
  });

  it("says so if its value cannot be stored", async () => {
    const { store } = noting(true);
    const { value, text } = await fit({ results: rows(2000) }, { store: async () => store });
    expect(count(text)).toBeLessThanOrEqual(500);
    expect(value.hint).toContain("The disk is full.");
    expect(value).not.toHaveProperty("hash");
  });

  it.each([1, 5, 10, 20, 30, 50, 75, 100, 150, 300])("stays JSON within %i tokens", async (maxTokens) => {
    const values = [{ results: rows(2000) }, { text: "x y ".repeat(5000) }, rows(900), "🙂".repeat(9_000)];
    for (const value of values) {
      const { text, value: fitted } = await fit(value, { maxTokens });
      expect(fitted.truncated).toBe(true);
      // {"truncated":true} is the minimum.
      expect(count(text)).toBeLessThanOrEqual(Math.max(6, maxTokens));
      if (maxTokens >= 50) expect(fitted.hash).toEqual(expect.any(String));
    }
  });

  const steps = (values: readonly unknown[]) => ({ steps: values.map((result, stepIndex) => ({ stepIndex, result })) });

  it("of several parts replaces the earlier ones by handles first", async () => {
    const parts = [
      { op: "search", value: { results: rows(1000) }, isStorable: true },
      { op: "status", value: { total: 1 }, isStorable: true },
      { op: "list", value: { results: rows(400) }, isStorable: true },
      { op: "get", value: { text: "word ".repeat(500) }, isStorable: true },
    ];
    const { value, text, added } = await fit(undefined, { parts, frame: steps, maxTokens: 1_000 });
    expect(count(text)).toBeLessThanOrEqual(1_000);
    const [first, second, third, last] = value.steps.map(({ result }) => result);
    expect(Object.keys(first ?? {})).toEqual(["truncated", "size", "hash"]);
    expect(second).toEqual({ total: 1 });
    expect(third).toMatchObject({ truncated: true, results: expect.any(Array), hint: expect.any(String) });
    expect(last).toEqual({ text: "word ".repeat(500) });
    expect([...added.keys()].sort()).toEqual([first?.hash, third?.hash].sort());
  });

  it("cuts a part that exceeds its own budget, unless the caller has set one", async () => {
    const [long, short] = [{ results: rows(300) }, { results: rows(20) }];
    const own = { wholeBytes: 4_000, cutBytes: 1_000 };
    const parts = [long, short].map((value) => ({ op: "s.t", value, isStorable: true, budget: own }));
    const adapted = await fit(undefined, { parts, frame: steps, maxTokens: 50_000, budget: undefined });
    expect(adapted.value.steps[0]?.result).toMatchObject({ truncated: true, hash: expect.any(String) });
    expect(JSON.stringify(adapted.value.steps[0]?.result).length).toBeLessThan(1_100);
    expect(adapted.value.steps[1]?.result).toEqual(short);
    const asked = await fit(undefined, { parts, frame: steps, maxTokens: 50_000 });
    expect(asked.value.steps.map(({ result }) => result)).toEqual([long, short]);
  });

  it("of many small parts is cut and stored as one", async () => {
    const parts = Array.from({ length: 500 }, (_, n) => ({ op: "add", value: { hash: `${n}` }, isStorable: true }));
    const frame = (values: readonly unknown[]) => ({ results: values, totalOps: values.length });
    const { value, text, added } = await fit(undefined, { parts, frame, maxTokens: 300 });
    expect(count(text)).toBeLessThanOrEqual(300);
    expect(value).toMatchObject({ totalOps: 500, truncated: true });
    expect(JSON.parse(added.get(value.hash) ?? "").results).toHaveLength(500);
  });

  it("with a document's content refers to the document, which is already stored", async () => {
    const hash = contentIdOf("anything");
    const value = { path: "/a.md", hash, size: 50_000, versions: [], content: "word ".repeat(10_000) };
    const { value: fitted, added } = await fit(value);
    expect(fitted).toMatchObject({
      path: "/a.md",
      hash,
      size: 50_000,
      truncated: true,
      hint: expect.stringMatching(/^Cut to max_tokens \(\d+\)\. Continue with get /),
    });
    expect(value.content.startsWith(fitted.content)).toBe(true);
    expect(added.size).toBe(0);
  });

  it("has a maximum budget, so that megabytes are never counted", async () => {
    const text = "a line of a log with some words in it\n".repeat(300_000);
    await tokensWithin("load the tables, which takes a while", 10);
    const { value } = await fit({ text }, { maxTokens: 3_000_000 });
    expect(value.truncated).toBe(true);
  });

  it("of 40 MB takes only seconds", async () => {
    const text = "a line of a log with some words in it\n".repeat(1_100_000);
    const { value, added } = await fit({ text }, { maxTokens: 8_000 });
    expect(added.get(value.hash)?.length).toBe(text.length);
    expect(count(value.text)).toBeGreaterThan(6_000);
  });
});

describe("a stored value", () => {
  it("is plain text if the value is just text", async () => {
    const read = async (value: unknown) => new TextDecoder().decode((await serializeValue(value)).bytes);
    expect(await read({ text: "a" })).toBe("a");
    expect(await read({ content: "a" })).toBe("a");
    expect(await read("a")).toBe("a");
    expect(JSON.parse(await read({ id: "a" }))).toEqual({ id: "a" });
    expect(JSON.parse(await read({ text: "a", more: 1 }))).toEqual({ text: "a", more: 1 });
    expect(JSON.parse(await read([1, 2]))).toEqual([1, 2]);
    expect(JSON.parse(await read(undefined))).toBeNull();
  });

  it("has one line for each item of a table", async () => {
    const { bytes, lines } = await serializeValue({ total: 300, results: rows(300) });
    const written = new TextDecoder().decode(bytes).split("\n");
    expect(written).toHaveLength(lines);
    const row = written.find((line) => line.includes("/src/module-123/")) ?? "";
    expect(JSON.parse(row.replace(/,$/, ""))).toEqual(rows(300)[123]);
  });
});

describe("a large value whose thread fails", () => {
  /** A value that cannot be shrunk, or not be read at all. */
  class Unreadable extends LargeValue {
    readonly sizeBytes = 5_000_000;
    readonly about = {};
    readonly #isStorable: boolean;

    constructor(isStorable: boolean) {
      super();
      this.#isStorable = isStorable;
    }

    #fail(): Promise<never> {
      return Promise.reject(
        new TrunklineError("RESULT_TOO_LARGE", 'A large answer of "docs" cannot be read: it is gone.'),
      );
    }

    shrink = () => this.#fail();
    serializedAfter = () => this.#fail();
    read = () => this.#fail();
    json = () => this.#fail();
    whole = () => this.#fail();
    release = () => {};
    serialized = async () => (this.#isStorable ? await serializeValue({ all: "of it" }) : await this.#fail());
  }

  const batch = (large: LargeValue, maxTokens: number) =>
    fit(undefined, {
      parts: [
        { op: "add", value: { added: 1 }, isStorable: true },
        { op: "docs.read", value: large, isStorable: true },
      ],
      frame: (results) => ({ results, totalOps: 2, succeeded: 2 }),
      essence: { counts: { totalOps: 2, succeeded: 2 } },
      maxTokens,
    });

  it.each([60, 300, 8_000])("does not cost the results beside it (max_tokens %i)", async (maxTokens) => {
    const { value } = await batch(new Unreadable(false), maxTokens);
    expect(value).toMatchObject({ totalOps: 2, succeeded: 2 });
    if (maxTokens < 300) return;
    const large = { truncated: true, size: 5_000_000, hint: expect.stringContaining("cannot be read: it is gone.") };
    expect(value.results).toEqual([{ added: 1 }, large]);
  });

  it("is still stored if it can be", async () => {
    const { value, added } = await batch(new Unreadable(true), 1_000);
    expect(value.results).toEqual([
      { added: 1 },
      expect.objectContaining({ truncated: true, hash: expect.any(String) }),
    ]);
    expect([...added.values()]).toEqual([JSON.stringify({ all: "of it" }, null, 0).replace(":", ": ")]);
  });
});
