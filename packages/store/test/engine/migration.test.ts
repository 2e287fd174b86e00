import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/index.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { formatOneStore } from "../support/format-1.js";
import { rawDatabase } from "../support/raw-database.js";

const HUB = "file:/project/hub.ts";
const CONNECT = "symbol:/project/lib/connection.ts#connect";

/** Reads one column of the index. */
function column(path: string, sql: string): unknown[] {
  const db = rawDatabase(join(path, "index.sqlite"));
  try {
    return db.prepare(sql, "values").all([]);
  } finally {
    db.close();
  }
}

describe("a store of format 1", () => {
  it("is searched at once, by word, meaning and pattern", async () => {
    await using store = await openStore({ path: await formatOneStore(), embedder: new FakeEmbedder() });
    const first = { results: [{ path: "/project/lib/connection.ts" }] };
    expect(await store.search({ query: "connected", type: "keyword", limit: 1 })).toMatchObject(first);
    expect(await store.search({ query: "feline", type: "semantic", limit: 1 })).toMatchObject(first);
    expect(await store.grep({ pattern: "kitten" })).toMatchObject({ total: 1 });
  });

  it("gets vectors of one byte per dimension without embedding anything again", async () => {
    const path = await formatOneStore();
    expect(column(path, "SELECT length(vector) FROM vectors")).toEqual([256, 256, 256]);
    const embedder = new FakeEmbedder();
    const store = await openStore({ path, embedder });
    await store.indexed();
    const found = await store.search({ query: "feline", type: "semantic", limit: 1 });
    await store.close();
    // 0.1788 with four bytes per dimension.
    expect(found).toMatchObject({ results: [{ path: "/project/lib/connection.ts", score: expect.closeTo(0.179, 3) }] });
    expect(embedder.seen).toEqual(["feline"]);
    expect(column(path, "SELECT length(vector) FROM vectors")).toEqual([64, 64, 64]);
    expect(column(path, "PRAGMA freelist_count")).toEqual([0]);
  });

  it("gets the same graph as before", async () => {
    await using store = await openStore({ path: await formatOneStore() });
    await store.indexed();
    expect(await store.graph({ nodeKey: HUB })).toMatchObject({
      edges: [
        { from: HUB, to: "file:/project/lib/connection.ts", relation: "IMPORTS", line: 1 },
        { from: HUB, to: CONNECT, relation: "CALLS", line: 6 },
        { from: HUB, to: "symbol:/project/hub.ts#Hub", relation: "DEFINES", line: 4 },
        { from: HUB, to: "symbol:/project/hub.ts#Hub.start", relation: "DEFINES", line: 5 },
        { from: HUB, to: "collection:default", relation: "IN_COLLECTION" },
        { from: HUB, to: "external:map", relation: "CALLS", line: 6, resolved: false },
      ],
    });
    expect(await store.verify()).toMatchObject({ ok: true });
    expect(await store.status({ detailed: true })).toMatchObject({ format: 2 });
  });

  it("has only the new tables once a newer version has opened it", async () => {
    const path = await formatOneStore();
    const names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'graph%' ORDER BY 1";
    expect(column(path, names)).toContain("graph_keys");
    const store = await openStore({ path });
    await store.close();
    expect(column(path, names)).toEqual(["graph_files", "graph_links", "graph_pending", "graph_terms"]);
  });

  it("is searched by a process that only reads, except for its graph", async () => {
    const path = await formatOneStore();
    await using store = await openStore({ path, readOnly: true, embedder: new FakeEmbedder() });
    expect(await store.search({ query: "feline", type: "semantic", limit: 1 })).toMatchObject({
      results: [{ path: "/project/lib/connection.ts" }],
    });
    expect(await store.get({ path: "/project/notes.md", includeContent: true })).toMatchObject({
      content: expect.stringContaining("Roses"),
    });
    await expect(store.graph({ nodeKey: HUB })).rejects.toMatchObject({
      code: "IO",
      hint: expect.stringContaining("for writing"),
    });
  });
});
