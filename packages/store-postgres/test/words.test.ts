import { joinedTokensOf, lazyIndexText, termCounts, tokensOf } from "@trunkline/store/parts";
import { describe, expect, it } from "vitest";
import { termOfWord, wordsOfHead, wordsOfText } from "../src/words/keyword-counts.js";
import { encodeBlock, lengthOf, readBlock, TermTexts, weightOf } from "../src/words/posting-blocks.js";
import { encodeSections, readWords, sizesOf } from "../src/words/word-bytes.js";

const TEXTS = [
  "",
  "one two two, three_four __init__ a_b_c x__y _ _z parse_HTTP_request 42",
  "Größe naïve ÉCOLE snake_größe état_civil a_b 中文 x\u0301y",
  "running runs ran; the THE The",
];

function read(...parts: Uint8Array[]): Record<string, [piece: number, count: number, length: number]> {
  const found: Record<string, [number, number, number]> = {};
  readWords(Buffer.concat(parts), (term, piece, { count, length }) => {
    found[term] = [piece, count, length];
  });
  return found;
}

describe("the words of an entry", () => {
  it.each(TEXTS)("are counted as they are found one by one: %j", (text) => {
    const tokens = [...tokensOf(text)];
    const { counts, length } = termCounts(text);
    expect(length).toBe(tokens.length);
    expect([...counts].sort()).toEqual(
      [...new Set(tokens)].map((term) => [term, tokens.filter((each) => each === term).length]).sort(),
    );
  });

  it("contain words that are joined by underscores as one", () => {
    expect([...joinedTokensOf(TEXTS[1] as string)]).toEqual(["three_four", "a_b_c", "x_y", "pars_http_request"]);
    // Next to other letters they are found in another way.
    expect([...joinedTokensOf(`${TEXTS[1]} é`)]).toEqual([...joinedTokensOf(TEXTS[1] as string)]);
  });

  it("are those of the text and of what belongs to it, added up", () => {
    const text = wordsOfText(lazyIndexText(Buffer.from("apple pear apple")));
    const head = wordsOfHead({ path: "pear.md", root: undefined, title: "Apple", tags: [], metadata: {} });
    const both = read(head, text);
    const [alone, top] = [read(text), read(head)];
    expect(both.appl).toEqual([0, (alone.appl?.[1] ?? 0) + (top.appl?.[1] ?? 0), both.pear?.[2]]);
    const total = sizesOf([head, text]);
    expect(total).toEqual({ texts: 1, length: both.appl?.[2] });
  });

  it("are found by a hash if they are very long, because a row of an index has a limit", () => {
    const long = `q${"abcde".repeat(2000)}`;
    const found = Object.keys(read(wordsOfText(lazyIndexText(Buffer.from(`${long} short`)))));
    expect(found.every((term) => term.length <= 200)).toBe(true);
    expect(found).toContain(termOfWord(long));
    expect(termOfWord(long)).not.toBe(termOfWord(`${long}x`));
  });

  it("survive being written and read, with many pieces, long terms and large counts", () => {
    const counts = new Map([
      ["a", 1],
      ["é".repeat(150), 5_000_000],
      ["x".repeat(127), 127],
      ["y".repeat(128), 128],
    ]);
    const bytes = encodeSections([{ piece: 4095, length: 700_000, counts }]);
    expect(new Map(Object.entries(read(bytes)).map(([term, [, count]]) => [term, count]))).toEqual(counts);
    expect(sizesOf([bytes])).toEqual({ texts: 1, length: 700_000 });
  });
});

describe("a block of postings", () => {
  it("returns the texts that were put in", () => {
    const texts = new TermTexts();
    const given = [
      [2048 * 4096, weightOf(1, 10)],
      [2049 * 4096 + 3, weightOf(4000, 1_000_000)],
      [3071 * 4096 + 4095, weightOf(9999, 99_999_999)],
    ] as const;
    for (const [text, weight] of given) texts.add(text, weight);
    const found: [number, number, number][] = [];
    readBlock(2, encodeBlock(texts), (entry, text, weight) => found.push([entry, text, weight]));
    expect(found).toEqual(given.map(([text, weight]) => [Math.floor(text / 4096), text, weight]));
    expect(lengthOf(weightOf(1, 99_999_999))).toBe(0xfffff);
  });
});
