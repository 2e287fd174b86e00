import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GraphParams, GraphResult, Store } from "../../src/index.js";
import { temporaryFolder, temporaryStore } from "../support/temporary.js";

const PROJECT: Readonly<Record<string, string>> = {
  "src/app.ts": `import { Hub } from "./hub.js";
import { log } from "./util/log.js";
import { join } from "node:path";

export function main(): void {
  const hub = new Hub();
  hub.start();
  log(join("a", "b"));
}
`,
  "src/hub.ts": `import { log } from "./util/log.js";

export class Hub {
  start(): void {
    this.prepare();
    log("started");
  }

  prepare(): void {}
}
`,
  "src/util/log.ts": `export function log(text: string): void {
  write(text);
}

function write(text: string): void {
  console.log(text);
}
`,
  "README.md":
    "# Project\n\nSee [the guide](docs/guide.md#install), [the hub](src/hub.ts) and [the site](https://example.com/).\n",
  "docs/guide.md": "# Guide\n\n## Install\n\nBack to [the start](../README.md).\n",
};

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

async function projectStore(files = PROJECT): Promise<{ store: Store; root: string }> {
  const root = await temporaryFolder();
  await write(root, files);
  const { store } = await temporaryStore();
  await store.add({ path: root });
  await store.indexed();
  return { store, root };
}

type Walk = Extract<GraphResult, { edges: unknown }>;

async function walk(store: Store, params: GraphParams): Promise<Walk> {
  const found = await store.graph(params);
  if (!("edges" in found)) throw new Error("no edges were answered");
  return found;
}

/** Lists edges as `from RELATION to` without the project root. Unresolved targets have a `?`. */
async function edges(store: Store, root: string, params: GraphParams): Promise<string[]> {
  const found = await walk(store, params);
  return found.edges
    .map(({ from, to, relation, resolved }) =>
      `${from} ${relation} ${to}${resolved === false ? "?" : ""}`.replaceAll(`${root}/`, ""),
    )
    .sort();
}

