import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentIdOf } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/engine/sqlite/database.js";
import { closeDatabases, openForWriting } from "../../src/engine/threads/open-databases.js";
import { openStore } from "../../src/index.js";
import { indexers } from "../../src/indexers.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { temporaryStore } from "../support/temporary.js";

const hashOf = (text: string) => Buffer.from(contentIdOf(text), "hex");

/** Makes passages and vectors as an older version stored them: without folders in the header. */
function age(index: Db, texts: readonly { now: string; before: string }[]): void {
  for (const { now, before } of texts) {
    for (const table of ["passages", "vectors"]) {
      const { changes } = index.run(`UPDATE ${table} SET hash = ? WHERE hash = ?`, hashOf(before), hashOf(now));
      expect(changes).toBe(1);
    }
  }
  index.run("DELETE FROM facts WHERE key LIKE 'passages_%'");
}

describe("a store whose passages were cut by an older version", () => {
  it("embeds only changed passages again, and finds documents by meaning all the time", async () => {
    const embedder = new FakeEmbedder();
    const { store, folder, path } = await temporaryStore({ embedder });
    const root = join(folder, "project");
    await mkdir(join(root, "pets"), { recursive: true });
    await writeFile(join(root, "pets", "index.ts"), "feline");
    await writeFile(join(root, "cars.ts"), "automobile");
    await store.add({ path: root });
    await store.indexed();
    expect([...embedder.seen].sort()).toEqual(["cars\nautomobile", "pets index\nfeline"]);
    await store.close();

    const databases = openForWriting(path, indexers);
    age(databases.index, [{ now: "pets index\nfeline", before: "index\nfeline" }]);
    closeDatabases(path, databases);

    embedder.seen.length = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reach = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    embedder.before = (texts) => {
      if (!texts.includes("pets index\nfeline")) return;
      reach();
      return released;
    };
    await using again = await openStore({ path, cwd: folder, embedder });
    await reached;
    const query = { query: "kitten", type: "semantic", limit: 1 } as const;
    expect(await again.search(query)).toMatchObject({ results: [{ path: join(root, "pets", "index.ts") }] });
    release();
    await again.indexed();
    expect(embedder.seen.filter((text) => text.includes("\n"))).toEqual(["pets index\nfeline"]);
    expect(await again.search({ ...query, limit: 10 })).toMatchObject({
      total: 2,
      results: [{ path: join(root, "pets", "index.ts") }, {}],
    });
    expect(await again.status()).toMatchObject({ embeddings: { vectors: 2, complete: true } });
  });
});
