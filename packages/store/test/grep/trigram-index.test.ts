import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textKeys, trigramKey } from "../../../grep/src/trigram-keys.js";
import { randomPattern } from "../../../grep/test/random-patterns.js";
import { makeTree, random } from "../../../grep/test/tree.js";
import { indexTextOf } from "../../src/engine/content/text.js";
import type { IndexEntry } from "../../src/engine/indexing/indexer.js";
import { type Db, openDatabase } from "../../src/engine/sqlite/database.js";
import { compilePattern, Scanner } from "../../src/grep/index.js";
import { findCandidates, trigramIndexer } from "../../src/grep/trigram-index.js";

const tree = makeTree();
const ALL = { maxCount: 0, before: 0, after: 0, afterLine: 0, collect: 0, collectBytes: 0, firstOnly: false };
let folder: string;
let index: Db;

function entryOf(id: number, type: "text" | "binary" = "text"): IndexEntry {
  const path = tree[id - 1]?.name ?? String(id);
  const rest = { root: undefined, title: undefined, collection: "default", size: 0, tags: [], metadata: {} };
  return { id, document: id, version: id, content: id, hash: "", path, type, ...rest };
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-trigram-"));
  index = openDatabase(join(folder, "index.sqlite"), { synchronous: "NORMAL", applicationId: 1, check: () => {} });
  index.exec(`CREATE TABLE entries (id INTEGER PRIMARY KEY);
    CREATE TABLE indexers (name TEXT PRIMARY KEY, version INTEGER NOT NULL, entry INTEGER NOT NULL) WITHOUT ROWID`);
  trigramIndexer.create(index);
  tree.forEach(({ bytes }, number) => {
    trigramIndexer.add(index, entryOf(number + 1), indexTextOf(bytes));
    index.run("INSERT INTO entries VALUES (?)", number + 1);
  });
  index.run("INSERT INTO indexers VALUES ('trigram', 2, ?)", tree.length);
});
afterAll(() => {
  index.close();
  rmSync(folder, { recursive: true });
});

describe("the trigram index", () => {
  it("skips many entries but no matching one, for 1,500 random patterns", () => {
    const below = random(23);
    let leftOut = 0;
    for (let count = 0; count < 1500; count++) {
      const what = { pattern: randomPattern(below), ignoreCase: below(2) === 0 };
      const pattern = compilePattern(what.pattern, what);
      const candidates = findCandidates(index, pattern.trigrams());
      if (candidates === undefined) continue;
      const scanner = new Scanner(pattern);
      tree.forEach(({ name, bytes }, number) => {
        if (candidates.has(number + 1)) return;
        leftOut++;
        expect([what, name, scanner.scan(bytes, ALL).count]).toEqual([what, name, 0]);
      });
    }
    expect(leftOut).toBeGreaterThan(1000);
  });

  it("folds case in the same way as case-insensitive patterns", () => {
    for (const word of [
      "kelvin",
      "small",
      "\u00e9t\u00e9",
      "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3",
      "stra\u00dfe",
    ]) {
      const pattern = compilePattern(word, { ignoreCase: true });
      const scanner = new Scanner(pattern);
      const candidates = findCandidates(index, pattern.trigrams());
      const matching = tree.flatMap(({ bytes }, number) => (scanner.scan(bytes, ALL).count > 0 ? [number + 1] : []));
      expect(matching.length).toBeGreaterThan(0);
      for (const id of matching) expect([word, candidates === undefined || candidates.has(id)]).toEqual([word, true]);
    }
  });

  it("treats unreadable and unindexed entries as candidates", () => {
    const { trigrams } = compilePattern("zzz nowhere");
    const candidates = () => [...(findCandidates(index, trigrams()) ?? [])].sort((a, b) => a - b);
    expect(candidates()).toEqual([]);
    trigramIndexer.add(index, entryOf(500), undefined);
    trigramIndexer.add(index, entryOf(501, "binary"), undefined);
    index.run("INSERT INTO entries VALUES (600)");
    expect(candidates()).toEqual([500, 600]);
    trigramIndexer.remove(index, 500);
    index.run("DELETE FROM entries WHERE id = 600");
    expect(candidates()).toEqual([]);
  });

  it("merges small segments without loss, and drops removed entries when it does", () => {
    const segments = () => index.one<{ n: number }>("SELECT count(*) AS n FROM trigram_segments").n;
    const candidatesOf = (word: string) => findCandidates(index, compilePattern(word).trigrams());
    const before = ["needle", "return", "the", "\u00e9t\u00e9"].map((word) => [word, candidatesOf(word)]);
    trigramIndexer.add(index, entryOf(700), indexTextOf(Buffer.from(`unmistakable\n${"x\n".repeat(600_000)}`)));
    expect(candidatesOf("unmistakable")).toEqual(new Set([700]));
    trigramIndexer.remove(index, 700);
    const many = segments();
    const settle = () => {
      while (index.immediate(() => trigramIndexer.settle?.(index, 10)) !== 0);
    };
    settle();
    expect(segments()).toBeLessThan(many / 2);
    for (let id = 701; id <= 900; id++) {
      index.run("INSERT INTO entries VALUES (?)", id);
      trigramIndexer.add(index, entryOf(id), indexTextOf(Buffer.from(`common ${id} unique${id}`)));
      settle();
      expect(segments()).toBeLessThan(60);
    }
    index.run("UPDATE indexers SET entry = 900");
    expect(candidatesOf("unmistakable")).toEqual(new Set());
    for (let id = 701; id <= 900; id += 17) expect(candidatesOf(`unique${id}`)).toEqual(new Set([id]));
    for (const [word, ids] of before) expect([word, candidatesOf(word as string)]).toEqual([word, ids]);
    expect(trigramIndexer.check?.(index)).toEqual([]);
  });

  it("gives the same result for many entries at once as for one by one", () => {
    const made = tree.map(({ bytes }, number) => {
      const text = indexTextOf(bytes);
      return { entry: entryOf(1001 + number), text, made: textKeys(text.body) };
    });
    trigramIndexer.addAll?.(index, made);
    const below = random(31);
    for (let count = 0; count < 300; count++) {
      const candidates = findCandidates(index, compilePattern(randomPattern(below)).trigrams());
      for (let id = 1; id <= tree.length; id++) expect(candidates?.has(id)).toBe(candidates?.has(id + 1000));
    }
  });

  it("reports a block with entries of another segment", () => {
    index.run("UPDATE trigram_segments SET last = last - 1 WHERE id = (SELECT max(id) FROM trigram_segments)");
    expect(trigramIndexer.check?.(index)).toEqual([expect.stringContaining("1 entries that do not belong to it")]);
  });
});

describe("the keys of a text", () => {
  it("are the keys of its trigrams, each once, for any content", () => {
    const short = ["", "a", "ab", "abc", "ABCabc", "\u00e9", "a\u00e9b", "abc\u00e9", "\u{1f600}\u{1f600}a\u{1f600}"];
    const texts = [...short, "xxabcabc\u00e9\u{1f600}zabc", "\u017f\u212a\u017f kelvin \u212a"];
    for (const text of [...texts, ...tree.map(({ bytes }) => bytes.toString())]) {
      const wanted = new Set<number>();
      for (const line of text.split("\n")) {
        const characters = [...line];
        for (let at = 0; at + 3 <= characters.length; at++) {
          wanted.add(trigramKey(characters.slice(at, at + 3).join("")));
        }
      }
      const keys = [...textKeys(text)];
      expect(keys.length).toBe(new Set(keys).size);
      expect(new Set(keys)).toEqual(wanted);
    }
  });
});
