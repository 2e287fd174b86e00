import { describe, expect, it } from "vitest";
import { BM25_MAX_GAIN, bm25Gain, bm25LengthFactor, bm25Weight, bm25WeightOfFts5, boundedBm25 } from "../src/index.js";

describe("BM25", () => {
  it("computes the textbook score", () => {
    // 10 texts, 2 with the word; it occurs twice in a text of 150 characters, and the average is 100.
    const score = bm25Weight(2, 10) * bm25Gain(2, bm25LengthFactor(150, 100));
    expect(score).toBeCloseTo(Math.log(1 + 8.5 / 2.5) * ((2 * 2.2) / (2 + 1.2 * (0.25 + 0.75 * 1.5))), 12);
  });

  it("weights rare words higher, and common ones never below zero", () => {
    expect(bm25Weight(1, 100)).toBeGreaterThan(bm25Weight(50, 100));
    expect(bm25Weight(100, 100)).toBeGreaterThan(0);
    expect(bm25WeightOfFts5(100, 100)).toBe(1e-6);
    expect(bm25WeightOfFts5(1, 100)).toBeCloseTo(Math.log(99.5 / 1.5), 12);
  });

  it("gains less with each repetition, up to a limit", () => {
    expect(bm25Gain(1)).toBe(1);
    expect(bm25Gain(3) - bm25Gain(2)).toBeLessThan(bm25Gain(2) - bm25Gain(1));
    expect(bm25Gain(1e9)).toBeLessThanOrEqual(BM25_MAX_GAIN);
    expect(bm25Gain(2, 2)).toBeLessThan(bm25Gain(2));
  });

  it("is mapped to a bounded range in the same order", () => {
    expect([0, 5, 45].map(boundedBm25)).toEqual([0, 0.5, 0.9]);
  });
});
