import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SearchParams, SearchResult, Store } from "../../src/index.js";
import { FakeEmbedder } from "../support/fake-embedder.js";
import { temporaryStore } from "../support/temporary.js";

/** A small project in which the tests, examples and documents repeat the words of the code. */
const PROJECT: Readonly<Record<string, string>> = {
  "src/session/resume.ts": "export function resume(session) { reconnect(session); replayEvents(session); }",
  "src/session/resume.test.ts":
    "it('resume session', () => resume(session)); it('resume session after reconnect', resume)",
  "src/session/expire.ts": "export function expire(session) { if (session.idle > limit) close(session); }",
  "src/cache/index.ts":
    "export class Entries { evict() { drop(this.oldest); } insert(value) { this.oldest ??= value; } }",
  "src/router/index.ts": "export class Table { insert(pattern) { this.patterns.push(pattern); } match(url) {} }",
  "test/router/match.js": "test('match url pattern in table', () => table.match(url)); test('match pattern', match)",
  "src/limits.ts": "export const limits = { upload: megabytes(10) }; // refuse uploads over the limit",
  "examples/upload.js": "// upload limit upload limit\nupload(file, { limit: refuse })",
  "src/garage.ts": "export function park(automobile) { return spaces.find(free).take(automobile); }",
  "src/pets.ts": "export function feed(feline) { bowl.fill(feline.food); }",
  "docs/style.md":
    "# Style\n\nWhere there are rules, they are there for you. When in doubt, ask which of these are for whom.",
  "package-lock.json": '{ "packages": { "cache": { "evict": "1.0.0" }, "session": {}, "router": {}, "oldest": {} } }',
};

const QUESTIONS: readonly (readonly [string, string])[] = [
  ["where is a session resumed after a reconnect", "src/session/resume.ts"],
  ["which test covers that a session is resumed", "src/session/resume.test.ts"],
  ["when are idle sessions closed", "src/session/expire.ts"],
  ["evict the oldest entries", "src/cache/index.ts"],
  ["match an url against the patterns in the table", "src/router/index.ts"],
  ["where are uploads over the limit refused", "src/limits.ts"],
  ["example of an upload with a limit", "examples/upload.js"],
];
/** These share no word with the text that answers them. */
const SYNONYMS: readonly (readonly [string, string])[] = [
  ["vehicle", "src/garage.ts"],
  ["kitten", "src/pets.ts"],
];

async function projectStore(files: Readonly<Record<string, string>>): Promise<{ store: Store; root: string }> {
  const { store, folder } = await temporaryStore({ embedder: new FakeEmbedder() });
  const root = join(folder, "test", "project");
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  await store.add({ path: root });
  await store.indexed();
  return { store, root };
}

async function resultsOf(store: Store, params: SearchParams): Promise<SearchResult["results"]> {
  const found = await store.search(params);
  if (!("results" in found)) throw new Error("only paths were answered");
  return found.results;
}

async function firstOf(store: Store, params: SearchParams): Promise<string | undefined> {
  return (await resultsOf(store, params))[0]?.path.replace(/^.*\/project\//, "");
}

describe("relevance on a small judged project", () => {
  it("puts the right file first for every question, by keyword and hybrid", async () => {
    const { store } = await projectStore(PROJECT);
    for (const [type, questions] of [
      ["keyword", QUESTIONS],
      ["hybrid", [...QUESTIONS, ...SYNONYMS]],
    ] as const) {
      const found = await Promise.all(questions.map(async ([query]) => [query, await firstOf(store, { query, type })]));
      expect(found, type).toEqual(questions);
    }
  });
});

/** The score that the parts in `explain` add up to. */
const SCORES: Readonly<Record<NonNullable<SearchParams["type"]>, (parts: Parts) => number>> = {
  keyword: ({ keyword, demoted }) => (keyword.bm25 * demoted.factor) / (keyword.bm25 * demoted.factor + 5),
  semantic: ({ semantic, demoted }) => semantic.score * demoted.factor,
  hybrid: ({ keyword, semantic, demoted }) => {
    const sum = demoted.factor * (keyword.score + semantic.score);
    return sum / (sum + 1);
  },
};

interface Parts {
  readonly keyword: { readonly bm25: number; readonly score: number };
  readonly semantic: { readonly score: number };
  readonly demoted: { readonly factor: number; readonly kind: string };
}

describe("a supporting file", () => {
  const files = {
    "src/parse.ts": "parse the header, then the body",
    "src/parse.test.ts": "parse header parse header",
    "src/other.ts": "something else",
  };

  it("counts less, and its score is explained", async () => {
    const { store } = await projectStore(files);
    for (const type of ["keyword", "semantic", "hybrid"] as const) {
      const results = await resultsOf(store, { query: "parse header", type, explain: true });
      expect(results[0]?.path, type).toMatch(/parse\.ts$/);
      expect(results[0]?.explain).not.toHaveProperty("demoted");
      const test = results.find(({ path }) => path.endsWith(".test.ts"));
      expect(test?.explain).toMatchObject({ demoted: { kind: "test", factor: 0.6 } });
      // `explain` is untyped.
      expect(test?.score).toBeCloseTo(SCORES[type](test?.explain as unknown as Parts), 3);
    }
  });

  it("counts fully if the query or a filter asks for it", async () => {
    const { store } = await projectStore(files);
    for (const type of ["keyword", "hybrid"] as const) {
      for (const params of [
        { query: "parse header test" },
        { query: "parse header", pathPattern: "**/*.test.ts" },
        { query: "TestParse parse header" },
      ]) {
        const [first] = await resultsOf(store, { ...params, type, explain: true });
        expect(first?.path, JSON.stringify(params)).toMatch(/\.test\.ts$/);
        expect(first?.explain).not.toHaveProperty("demoted");
      }
    }
  });

  it("counts fully in a store with hardly anything else", async () => {
    const tests = Array.from({ length: 20 }, (_, n) => [`checks/n${n}.test.ts`, `parse header ${n}`]);
    const { store } = await projectStore(Object.fromEntries([...tests, ["readme.md", "how to run them"]]));
    for (const { explain } of await resultsOf(store, { query: "parse header", explain: true })) {
      expect(explain).not.toHaveProperty("demoted");
    }
  });
});
