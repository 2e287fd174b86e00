import { describe, expect, it } from "vitest";
import { randomFrom } from "../../../../test/support/seed.js";
import { cosine, lengthOf, type Numbers, numbersOf, vectorBytes } from "../../src/search/vector-math.js";

const DIMENSIONS = 384;
const CLUSTERS = 40;
const PER_CLUSTER = 100;
const NEAREST = 10;

/** Vectors around common centres, some nearer than others, and some dimensions larger than others, as models make them. */
function clustered(next: () => number): Float32Array[] {
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const widths = Array.from({ length: DIMENSIONS }, () => 0.5 + next());
  return Array.from({ length: CLUSTERS }, () => widths.map((width) => normal() * width)).flatMap((centre) =>
    Array.from({ length: PER_CLUSTER }, () => {
      const spread = 0.3 + 0.7 * next();
      const vector = Float32Array.from(centre, (number, n) => number + spread * normal() * (widths[n] ?? 1));
      const length = lengthOf(vector);
      return vector.map((number) => number / length);
    }),
  );
}

function nearest(query: Float32Array, vectors: readonly Numbers[]): Set<number> {
  const length = lengthOf(query);
  const scored = vectors.map((vector, at) => ({ at, score: cosine(query, vector, length) }));
  return new Set(
    scored
      .sort((a, b) => b.score - a.score)
      .slice(0, NEAREST)
      .map(({ at }) => at),
  );
}

describe("vectors in one byte per dimension", () => {
  it("find at least 99 % of the ten nearest that float vectors find", () => {
    // The same vectors in every run: a bound on a share of samples would fail in some.
    const random = randomFrom(1);
    const floats = clustered(() => random.next());
    const bytes = floats.map((vector) => numbersOf(vectorBytes(vector), DIMENSIONS) as Numbers);
    let same = 0;
    const queries = floats.filter((_, at) => at % 40 === 0);
    for (const query of queries) {
      const found = nearest(query, bytes);
      for (const at of nearest(query, floats)) if (found.has(at)) same++;
    }
    expect(same / (queries.length * NEAREST)).toBeGreaterThanOrEqual(0.99);
  });

  it("are read in both forms, and in no other", () => {
    const vector = Float32Array.from([0.5, -0.25, 0, 1]);
    const floats = new Uint8Array(vector.buffer);
    expect(numbersOf(vectorBytes(vector), 4)).toEqual(Int8Array.from([64, -32, 0, 127]));
    expect(numbersOf(floats, 4)).toEqual(vector);
    expect(numbersOf(Buffer.concat([Buffer.from([0]), floats]).subarray(1), 4)).toEqual(vector);
    expect(numbersOf(floats, 5)).toBeUndefined();
    expect(vectorBytes(new Float32Array(4))).toEqual(new Uint8Array(4));
  });
});
