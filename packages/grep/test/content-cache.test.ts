import { describe, expect, it } from "vitest";
import { ContentCache } from "../src/content-cache.js";
import { random } from "./tree.js";

const BUDGET = 1 << 20;

function content(number: number, length = 2000): Buffer {
  return Buffer.alloc(length, `${number} `);
}

describe("the contents a thread caches", () => {
  it("are returned unchanged, and binary ones are marked as such", () => {
    const cache = new ContentCache(BUDGET);
    for (let number = 0; number < 100; number++) cache.add(`h${number}`, content(number));
    cache.add("binary", undefined);
    cache.add("empty", Buffer.alloc(0));
    for (let number = 0; number < 100; number++) expect(cache.get(`h${number}`)?.text).toEqual(content(number));
    expect(cache.get("binary")).toEqual({ text: undefined });
    expect(cache.get("empty")?.text).toHaveLength(0);
    expect(cache.get("none")).toBeUndefined();
  });

  it("never exceed the budget, and are never mixed up", () => {
    const below = random(5);
    for (const budget of [0, 1000, 100_000, BUDGET]) {
      const cache = new ContentCache(budget);
      for (let step = 0; step < 5000; step++) {
        if (below(50) === 0) cache.begin(step);
        const number = below(3000);
        const length = (number * 7919) % (number % 100 === 0 ? 400_000 : 5000);
        const kept = cache.get(`h${number}`);
        if (kept !== undefined) expect(kept.text?.equals(content(number, length))).toBe(true);
        else cache.add(`h${number}`, content(number, length));
        expect(cache.sizeBytes).toBeLessThanOrEqual(budget);
      }
      if (budget === BUDGET) expect(cache.sizeBytes).toBeGreaterThan(budget / 2);
      cache.clear();
      expect(cache.sizeBytes).toBe(0);
    }
  });

  it("of older queries are evicted first", () => {
    const cache = new ContentCache(BUDGET);
    const ask = (query: number, numbers: readonly number[]) => {
      cache.begin(query);
      for (const number of numbers) if (cache.get(`h${number}`) === undefined) cache.add(`h${number}`, content(number));
    };
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);
    ask(1, numbers(0, 150));
    ask(2, numbers(1000, 150));
    ask(3, numbers(0, 150));
    ask(4, numbers(2000, 150));
    const kept = (from: number) => numbers(from, 150).filter((number) => cache.get(`h${number}`) !== undefined).length;
    expect(kept(2000)).toBe(150);
    expect(kept(0)).toBeGreaterThan(kept(1000));
  });

  it("are useful even if every query reads more than fits", () => {
    const cache = new ContentCache(BUDGET);
    let found = 0;
    for (let query = 1; query <= 3; query++) {
      cache.begin(query);
      for (let number = 0; number < 1000; number++) {
        if (cache.get(`h${number}`) !== undefined) found++;
        else cache.add(`h${number}`, content(number));
      }
    }
    expect(found).toBeGreaterThan(2 * 300);
  });
});
