import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTokenizer } from "../../src/inference/wordpiece.js";
import { haveWeights, UNREACHABLE, weightsHome } from "../weights.js";

/** A small vocabulary that exercises every rule. */
const small = createTokenizer({
  model: {
    type: "WordPiece",
    vocab: Object.fromEntries(
      ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "em", "##bed", "##d", "##ing", "##be", "e", ",", "cafe", "σ", "a", "##a"]
        .concat(["中", "文", "[", "]", "unk"])
        .map((piece, id) => [piece, id]),
    ),
  },
});
const [UNK, CLS, SEP] = [1, 2, 3];

describe("the tokenizer", () => {
  it("matches the longest piece first", () => {
    expect(small.encode("embedding", 16)).toEqual([CLS, 4, 5, 6, 7, SEP]);
  });

  it("maps a whole word to unknown if one piece of it is unknown", () => {
    expect(small.encode("embedx em", 16)).toEqual([CLS, UNK, 4, SEP]);
  });

  it("lower-cases, strips accents, and splits off punctuation and Chinese characters", () => {
    expect(small.encode("Em,CAFÉ", 16)).toEqual([CLS, 4, 10, 11, SEP]);
    expect(small.encode("em中文", 16)).toEqual([CLS, 4, 15, 16, SEP]);
  });

  it("drops control characters and treats all white space alike", () => {
    expect(small.encode("e\u0000m\u200b\tem\u00a0em\r\nem", 16)).toEqual([CLS, 4, 4, 4, 4, SEP]);
  });

  it("lower-cases a Greek sigma at the end of a word like any other", () => {
    expect(small.encode("Σ", 16)).toEqual([CLS, 12, SEP]);
    expect(small.encode("aΣ", 16)).toEqual([CLS, UNK, SEP]);
  });

  it("truncates to the number of tokens and keeps both special tokens", () => {
    expect(small.encode("em em em em em", 4)).toEqual([CLS, 4, 4, SEP]);
    expect(small.encode("em em", 4)).toEqual([CLS, 4, 4, SEP]);
    expect(small.encode("embedding embedding", 5)).toEqual([CLS, 4, 5, 6, SEP]);
  });

  it("processes a long text in pieces without splitting a word", () => {
    const words = Array.from({ length: 20_000 }, () => "embedding");
    expect(small.encode(words.join(" "), 100_000)).toEqual([CLS, ...words.flatMap(() => [4, 5, 6, 7]), SEP]);
  });

  it("maps a word of more than 100 characters to unknown", () => {
    expect(small.encode("a".repeat(100), 256)).toHaveLength(102);
    expect(small.encode("a".repeat(101), 256)).toEqual([CLS, UNK, SEP]);
  });

  it("reads a special token inside a text as plain text", () => {
    expect(small.encode("[SEP]", 16)).toEqual([CLS, 17, UNK, 18, SEP]);
  });

  it("returns only the special tokens for an empty text", () => {
    expect(small.encode("", 16)).toEqual([CLS, SEP]);
  });

  it.each([
    [{}, "no vocabulary"],
    [{ model: { type: "BPE", vocab: {} } }, "BPE"],
    [{ model: { type: "WordPiece", vocab: { a: 1 } } }, "[UNK]"],
    [{ model: { type: "WordPiece", vocab: { a: "1" } } }, "not a number"],
  ])("refuses %j", (definition, reason) => {
    expect(() => createTokenizer(definition)).toThrow(reason);
  });
});

const available = await haveWeights();
describe.skipIf(!available)(`the tokenizer with BERT's vocabulary${available ? "" : ` ${UNREACHABLE}`}`, () => {
  const tokenizer = available
    ? createTokenizer(JSON.parse(readFileSync(join(weightsHome, "models", "minilm", "tokenizer.json"), "utf8")))
    : small;

  // Known ids from BERT's own tokenizer.
  it.each([
    ["hello world", [101, 7592, 2088, 102]],
    ["Hello, World!", [101, 7592, 1010, 2088, 999, 102]],
    ["unaffable", [101, 14477, 20961, 3468, 102]],
    ["This is an example sentence", [101, 2023, 2003, 2019, 2742, 6251, 102]],
    ["Héllo", [101, 7592, 102]],
    ["embeddings", [101, 7861, 8270, 4667, 2015, 102]],
    ["", [101, 102]],
  ])("tokenizes %j like the reference", (text, ids) => {
    expect(tokenizer.encode(text, 256)).toEqual(ids);
  });
});
