import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { type Db, openMemoryDatabase } from "../../src/engine/sqlite/database.js";
import { dependsTerm, filesWith, listedFiles, namesOf, nameTerm, replaceTerms } from "../../src/graph/file-terms.js";
import { graphIndexer } from "../../src/graph/graph-indexer.js";

function emptyIndex(): Db {
  const index = openMemoryDatabase();
  graphIndexer.create(index);
  return index;
}

describe("the lists of documents by term", () => {
  it("are the same as sets, whatever is added and removed in any order", () => {
    const random = seededRandom();
    const index = emptyIndex();
    const terms = ["run", "start", "stop"].map((name) => nameTerm("function", name)).concat(dependsTerm("path:/a"));
    const expected = new Map<number, string[]>();
    for (let step = 0; step < 3000; step++) {
      const file = 1 + Math.floor(random.next() * 600);
      const before = expected.get(file) ?? [];
      const after = terms.flatMap((term) => Array.from({ length: Math.floor(random.next() * 3) }, () => term));
      replaceTerms(index, file, { before, after });
      expected.set(file, after);
    }
    for (const term of terms) {
      const files = [...expected].filter(([, own]) => own.includes(term)).map(([file]) => file);
      expect(filesWith(index, term)).toEqual(files.sort((a, b) => a - b));
    }
    const counted = [...namesOf(index, "function")].map(({ name, files }) => [
      name,
      files.reduce((sum, { count }) => sum + count, 0),
    ]);
    const all = [...expected.values()].flat();
    expect(counted).toEqual(
      ["run", "start", "stop"].map((name) => [name, all.filter((term) => term === nameTerm("function", name)).length]),
    );
    for (const [file, before] of expected) replaceTerms(index, file, { before, after: [] });
    expect([...listedFiles(index)]).toEqual([]);
    index.close();
  });

  it("list the names of one type in order", () => {
    const index = emptyIndex();
    replaceTerms(index, 7, {
      before: [],
      after: [nameTerm("class", "b"), nameTerm("class", "a b"), nameTerm("enum", "c")],
    });
    expect([...namesOf(index, "class")]).toEqual([
      { name: "a b", files: [{ file: 7, count: 1 }] },
      { name: "b", files: [{ file: 7, count: 1 }] },
    ]);
    index.close();
  });
});