describe("graph", () => {
  it("follows imports and calls from file to file", async () => {
    const { store, root } = await projectStore();
    expect(await edges(store, root, { name: "src/app.ts", relation: "imports" })).toEqual([
      "file:src/app.ts IMPORTS external:node:path?",
      "file:src/app.ts IMPORTS file:src/hub.ts",
      "file:src/app.ts IMPORTS file:src/util/log.ts",
    ]);
    expect(await edges(store, root, { name: "app.ts", relation: "CALLS" })).toEqual([
      "file:src/app.ts CALLS external:node:path#join?",
      "file:src/app.ts CALLS symbol:src/hub.ts#Hub",
      "file:src/app.ts CALLS symbol:src/hub.ts#Hub.start",
      "file:src/app.ts CALLS symbol:src/util/log.ts#log",
    ]);
    const found = await walk(store, { name: join(root, "src/hub.ts"), relation: "Imports" });
    const { hash } = await store.get({ path: join(root, "src/util/log.ts") });
    const path = join(root, "src/util/log.ts");
    expect(found).toEqual({
      origin: {
        key: `file:${root}/src/hub.ts`,
        type: "file",
        name: "hub.ts",
        path: join(root, "src/hub.ts"),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      nodes: [{ key: `file:${path}`, type: "file", name: "log.ts", path, hash, distance: 1 }],
      edges: [{ from: `file:${root}/src/hub.ts`, to: `file:${path}`, relation: "IMPORTS", line: 1 }],
    });
  });

  it("goes as deep as requested, and sorts by distance", async () => {
    const { store, root } = await projectStore();
    const start = `symbol:${root}/src/app.ts#main`;
    const near = await walk(store, { nodeKey: start, relation: "calls" });
    expect(near.nodes.map((node) => node.name)).not.toContain("write");
    const far = await walk(store, { nodeKey: start, relation: "calls", depth: 3 });
    const distances = far.nodes.map((node) => node.distance);
    expect(distances).toEqual([...distances].sort());
    const named = Object.fromEntries(far.nodes.map((node) => [node.name, node.distance]));
    expect(named).toMatchObject({ start: 1, log: 1, prepare: 2, write: 2, "console.log": 3 });
    expect(far.origin).toMatchObject({ type: "function", name: "main", path: `${root}/src/app.ts` });
    expect(far.nodes.some((node) => node.key === start)).toBe(false);
    for (const depth of [0, 6, 1.5]) {
      await expect(store.graph({ nodeKey: start, depth })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const cut = await walk(store, { nodeKey: start, depth: 3, limit: 2 });
    expect(cut.nodes).toHaveLength(2);
    expect(cut.truncated).toBe(true);
  });

  it("goes backwards", async () => {
    const { store, root } = await projectStore();
    expect(await edges(store, root, { name: "log.ts", relation: "IMPORTS", reverse: true })).toEqual([
      "file:src/app.ts IMPORTS file:src/util/log.ts",
      "file:src/hub.ts IMPORTS file:src/util/log.ts",
    ]);
    expect(await edges(store, root, { name: "log", relation: "calls", reverse: true })).toEqual([
      "symbol:src/app.ts#main CALLS symbol:src/util/log.ts#log",
      "symbol:src/hub.ts#Hub.start CALLS symbol:src/util/log.ts#log",
    ]);
    expect(await edges(store, root, { nodeKey: "external:node:path", reverse: true })).toEqual([
      "file:src/app.ts IMPORTS external:node:path?",
    ]);
  });

  it("follows changed, moved and removed files", async () => {
    const { store, root } = await projectStore();
    const callers = { relation: "calls", reverse: true } as const;
    await write(root, { "src/hub.ts": `export class Hub {\n  start(): void {}\n}\n` });
    await store.add({ path: root });
    await store.indexed();
    expect(await edges(store, root, { name: "log.ts", relation: "imports", reverse: true })).toEqual([
      "file:src/app.ts IMPORTS file:src/util/log.ts",
    ]);
    expect(await edges(store, root, { nodeKey: `symbol:${root}/src/hub.ts#Hub.start`, ...callers })).toEqual([
      "symbol:src/app.ts#main CALLS symbol:src/hub.ts#Hub.start",
    ]);
    await expect(store.graph({ nodeKey: `symbol:${root}/src/hub.ts#Hub.prepare` })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });

    await rename(join(root, "src/hub.ts"), join(root, "src/center.ts"));
    await store.add({ path: root });
    await store.indexed();
    expect(await edges(store, root, { name: "app.ts", relation: "imports" })).toContain(
      "file:src/app.ts IMPORTS external:./hub.js?",
    );
    expect(await edges(store, root, { name: "README.md", relation: "references" })).toContain(
      "file:README.md REFERENCES external:src/hub.ts?",
    );
    await rename(join(root, "src/center.ts"), join(root, "src/hub.ts"));
    await store.add({ path: root });
    await store.indexed();
    expect(await edges(store, root, { name: "app.ts", relation: "imports" })).toContain(
      "file:src/app.ts IMPORTS file:src/hub.ts",
    );

    await store.delete({ name: "src/util/log.ts" });
    await store.indexed();
    expect(await edges(store, root, { name: "app.ts", relation: "imports" })).toContain(
      "file:src/app.ts IMPORTS external:./util/log.js?",
    );
    await store.undelete({ name: "src/util/log.ts" });
    await store.indexed();
    expect(await edges(store, root, { name: "log", ...callers })).toEqual([
      "symbol:src/app.ts#main CALLS symbol:src/util/log.ts#log",
    ]);

    await rm(join(root, "src/util"), { recursive: true });
    await store.add({ path: root });
    await store.indexed();
    expect(await edges(store, root, { name: "app.ts", relation: "calls" })).not.toContain(
      "file:src/app.ts CALLS symbol:src/util/log.ts#log",
    );
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    expect(await store.status({ detailed: true })).toMatchObject({
      graph: { documents: 4, pending: 0 },
      index: { graph: { pending: 0 } },
    });
  });

  it("is the same after repair", async () => {
    const { store, root } = await projectStore();
    const all = { name: "src/app.ts", depth: 5, limit: 1000 };
    const before = await edges(store, root, all);
    await store.repair();
    await store.indexed();
    expect(await edges(store, root, all)).toEqual(before);
    expect(before.length).toBeGreaterThan(10);
  });

  it("reads links in prose", async () => {
    const { store, root } = await projectStore();
    expect(await edges(store, root, { name: "README.md", relation: "references" })).toEqual([
      "file:README.md REFERENCES external:https://example.com/?",
      "file:README.md REFERENCES file:src/hub.ts",
      "file:README.md REFERENCES symbol:docs/guide.md#install",
    ]);
    expect(await edges(store, root, { name: "README.md", relation: "references", reverse: true })).toEqual([
      "file:docs/guide.md REFERENCES file:README.md",
    ]);
  });

  it("draws a chart", async () => {
    const { store } = await projectStore();
    const found = await store.graph({ name: "src/app.ts", relation: "imports", format: "mermaid" });
    if (!("mermaid" in found)) throw new Error("nothing was drawn");
    expect(found.mermaid.split("\n").slice(0, 2)).toEqual(["flowchart LR", '  n0[["app.ts"]]']);
    expect(found.mermaid).toContain("n0 -->|IMPORTS| n1");
    expect(found.mermaid).toContain("n0 -.->|IMPORTS|");
    await expect(store.graph({ name: "src/app.ts", format: "dot" as "json" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  it("lists the documents that match an ambiguous name, and rejects invalid requests", async () => {
    const { store, root } = await projectStore({ "a/index.ts": "export const a = 1;", "b/index.ts": "", "c.ts": "" });
    await expect(store.graph({ name: "index.ts" })).rejects.toMatchObject({
      code: "AMBIGUOUS",
      data: { matches: [join(root, "a/index.ts"), join(root, "b/index.ts")] },
    });
    expect((await walk(store, { name: "b/index.ts" })).origin.path).toBe(join(root, "b/index.ts"));
    await expect(store.graph({ name: "nothing.ts" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(store.graph({ nodeKey: "file:/nothing.ts" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    for (const params of [
      {},
      { name: "c.ts", listTypes: true },
      { nodeKey: "c" },
      { name: "c.ts", relation: "eats" },
    ]) {
      await expect(store.graph(params)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("lists types with counts, and the nodes of one", async () => {
    const { store, root } = await projectStore();
    const found = await store.graph({ listTypes: true });
    if (!("types" in found)) throw new Error("no types were answered");
    const counts = Object.fromEntries(found.types.map(({ type, count }) => [type, count]));
    expect(counts).toMatchObject({ file: 5, function: 3, class: 1, method: 2, heading: 3, collection: 1 });
    const classes = await store.graph({ listType: "class" });
    expect(classes).toEqual({
      type: "class",
      nodes: [
        {
          key: `symbol:${root}/src/hub.ts#Hub`,
          type: "class",
          name: "Hub",
          path: join(root, "src/hub.ts"),
          hash: expect.any(String),
        },
      ],
      total: 1,
    });
    for (const { type, count } of found.types) {
      expect(await store.graph({ listType: type, limit: 1 })).toMatchObject({ type, total: count });
    }
    await expect(store.graph({ listType: "cow" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("knows tags, collections, equal content and versions", async () => {
    const { store } = await temporaryStore();
    await store.add({ content: "one", name: "a.txt", tags: ["red"] });
    await store.add({ content: "one", name: "b.txt", tags: ["red", "blue"] });
    const first = await store.add({ content: "old", name: "c.txt" });
    await store.add({ content: "new", name: "c.txt" });
    await store.indexed();
    expect(await edges(store, "", { name: "b.txt" })).toEqual([
      "file:b.txt IN_COLLECTION collection:default",
      "file:b.txt SAME_CONTENT file:a.txt",
      "file:b.txt TAGGED tag:blue",
      "file:b.txt TAGGED tag:red",
    ]);
    expect(await edges(store, "", { nodeKey: "tag:red", reverse: true })).toEqual([
      "file:a.txt TAGGED tag:red",
      "file:b.txt TAGGED tag:red",
    ]);
    const versions = [`version:c.txt#${first.hash} VERSION_OF file:c.txt`];
    expect(await edges(store, "", { name: "c.txt", relation: "version_of", reverse: true })).toEqual(versions);
    expect(await edges(store, "", { hash: first.hash as string })).toEqual(versions);
    await store.update({ name: "b.txt", removeTags: ["red"] });
    expect(await edges(store, "", { name: "b.txt", relation: "tagged" })).toEqual(["file:b.txt TAGGED tag:blue"]);
  });

  it("keeps collections apart", async () => {
    const { store } = await temporaryStore();
    await store.add({ content: `import { b } from "./b.js";\nb();\n`, name: "/p/a.ts", collection: "one" });
    await store.add({ content: "export function b() {}\n", name: "/p/b.ts", collection: "two" });
    await store.add({ content: "export const a = 1;\n", name: "/p/a.ts", collection: "two" });
    await store.indexed();
    expect(await edges(store, "/none", { name: "/p/a.ts", collection: "one", relation: "imports" })).toEqual([
      "file:/p/a.ts IMPORTS external:./b.js?",
    ]);
    await expect(store.graph({ name: "/p/a.ts" })).rejects.toMatchObject({ code: "AMBIGUOUS" });
    await expect(store.graph({ nodeKey: "file:/p/a.ts" })).rejects.toMatchObject({ code: "AMBIGUOUS" });
    expect(await edges(store, "/none", { name: "/p/b.ts", relation: "imports", reverse: true })).toEqual([]);
  });
});

describe("get", () => {
  it("returns the lines of a symbol, including in older versions", async () => {
    const { store, root } = await projectStore();
    const path = join(root, "src/hub.ts");
    expect(await store.get({ path, symbol: "start" })).toMatchObject({
      content: `  start(): void {\n    this.prepare();\n    log("started");\n  }\n`,
      lines: { from: 4, to: 7, total: 10 },
      symbol: { key: `symbol:${path}#Hub.start`, type: "method", name: "start" },
    });
    await write(root, { "src/hub.ts": "export const nothing = 1;\n" });
    await store.add({ path: root });
    await expect(store.get({ path, symbol: "Hub.start" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await store.get({ path, symbol: "Hub.start", version: 1 })).toMatchObject({ lines: { from: 4, to: 7 } });
    await expect(store.get({ path, symbol: "nothing", lines: "1" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  it("returns what a document is related to", async () => {
    const { store, root } = await projectStore();
    const { related } = await store.get({ path: join(root, "src/app.ts"), graph: true });
    const distances = Object.fromEntries((related?.nodes ?? []).map((node) => [node.name, node.distance]));
    expect(distances).toMatchObject({ main: 1, "hub.ts": 1, "log.ts": 1, Hub: 1, prepare: 2 });
    expect((await store.get({ path: join(root, "src/app.ts") })).related).toBeUndefined();
    await expect(store.get({ path: join(root, "src/app.ts"), graph: true, depth: 6 })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});
