import { describe, expect, it } from "vitest";
import type { Sql } from "../src/database/sql.js";
import { termsOfWord } from "../src/search/bm25-scores.js";
import { KeywordCache } from "../src/search/keyword-cache.js";
import { BLOCK, encodeBlock, PIECES, TermTexts, weightOf } from "../src/words/posting-blocks.js";

const PAGE = 20_000;

/** Entries up to `last`, all of them with the word and all merged, in pages. `onPage` is called before each. */
function databaseWith(last: number, onPage: (after: number) => Promise<void>): Sql {
  const entryRow = (id: number) => ({
    ...{ id, seq: id, state: 2, results: false, kind: 0, texts: 1, length: 1, data: null, merged: last },
  });
  const block = (number: number) => {
    const texts = new TermTexts();
    for (let entry = Math.max(1, number * BLOCK); entry <= last && entry < (number + 1) * BLOCK; entry++)
      texts.add(entry * PIECES, weightOf(1, 1));
    return encodeBlock(texts);
  };
  const rows = async (text: string, ...values: readonly unknown[]): Promise<unknown[]> => {
    if (text.includes("FROM entries")) {
      const after = Math.max(0, values[0] as number);
      await onPage(after);
      return Array.from({ length: Math.min(PAGE, last - after) }, (_, at) => entryRow(after + at + 1));
    }
    const [terms, blocks] = values as [string[], number[]];
    return terms.flatMap((term, at) => {
      const first = blocks[at] as number;
      const count = Math.floor(last / BLOCK) + 1 - first;
      return Array.from({ length: count }, (_, n) => ({ term, block: first + n, data: block(first + n) }));
    });
  };
  // The cache only reads rows.
  return { rows } as unknown as Sql;
}

describe("the words that a gateway keeps", () => {
  it.each([PAGE + 1, PAGE])(
    "are complete after %i changes, although another search looked at them meanwhile",
    async (last) => {
      const cache = new KeywordCache();
      const found = () => cache.using(sql, termsOfWord("heron"), (scores) => scores.textsWith("heron"));
      const sql = databaseWith(last, async (after) => {
        if (after > 0) await found();
      });
      await cache.refresh(sql, last);
      expect(await found()).toBe(last);
    },
  );

  it("are complete if a page could not be read at first", async () => {
    const cache = new KeywordCache();
    let isAway = true;
    const found = () => cache.using(sql, termsOfWord("heron"), (scores) => scores.textsWith("heron"));
    const sql = databaseWith(PAGE + 1, async (after) => {
      if (after > 0 && isAway) throw new Error("away");
    });
    await expect(cache.refresh(sql, PAGE + 1)).rejects.toThrow("away");
    await found();
    isAway = false;
    await cache.refresh(sql, 1);
    expect(await found()).toBe(PAGE + 1);
  });
});
