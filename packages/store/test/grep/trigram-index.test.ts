import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { indexTextOf } from "../../src/content/text.js";
import { compilePattern, Scanner } from "../../src/grep/index.js";
import { findCandidates, firstTrigrams, linePieces, trigramIndexer } from "../../src/grep/trigram-index.js";
import type { IndexEntry } from "../../src/indexing/indexer.js";
import { type Db, openDatabase } from "../../src/sqlite/database.js";
import { randomPattern } from "./random-patterns.js";
import { makeTree, random } from "./tree.js";

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
  index = openDatabase(join(folder, "index.sqlite"), { synchronous: "NORMAL", applicationId: 1 });
  index.exec(`CREATE TABLE entries (id INTEGER PRIMARY KEY);
    CREATE TABLE indexers (name TEXT PRIMARY KEY, version INTEGER NOT NULL, entry INTEGER NOT NULL) WITHOUT ROWID`);
  trigramIndexer.create(index);
  tree.forEach(({ bytes }, number) => {
    trigramIndexer.add(index, entryOf(number + 1), indexTextOf(bytes));
    index.run("INSERT INTO entries VALUES (?)", number + 1);
  });
  index.run("INSERT INTO indexers VALUES ('trigram', 1, ?)", tree.length);
});
afterAll(() => {
  index.close();
  rmSync(folder, { recursive: true });
});

describe("the trigram index", () => {
  it("leaves out no entry that matches, on 1,500 random patterns, and leaves many out", () => {
    const below = random(23);
    let leftOut = 0;
    for (let count = 0; count < 1500; count++) {
      const what = { pattern: randomPattern(below), ignore_case: below(2) === 0 };
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

  it("folds case as patterns that ignore it do", () => {
    for (const word of [
      "kelvin",
      "small",
      "\u00e9t\u00e9",
      "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3",
      "stra\u00dfe",
    ]) {
      const pattern = compilePattern(word, { ignore_case: true });
      const scanner = new Scanner(pattern);
      const candidates = findCandidates(index, pattern.trigrams());
      const matching = tree.flatMap(({ bytes }, number) => (scanner.scan(bytes, ALL).count > 0 ? [number + 1] : []));
      expect(matching.length).toBeGreaterThan(0);
      for (const id of matching) expect([word, candidates === undefined || candidates.has(id)]).toEqual([word, true]);
    }
  });

  it("counts what it could not read, and what it has not reached, as candidates", () => {
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

  it("forgets an entry and is sound", () => {
    const { trigrams } = compilePattern("unmistakable");
    trigramIndexer.add(index, entryOf(700), indexTextOf(Buffer.from(`unmistakable\n${"x\n".repeat(600_000)}`)));
    expect(findCandidates(index, trigrams())?.has(700)).toBe(true);
    trigramIndexer.remove(index, 700);
    expect(findCandidates(index, trigrams())?.has(700)).toBe(false);
    expect(trigramIndexer.check?.(index)).toEqual([]);
  });
});

describe("pieces of a text", () => {
  it("are whole lines and together the text", () => {
    const below = random(9);
    for (let count = 0; count < 300; count++) {
      const text = Array.from({ length: below(20) }, () => "x".repeat(below(40)) + (below(9) === 0 ? "" : "\n")).join(
        "",
      );
      const pieces = linePieces(text, 1 + below(50), 2 + below(8));
      expect(pieces.join("")).toBe(text);
      for (const piece of pieces.slice(0, -1)) expect(piece.endsWith("\n")).toBe(true);
    }
  });
});

describe("what is given to the index of a text", () => {
  const trigramsOf = (text: string): Set<string> => {
    const chars = [...text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())];
    return new Set(chars.slice(2).map((_, at) => chars.slice(at, at + 3).join("")));
  };

  it("has all of its trigrams, and no other within a line", () => {
    const short = ["", "a", "ab", "abc", "ABCabc", "é", "aéb", "abcé", "😀😀a😀", "xxabcabcé😀zabc", "ſKſ kelvin K"];
    const texts = [...short, ...tree.map(({ bytes }) => bytes.toString())];
    for (const text of texts) {
      const all = trigramsOf(text);
      const given = trigramsOf(firstTrigrams(text));
      expect([...all].filter((trigram) => !given.has(trigram))).toEqual([]);
      expect([...given].filter((trigram) => !all.has(trigram) && !trigram.includes("\n"))).toEqual([]);
    }
  });

  it("is short where a text repeats itself", () => {
    expect(firstTrigrams("the same line again\n".repeat(1000)).length).toBeLessThan(100);
  });
});
