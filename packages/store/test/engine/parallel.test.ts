import { describe, expect, it } from "vitest";
import { temporaryStore } from "../support/temporary.js";

describe("many callers at once", () => {
  it("write and read through several threads and get back the bytes they stored", async () => {
    const { store } = await temporaryStore();
    const text = (index: number) => `line ${index} of a text that compresses well\n`.repeat(200 + index * 17);
    const indexes = Array.from({ length: 100 }, (_, index) => index);
    const added = await Promise.all(indexes.map((index) => store.add({ name: `n${index}.txt`, content: text(index) })));
    for (let round = 0; round < 3; round++) {
      const read = await Promise.all(added.map(({ hash }) => store.get({ hash: String(hash), includeContent: true })));
      expect(read.map(({ content }) => content)).toEqual(indexes.map(text));
    }
  });
});
