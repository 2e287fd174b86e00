// Asks every reader of a process, and compares the answers with the model.
import { basename } from "node:path";
import { expect } from "vitest";
import type { Random } from "../../../../test/support/seed.js";
import { CallError, type StoreProcess } from "./store-process.js";
import {
  functionsIn,
  hashOf,
  importsIn,
  type ModelDocument,
  type ModelSnapshot,
  type TruthModel,
} from "./truth-model.js";

const ALL = 100_000;

interface CheckOptions {
  readonly random: Random;
  /** Words that were in some text at some time. */
  readonly words: readonly string[];
  readonly tags: readonly string[];
}

/** Checks every reader except the graph, which may still be behind. */
export async function checkReaders(store: StoreProcess, model: TruthModel, options: CheckOptions): Promise<void> {
  const { random, tags } = options;
  await checkLists(store, model, tags);
  const documents = model.documents();
  for (const document of some(random, documents, 4)) await checkGet(store, model, document);
  for (const hash of some(random, [...model.collectable], 2)) await checkCollected(store, model, hash);
  // New words first: they belong to the last steps.
  const words = [...options.words.slice(-4), ...some(random, options.words, 3)];
  for (const word of words) await checkWord(store, model, word);
  await checkTagged(store, model, random.pick(tags));
  for (const snapshot of some(random, model.snapshots, 2)) await checkSnapshot(store, snapshot, random.pick(words));
  if (model.snapshots.length > 0) await checkDiff(store, model, random);
}

async function checkLists(store: StoreProcess, model: TruthModel, tags: readonly string[]): Promise<void> {
  const live = model.documents("live");
  const expected = (documents: readonly ModelDocument[]) =>
    documents.map((each) => `${placeOf(each)} ${hashOf(each.text)} ${[...each.tags].sort().join(",")}`).sort();
  const listed = async (params: { tags?: string[] }) => {
    const found = await store.call("list", { ...params, limit: ALL });
    if (!("documents" in found)) throw new Error("list returned paths");
    expect(found.total).toBe(found.documents.length);
    return found.documents.map((each) => `${placeOf(each)} ${each.hash} ${[...each.tags].sort().join(",")}`).sort();
  };
  expect(await listed({}), "list").toEqual(expected(live));
  for (const tag of tags) {
    expect(await listed({ tags: [tag] }), `list of tag ${tag}`).toEqual(expected(live.filter((d) => d.tags.has(tag))));
  }
  const status = await store.call("status", { detailed: true });
  expect(status).toMatchObject({ documents: live.length, inTrash: model.documents("trash").length });
}

async function checkGet(store: StoreProcess, model: TruthModel, document: ModelDocument): Promise<void> {
  const { path, collection, text, state, tags } = document;
  const byPath = await store.call("get", { path, collection, includeContent: true });
  expect(byPath, `get ${path}`).toMatchObject({ path, collection, tags: [...tags].sort() });
  expect(byPath.state ?? "live").toBe(state);
  if (state === "live") expect(byPath.content).toBe(text);
  expect(new Set(byPath.versions.map(({ hash }) => hash))).toEqual(new Set(document.versions));
  const hash = hashOf(text);
  if (!document.versions.includes(hash)) return;
  const byHash = await store.call("get", { hash, includeContent: true });
  expect(byHash).toMatchObject({ hash, content: text });
  const same = model.documents("live").filter((each) => each.text === text);
  if (same.length === 0) return;
  const paths = [byHash.path, ...(byHash.sameContent ?? [])];
  expect(new Set(paths), `documents with the content of ${path}`).toEqual(new Set(same.map((each) => each.path)));
}

async function checkCollected(store: StoreProcess, model: TruthModel, hash: string): Promise<void> {
  if (model.documents().some(({ versions }) => versions.includes(hash))) return;
  expect(await codeOf(store.call("get", { hash })), `get ${hash} after gc`).toBe("NOT_FOUND");
}

async function checkWord(store: StoreProcess, model: TruthModel, word: string): Promise<void> {
  const live = model.documents("live");
  const having = live.filter(({ text }) => text.includes(word));
  const expected = having.map((each) => `${each.path} ${hashOf(each.text)}`).sort();
  const exact = await store.call("search", { query: word, type: "keyword", fuzzy: false, limit: ALL });
  expect(hitsOf(exact), `search ${word}`).toEqual(expected);
  const fuzzy = hitsOf(await store.call("search", { query: word, limit: ALL }));
  expect(fuzzy, `fuzzy search ${word}`).toEqual(expect.arrayContaining(expected));
  const current = live.map((each) => `${each.path} ${hashOf(each.text)}`);
  expect(current, `fuzzy search ${word}`).toEqual(expect.arrayContaining(fuzzy));
  await checkGrep(store, { pattern: word }, having);
}

function hitsOf(found: Awaited<ReturnType<StoreProcess["call"]>>): string[] {
  const { results } = found as { results: readonly { path: string; hash: string }[] };
  return results.map((each) => `${each.path} ${each.hash}`).sort();
}

/** The same text at the same path in two collections counts once. */
async function checkGrep(
  store: StoreProcess,
  params: { pattern: string; snapshot?: string },
  having: readonly { path: string; text: string }[],
): Promise<void> {
  const lines = having.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, at) => (line.includes(params.pattern) ? [`${path} ${hashOf(text)} ${at + 1} ${line}`] : [])),
  );
  const found = await store.call("grep", params);
  if (!("matches" in found)) throw new Error("grep returned no matches");
  const matches = found.matches.map((each) => `${each.path} ${each.hash} ${each.line} ${each.text}`);
  expect(matches.sort(), `grep ${JSON.stringify(params)}`).toEqual([...new Set(lines)].sort());
  const files = await store.call("grep", { ...params, filesWithMatches: true });
  expect(new Set(files.files as readonly string[])).toEqual(new Set(having.map(({ path }) => path)));
}

