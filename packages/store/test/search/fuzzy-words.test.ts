import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { identifierWords, indexTextOf } from "../../src/engine/content/text.js";
import { wordsOfEntry } from "../../src/search/fuzzy-words.js";

const entry = { title: undefined, path: "", tags: [], metadata: {} };

function wordsOf(text: string): string[] {
  return wordsOfEntry(entry, indexTextOf(Buffer.from(text)));
}

describe("the words that typos are corrected to", () => {
  it("are whole words and the parts of compound words, lowercase, each once", () => {
    expect(wordsOf("parseHTTPRequest(parser) // Parser of HTTPRequest, abc x9 utf8Text\nparser")).toEqual([
      "parsehttprequest",
      "parser",
      "httprequest",
      "utf8text",
      "parse",
      "http",
      "request",
      "utf8",
      "text",
    ]);
  });

  it("are not numbers, hashes or encoded bytes", () => {
    expect(wordsOf(`123456 a1b2c3d4 ${"long".repeat(20)} base64`)).toEqual(["base64"]);
  });

  it("are the same in ASCII text as next to a non-ASCII character", () => {
    let state = 7;
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const characters = "aabbcdeXYZZ019_ .\n";
    for (let round = 0; round < 300; round++) {
      const text = Array.from({ length: 400 }, () => characters[random(characters.length)]).join("");
      expect(wordsOf(text)).toEqual(wordsOf(`${text} é`));
    }
  });

  it("are those of the whole text, folded, wherever it has other characters", () => {
    const random = seededRandom();
    const characters = [..."aabcdeXYZZ_  .\n", "é", "Ü", "ß", "–", "“", "©", "語", "\u0301", "ﬁ", "𝒳"];
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: 200 }, () => random.pick(characters)).join("");
      const folded = (part: string) => part.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
      const found = [text, identifierWords(text)].flatMap((part) => folded(part).match(/[\p{L}\p{N}]{4,}/gu) ?? []);
      expect(new Set(wordsOf(text))).toEqual(new Set(found.filter((word) => word.length >= 4 && word.length <= 32)));
    }
  });
});
