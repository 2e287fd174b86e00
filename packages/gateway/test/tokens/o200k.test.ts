import ranks from "gpt-tokenizer/bpeRanks/o200k_base";
import { countTokens as reference } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { growthOf, MAX_GROWTH } from "../../../../test/support/growth.js";
import { type Random, seededRandom } from "../../../../test/support/seed.js";
import { countTokens } from "../../src/tokens/o200k.js";
import { TOKEN_COUNT, TOKEN_TABLE } from "../../src/tokens/o200k-table.generated.js";

const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

/** Characters and words at which o200k_base splits in different ways. */
const PARTS = [
  ...[
    "a",
    "B",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "1",
    "1234",
    "=",
    "/",
    "{",
    '":"',
    "'s",
    "'LL",
    "the",
    " The",
    "function",
  ],
  ...[
    "é",
    "e\u0301",
    "ß",
    "漢",
    "字",
    "क्षि",
    "٣",
    "🙂",
    "👩‍👩‍👧",
    "\ud800",
    "\u00a0",
    "\u200b",
    "<|endoftext|>",
    "ǅ",
    "ʰ",
  ],
];

function randomText(random: Random): string {
  const part = () => (random.below(3) === 0 ? String.fromCodePoint(random.below(0x3000)) : random.pick(PARTS));
  return Array.from({ length: random.below(60) }, part).join("");
}

describe("counting o200k_base tokens", () => {
  it("uses the same tokens as gpt-tokenizer", () => {
    const table = Buffer.from(TOKEN_TABLE, "base64");
    expect(TOKEN_COUNT).toBe(ranks.length);
    let at = TOKEN_COUNT;
    const differing = ranks.filter((token, rank) => {
      const bytes = table.subarray(at, at + (table[rank] ?? 0));
      at += bytes.length;
      return !bytes.equals(Buffer.from(token as string));
    });
    expect(differing).toEqual([]);
    expect(at).toBe(table.length);
  });

  it("counts random texts like gpt-tokenizer", () => {
    const random = seededRandom();
    for (let round = 0; round < 2_000; round++) {
      const text = randomText(random);
      expect(countTokens(text), JSON.stringify(text)).toBe(reference(text, AS_TEXT));
    }
  });

  it("counts words that are not tokens like gpt-tokenizer", () => {
    const random = seededRandom();
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: 1 + random.below(200) }, () =>
        random.pick(["q", "x", "z", "e", "漢", "ö"]),
      ).join("");
      expect(countTokens(text), text).toBe(reference(text, AS_TEXT));
    }
  });

  it("counts nothing in an empty text", () => {
    expect(countTokens("")).toBe(0);
  });

  it.each(["a", "="])("takes time in proportion to the length of text that it cannot split: %s", async (unit) => {
    expect(await growthOf((size) => unit.repeat(size), countTokens)).toBeLessThan(MAX_GROWTH);
  });

  it("counts long text that it cannot split", () => {
    expect(countTokens("a".repeat(400_000))).toBe(50_000);
    expect(countTokens("=".repeat(512_000))).toBeGreaterThan(4_000);
  });
});
