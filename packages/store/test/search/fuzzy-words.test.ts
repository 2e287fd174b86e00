import { describe, expect, it } from "vitest";
import { indexTextOf } from "../../src/engine/content/text.js";
import { wordsOfEntry } from "../../src/search/fuzzy-indexer.js";

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
});
