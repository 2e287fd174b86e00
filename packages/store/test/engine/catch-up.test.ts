import { describe, expect, it, onTestFinished } from "vitest";
import { prepareContent } from "../../src/engine/content/prepare.js";
import { catchUp, reachedSeq } from "../../src/engine/indexing/catch-up.js";
import { currentSeq } from "../../src/engine/sqlite/documents.js";
import { openForWriting } from "../../src/engine/threads/open-databases.js";
import { ChunkPacker } from "../../src/engine/writing/incoming.js";
import { addDocuments } from "../../src/engine/writing/store-content.js";
import { indexers } from "../../src/indexers.js";
import { temporaryStore } from "../support/temporary.js";

/** Another process that writes to the store. It can be stopped anywhere. */
function otherProcess(path: string) {
  const databases = openForWriting(path, indexers);
  onTestFinished(() => {
    databases.truth.close();
    databases.index.close();
  });
  return {
    ...databases,
    /** Stores a document, but does not index it. */
    write(name: string, text: string): void {
      const packer = new ChunkPacker();
      const content = packer.content(prepareContent(Buffer.from(text), () => false));
      const documents = [{ path: name, root: undefined, title: undefined, file: undefined, content }];
      const batch = { collection: "default", tags: [], metadata: {}, session: undefined };
      const params = { ...batch, documents, data: packer.finish() };
      databases.truth.immediate(() => addDocuments({ truth: databases.truth, texts: new Map() }, params));
    },
    catchUp(check = () => {}, onSlice?: (seq: number) => void): void {
      catchUp({ ...databases, texts: new Map(), check }, onSlice);
    },
  };
}

describe("a document that another process has stored but not indexed", () => {
  it("is found by its word, its hash, its filters and grep, and so is its next version", async () => {
    const { store, path } = await temporaryStore();
    const other = otherProcess(path);
    for (const word of ["pelican", "cormorant"]) {
      other.write("bird.txt", `A ${word} fishes.\n`);
      expect(reachedSeq(other.index)).toBeLessThan(currentSeq(other.truth));
      const paths = async (params: object) => {
        const found = await store.search({ query: word, type: "keyword", pathsOnly: true, ...params });
        return "paths" in found ? found.paths : [];
      };
      expect(await paths({ collection: "default" })).toEqual(["bird.txt"]);
      other.write("bird.txt", `A ${word} flies.\n`);
      const { hash } = await store.get({ path: "bird.txt" });
      expect(await paths({ query: "", hash })).toEqual(["bird.txt"]);
      other.write("bird.txt", `A ${word} dives.\n`);
      expect(await store.grep({ pattern: `${word} dives` })).toMatchObject({ total: 1 });
      other.write("bird.txt", `The ${word} is back.\n`);
      expect(await paths({ query: "back" })).toEqual(["bird.txt"]);
    }
  });
});

describe("an index that two processes bring up to date", () => {
  it("never goes back to what the slower one wanted", async () => {
    const { path } = await temporaryStore();
    const [slow, fast] = [otherProcess(path), otherProcess(path)];
    slow.write("first.txt", "first");
    // The slow one waits for the lock while the other one indexes more than it has seen.
    fast.index.exec("BEGIN IMMEDIATE");
    let hasWaited = false;
    const reached: number[] = [];
    slow.catchUp(
      () => {
        if (hasWaited) return;
        hasWaited = true;
        fast.index.exec("COMMIT");
        fast.write("second.txt", "second");
        fast.catchUp();
      },
      (seq) => reached.push(seq),
    );
    expect(hasWaited).toBe(true);
    expect(reached).toEqual([currentSeq(slow.truth)]);
  });
});
