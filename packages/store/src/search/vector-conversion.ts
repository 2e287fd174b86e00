// Converts the vectors of format 1, with four bytes per dimension, to one byte, in the background, and then returns the
// free pages to the file system, including those of the tables that format 1 had for the graph. Both forms can be
// searched, so a search never waits for it. Each step records its progress in its own transaction.
import type { Indexer } from "../engine/indexing/indexer.js";
import type { Db } from "../engine/sqlite/database.js";
import { numbersOf, vectorBytes } from "./vector-math.js";

const VECTORS_PER_LOOK = 200;
const PAGES_PER_STEP = 200;

/** The last vector that was converted, or what comes after all of them. */
type Converted = number | "shrink" | "all";

export const vectorConversion: Indexer = {
  name: "vector-conversion",
  version: 1,
  when: "background",
  wantsText: () => false,
  create() {},
  add() {},
  update() {},
  remove() {},
  clear() {},
  settle(index, forMs) {
    const until = performance.now() + forMs;
    let converted = convertedOf(index);
    if (converted === "all") return 0;
    while (converted !== "all" && performance.now() < until) {
      converted = converted === "shrink" ? shrink(index) : convertSome(index, converted);
    }
    noteConverted(index, converted);
    return 1;
  },
  pending: (index) => (convertedOf(index) === "all" ? 0 : 1),
};

function convertedOf(index: Db): Converted {
  return index.get<{ value: Converted }>("SELECT value FROM facts WHERE key = 'vectors_converted'")?.value ?? 0;
}

/** Records how far the conversion has come. A new index has nothing to convert. */
export function noteConverted(index: Db, converted: Converted): void {
  index.run("INSERT OR REPLACE INTO facts VALUES ('vectors_converted', ?)", converted);
}

function convertSome(index: Db, after: number): Converted {
  const rows = index.all<{ id: number; embedder: number; hash: Uint8Array; vector: Uint8Array; dimensions: number }>(
    `SELECT v.*, e.dimensions FROM vectors v JOIN embedders e ON e.id = v.embedder
     WHERE v.id > ? ORDER BY v.id LIMIT ${VECTORS_PER_LOOK}`,
    after,
  );
  for (const { id, embedder, hash, vector, dimensions } of rows) {
    const numbers = numbersOf(vector, dimensions);
    if (!(numbers instanceof Float32Array)) continue;
    // An update would leave pages mostly empty; SQLite only joins them when a row is deleted.
    index.run("DELETE FROM vectors WHERE id = ?", id);
    index.run(
      "INSERT INTO vectors (id, embedder, hash, vector) VALUES (?, ?, ?, ?)",
      id,
      embedder,
      hash,
      vectorBytes(numbers),
    );
  }
  return rows.at(-1)?.id ?? "shrink";
}

function shrink(index: Db): Converted {
  index.exec(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`);
  return index.pragma<number>("freelist_count") === 0 ? "all" : "shrink";
}
