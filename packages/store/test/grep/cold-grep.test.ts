import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/index.js";
import { rawDatabase } from "../support/raw-database.js";
import { temporaryStore } from "../support/temporary.js";

const DOCUMENTS = 200;
/** Which of the documents contain the word. */
const HAS_NEEDLE = (number: number) => number % 50 === 7;

describe("the first grep after opening", () => {
  it("reads only the contents that may match", async () => {
    const { store, path, folder: cwd } = await temporaryStore();
    const hashes: Buffer[] = [];
    for (let number = 0; number < DOCUMENTS; number++) {
      const content = `document ${number}\n${HAS_NEEDLE(number) ? "needle" : "hay"}\n`;
      const { hash } = await store.add({ name: `${number}.txt`, content });
      if (!HAS_NEEDLE(number)) hashes.push(Buffer.from(String(hash), "hex"));
    }
    await store.indexed();
    await store.close();
    // Reading any other content fails from here on.
    const db = rawDatabase(join(path, "content.sqlite"));
    const damage = db.prepare("UPDATE chunks SET data = zeroblob(3) WHERE hash = ?", "objects");
    for (const hash of hashes) damage.run([hash]);
    db.close();
    for (const options of [{}, { lazyWriter: true }, { readOnly: true }]) {
      await using opened = await openStore({ path, cwd, ...options });
      expect(await opened.grep({ pattern: "needle", filesWithMatches: true })).toMatchObject({
        files: ["107.txt", "157.txt", "57.txt", "7.txt"],
      });
      await expect(opened.grep({ pattern: "document" })).rejects.toMatchObject({ data: { damaged: true } });
    }
  });
});
