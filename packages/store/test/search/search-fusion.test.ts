import { describe, expect, it } from "vitest";
import { fuse, meaningWeight } from "../../src/search/fusion.js";

const scored = (...pairs: [number, number][]) => pairs.map(([entry, score]) => ({ entry, score }));

describe("the weight of semantic search", () => {
  const signs = { identifiers: 0, code: 0, lead: 0.1, coverage: 1 };

  it("falls as some text covers more of the query's words", () => {
    const weights = [0, 0.5, 1, 1.5, 2].map((coverage) => meaningWeight({ ...signs, coverage }));
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    expect(weights[0]).toBeGreaterThan(0.7);
    expect(weights[2]).toBeCloseTo(0.5, 1);
    expect(weights[4]).toBeLessThan(0.35);
  });

  it("is higher for code, and lower if the query names identifiers", () => {
    const asked = { ...signs, coverage: 0.6 };
    expect(meaningWeight({ ...asked, code: 1 })).toBeGreaterThan(meaningWeight(asked) + 0.05);
    expect(meaningWeight({ ...asked, code: 1, identifiers: 1 })).toBeLessThan(0.5);
  });

  it("grows if the nearest hit is far ahead, and stays within bounds", () => {
    expect(meaningWeight({ ...signs, lead: 0.3 })).toBeGreaterThan(meaningWeight(signs));
    for (const lead of [0, 0.5, 1]) {
      for (const code of [0, 1]) {
        for (const coverage of [0, 1, 2, 5]) {
          const weight = meaningWeight({ identifiers: 0, code, lead, coverage });
          expect(weight).toBeGreaterThan(0.2);
          expect(weight).toBeLessThan(1);
        }
      }
    }
  });
});

describe("fusion", () => {
  it("ranks hits found by both sides first, and keeps those found by only one", () => {
    const fused = fuse(scored([1, 9], [2, 8]), scored([3, 0.9], [2, 0.8]), 0.5);
    expect(fused.map(({ entry }) => entry)).toEqual([2, 1, 3]);
    expect(fused[1]).toMatchObject({ keyword: 1, semantic: 0, score: 0.5 });
  });

  it("keeps one side's order if the other found nothing", () => {
    expect(fuse(scored([5, 3], [4, 2]), [], 0.5).map(({ entry }) => entry)).toEqual([5, 4]);
    expect(fuse([], scored([5, 0.3], [4, 0.2]), 0.5).map(({ entry }) => entry)).toEqual([5, 4]);
    expect(fuse([], [], 0.5)).toEqual([]);
  });
});
