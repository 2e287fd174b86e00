import { describe, expect, it } from "vitest";
import { fuse, keywordPart, semanticPart } from "../../src/search/fusion.js";

const scored = (...pairs: [number, number][]) => pairs.map(([entry, score]) => ({ entry, score, passages: 1 }));
const entries = (fused: readonly { entry: number }[]) => fused.map(({ entry }) => entry);

describe("fusion", () => {
  it("adds the cosine and BM25 relative to the size of the store", () => {
    const documents = 1000;
    const fused = fuse(scored([1, 9], [2, 8]), scored([3, 0.5], [2, 0.4]), { documents });
    expect(entries(fused)).toEqual([3, 2, 1]);
    expect(fused[1]).toEqual({
      entry: 2,
      keyword: keywordPart(8, documents),
      semantic: 0.4,
      score: keywordPart(8, documents) + 0.4,
    });
    expect(keywordPart(8, documents)).toBeGreaterThan(keywordPart(8, 10 * documents));
  });

  it("lets words decide between texts of similar meaning, and meaning between texts with the same words", () => {
    const options = { documents: 1000 };
    expect(entries(fuse(scored([1, 12], [2, 2]), scored([2, 0.5], [1, 0.45]), options))).toEqual([1, 2]);
    expect(entries(fuse(scored([1, 12], [2, 11]), scored([2, 0.5], [1, 0.3]), options))).toEqual([2, 1]);
  });

  it("keeps one side's order if the other found nothing, even in a store with one document", () => {
    for (const documents of [1, 1000]) {
      expect(entries(fuse(scored([5, 3], [4, 2]), [], { documents }))).toEqual([5, 4]);
      expect(entries(fuse([], scored([5, 0.3], [4, 0.2]), { documents }))).toEqual([5, 4]);
      expect(fuse([], [], { documents })).toEqual([]);
    }
  });

  it("trusts the best of many passages less than an only one", () => {
    expect(semanticPart(0.5, 1)).toBe(0.5);
    expect(semanticPart(0.5, 100)).toBeLessThan(semanticPart(0.5, 10));
    const long = { entry: 1, score: 0.5, passages: 60 };
    const short = { entry: 2, score: 0.45, passages: 1 };
    expect(entries(fuse([], [long, short], { documents: 10 }))).toEqual([2, 1]);
    expect(entries(fuse([], [{ ...long, score: 0.6 }, short], { documents: 10 }))).toEqual([1, 2]);
  });

  it("assumes a cosine for entries without a vector, and none below zero", () => {
    const fused = fuse(scored([1, 5], [2, 5]), scored([2, -0.2]), { documents: 10, unknown: () => 0.3 });
    expect(fused.map(({ semantic }) => semantic)).toEqual([0.3, 0]);
  });
});
