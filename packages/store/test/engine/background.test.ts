import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore, type Store } from "../../src/index.js";
import { temporaryFolder, temporaryStore } from "../support/temporary.js";

const FILES = 300;

/** Writes files that each call a function of the next one. */
async function writeChain(folder: string): Promise<string> {
  const source = join(folder, "source");
  await mkdir(source);
  for (let number = 0; number < FILES; number++) {
    const next = (number + 1) % FILES;
    await writeFile(
      join(source, `file${number}.ts`),
      `import { step${next} } from "./file${next}.js";\nexport function step${number}() {\n  return step${next}();\n}\n`,
    );
  }
  return source;
}

async function expectComplete(store: Store): Promise<void> {
  // Each file defines a function, imports another file, and calls a function there.
  const graph = { documents: FILES, symbols: FILES, edges: 3 * FILES, pending: 0 };
  expect(await store.status({ detailed: true })).toMatchObject({ graph });
  for (const number of [0, 63, 64, 128, 255, FILES - 1]) {
    const found = await store.grep({ pattern: `function step${number}\\(`, filesWithMatches: true });
    expect(found).toMatchObject({ files: [expect.stringContaining(`file${number}.ts`)] });
    const to = expect.stringContaining(`#step${(number + 1) % FILES}`);
    const calls = await store.graph({ name: `source/file${number}.ts`, relation: "CALLS" });
    expect(calls).toMatchObject({ edges: [{ relation: "CALLS", to }] });
  }
  expect((await store.verify()).problems).toEqual([]);
}

describe("background indexing of many documents", () => {
  it("indexes every document, whichever thread prepares it", async () => {
    const cwd = await temporaryFolder();
    const source = await writeChain(cwd);
    const { store } = await temporaryStore({ cwd });
    await store.add({ path: source });
    await store.indexed();
    await expectComplete(store);
  });

  it("resumes where it stopped when the store was closed", async () => {
    const cwd = await temporaryFolder();
    const source = await writeChain(cwd);
    const { store, path } = await temporaryStore({ cwd });
    await store.add({ path: source });
    await store.close();
    await using again = await openStore({ path, cwd });
    await again.indexed();
    await expectComplete(again);
  });
});
