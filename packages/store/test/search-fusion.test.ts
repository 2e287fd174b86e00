import { describe, expect, it } from "vitest";
import { fuse, meaningWeight } from "../src/searching/fusion.js";

const scored = (...pairs: [number, number][]) => pairs.map(([entry, score]) => ({ entry, score }));

describe("the weight of meaning", () => {
  it("is about half for prose, more for programs, and less for identifiers", () => {
    const prose = meaningWeight({ identifiers: 0, code: 0, lead: 0.05 });
    expect(prose).toBeCloseTo(0.5);
    expect(meaningWeight({ identifiers: 0, code: 1, lead: 0.05 })).toBeCloseTo(0.75);
    expect(meaningWeight({ identifiers: 1, code: 1, lead: 0.05 })).toBeLessThan(0.4);
  });

  it("grows where the nearest is far ahead, and stays within bounds", () => {
    expect(meaningWeight({ identifiers: 0, code: 0, lead: 0.2 })).toBeGreaterThan(0.55);
    for (const lead of [0, 0.5, 1]) {
      for (const code of [0, 1]) {
        const weight = meaningWeight({ identifiers: 0, code, lead });
        expect(weight).toBeGreaterThan(0.4);
        expect(weight).toBeLessThanOrEqual(0.9);
      }
    }
  });
});

describe("fusion", () => {
  it("puts first what both sides have, and keeps what only one has", () => {
    const fused = fuse(scored([1, 9], [2, 8]), scored([3, 0.9], [2, 0.8]), 0.5);
    expect(fused.map(({ entry }) => entry)).toEqual([2, 1, 3]);
    expect(fused[1]).toMatchObject({ keyword: 1, semantic: 0, score: 0.5 });
  });

  it("is the order of one side where the other found nothing", () => {
    expect(fuse(scored([5, 3], [4, 2]), [], 0.5).map(({ entry }) => entry)).toEqual([5, 4]);
    expect(fuse([], scored([5, 0.3], [4, 0.2]), 0.5).map(({ entry }) => entry)).toEqual([5, 4]);
    expect(fuse([], [], 0.5)).toEqual([]);
  });
});