async function checkTagged(store: StoreProcess, model: TruthModel, tag: string): Promise<void> {
  const tagged = model.documents("live").filter(({ tags }) => tags.has(tag));
  const expected = tagged.map((each) => `${each.path} ${hashOf(each.text)}`).sort();
  const found = await store.call("search", { query: tag, type: "keyword", fuzzy: false, limit: ALL });
  expect(hitsOf(found), `search for the tag ${tag}`).toEqual(expected);
}

async function checkSnapshot(store: StoreProcess, { id, texts }: ModelSnapshot, word: string): Promise<void> {
  const inSnapshot = [...texts].map(([path, text]) => ({ path, text }));
  const listed = await store.call("list", { snapshot: id, limit: ALL });
  if (!("documents" in listed)) throw new Error("list returned paths");
  const lines = (documents: readonly { path: string; text: string }[]) =>
    documents.map(({ path, text }) => `${path} ${hashOf(text)}`).sort();
  expect(listed.documents.map(({ path, hash }) => `${path} ${hash}`).sort(), `list ${id}`).toEqual(lines(inSnapshot));
  const having = inSnapshot.filter(({ text }) => text.includes(word));
  const found = await store.call("search", { query: word, type: "keyword", fuzzy: false, snapshot: id, limit: ALL });
  expect(hitsOf(found), `search ${word} in ${id}`).toEqual(lines(having));
  await checkGrep(store, { pattern: word, snapshot: id }, having);
}

async function checkDiff(store: StoreProcess, model: TruthModel, random: Random): Promise<void> {
  const from = random.pick(model.snapshots);
  const others = model.snapshots.filter((each) => each.collection === from.collection);
  const to = random.below(2) === 0 ? undefined : random.pick(others);
  const now = model.documents("live").filter((each) => each.collection === from.collection);
  const after = to?.texts ?? new Map(now.map(({ path, text }) => [path, text]));
  const found = await store.call("diff", { from: from.id, ...(to === undefined ? {} : { to: to.id }) });
  const added = [...found.added, ...found.renamed.map((each) => each.to)];
  const removed = [...found.removed, ...found.renamed.map((each) => each.from)];
  const expected = {
    added: [...after.keys()].filter((path) => !from.texts.has(path)).sort(),
    removed: [...from.texts.keys()].filter((path) => !after.has(path)).sort(),
    modified: [...after].flatMap(([path, text]) => ((from.texts.get(path) ?? text) === text ? [] : [path])).sort(),
  };
  expect({ added: added.sort(), removed: removed.sort(), modified: found.modified }, "diff").toEqual(expected);
  for (const each of found.renamed) expect(from.texts.get(each.from)).toBe(after.get(each.to));
}

/** Checks the graph, which must be complete. */
export async function checkGraph(store: StoreProcess, model: TruthModel, options: CheckOptions): Promise<void> {
  const { random, tags } = options;
  const live = model.documents("live");
  for (const collection of new Set(live.map((each) => each.collection))) {
    const own = live.filter((each) => each.collection === collection);
    const defined = own.flatMap((each) => functionsIn(each).map((name) => `${each.path} ${name}`)).sort();
    const found = await store.call("graph", { listType: "function", collection, limit: 10_000 });
    expect(found.notice).toBe(undefined);
    if (!("nodes" in found)) throw new Error("graph returned no nodes");
    expect(found.nodes.map(({ path, name }) => `${path} ${name}`).sort(), "functions").toEqual(defined);
    for (const document of some(random, own, 3)) await checkImports(store, own, document);
  }
  const tag = random.pick(tags);
  const tagged = live.filter((each) => each.tags.has(tag));
  if (tagged.length === 0) return;
  const found = await store.call("graph", { nodeKey: `tag:${tag}`, reverse: true, relation: "TAGGED", limit: 10_000 });
  const nodes = "nodes" in found ? found.nodes.map(({ path }) => path) : [];
  expect(new Set(nodes), `graph of tag ${tag}`).toEqual(new Set(tagged.map(({ path }) => path)));
}

async function checkImports(
  store: StoreProcess,
  own: readonly ModelDocument[],
  { path, collection, text }: ModelDocument,
): Promise<void> {
  // A file can be moved to where it imports from. The graph has no edge from a file to itself.
  const others = own.filter((each) => each.path !== path);
  const there = new Set(others.map((each) => each.path));
  const params = { nodeKey: `file:${path}`, collection, relation: "IMPORTS", limit: 10_000 };
  const ends = async (reverse: boolean) => {
    const found = await store.call("graph", { ...params, reverse });
    const edges = "edges" in found ? found.edges.filter((edge) => edge.resolved !== false) : [];
    return [...new Set(edges.map((edge) => (reverse ? edge.from : edge.to)))].sort();
  };
  const imported = importsIn({ path, text }).filter((target) => there.has(target));
  expect(await ends(false), `imports of ${basename(path)}`).toEqual(imported.map((target) => `file:${target}`).sort());
  const importers = others.filter((each) => importsIn(each).includes(path)).map((each) => `file:${each.path}`);
  expect(await ends(true), `importers of ${basename(path)}`).toEqual(importers.sort());
}

/** Returns the code that a call fails with. */
export async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof CallError) return error.code;
    throw error;
  }
}

function placeOf({ collection, path }: { collection: string; path: string }): string {
  return `${collection} ${path}`;
}

/** Picks up to `count` items, possibly the same one twice. */
export function some<T>(random: Random, items: readonly T[], count: number): T[] {
  return items.length === 0 ? [] : Array.from({ length: count }, () => random.pick(items));
}
