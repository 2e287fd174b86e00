// Compares the two SQLite drivers of the store through the interface that the store uses, on the same Node, which has
// both: `node bench/store/drivers.js [--rows 20000] [--rounds 15]`. Node 24 and better-sqlite3 13 come from npm, because
// the versions in the checkout may be older. Each measurement is a new process.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodeOfMajor } from "../../scripts/test-on-node.js";
import { median, report } from "../report.js";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "20000" },
    rounds: { type: "string", default: "15" },
    driver: { type: "string" },
    library: { type: "string", default: "" },
  },
});
const rows = Number(values.rows);
const PARTS = ["inserts", "reads", "searches"];
const WORDS = "store driver search index retry budget window socket thread parser graph token".split(" ");
const DRIVERS = ["node-sqlite", "better-sqlite"];
const LIBRARY_VERSION = "13.0.3";

/** Words that depend on the row only, so both drivers get the same. @param {number} row */
const textOf = (row) => Array.from({ length: 12 }, (_, at) => WORDS[(row * 7 + at * at) % WORDS.length]).join(" ");

/** Measures one driver and prints its times, in milliseconds. @param {string} name */
async function measure(name) {
  if (name === "better-sqlite") useLibrary(values.library);
  const { nodeSqlite } = await import("../../packages/store/dist/engine/sqlite/node-sqlite-driver.js");
  const { betterSqlite } = await import("../../packages/store/dist/engine/sqlite/better-sqlite-driver.js");
  const folder = mkdtempSync(join(tmpdir(), "trunkline-bench-drivers-"));
  const driver = name === "better-sqlite" ? betterSqlite : nodeSqlite;
  const db = driver.open(join(folder, "test.db"), { readOnly: false, busyMs: 1000 });
  try {
    for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "cache_size = -8000"]) db.pragma(pragma);
    db.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB NOT NULL)");
    db.exec("CREATE VIRTUAL TABLE words USING fts5(text)");
    /** @param {() => void} work */
    const timed = (work) => {
      const startedMs = performance.now();
      work();
      return performance.now() - startedMs;
    };
    const item = db.prepare("INSERT INTO items (id, name, body) VALUES (?, ?, ?)", "objects");
    const word = db.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)", "objects");
    const body = Buffer.alloc(200, 7);
    const inserts = timed(() => {
      db.exec("BEGIN");
      for (let row = 0; row < rows; row++) {
        item.run([row, `name-${row}`, body]);
        word.run([row, textOf(row)]);
      }
      db.exec("COMMIT");
    });
    const point = db.prepare("SELECT id, name, body FROM items WHERE id = ?", "objects");
    const reads = timed(() => {
      for (let row = 0; row < rows; row++) point.get([(row * 7919) % rows]);
    });
    const search = db.prepare(
      "SELECT rowid, bm25(words) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT 20",
      "objects",
    );
    const searches = timed(() => {
      for (const each of WORDS) search.all([`${each} OR retry`]);
    });
    console.log(JSON.stringify({ inserts, reads, searches }));
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes `require("better-sqlite3")` load the library of this folder. @param {string} folder */
function useLibrary(folder) {
  const entry = createRequire(join(folder, "package.json")).resolve("better-sqlite3");
  const internal = /** @type {{ _resolveFilename(name: string, ...rest: unknown[]): string }} */ (
    /** @type {unknown} */ (Module)
  );
  const original = internal._resolveFilename;
  internal._resolveFilename = (name, ...rest) =>
    name === "better-sqlite3" ? entry : original.call(internal, name, ...rest);
}

/** Installs better-sqlite3 with its binaries, once. */
function libraryFolder() {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const folder = join(root, "node_modules", ".cache", `better-sqlite3-${LIBRARY_VERSION}`);
  if (existsSync(join(folder, "node_modules", "better-sqlite3"))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  const args = ["install", "--prefix", folder, "--ignore-scripts", `better-sqlite3@${LIBRARY_VERSION}`];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}

function compare() {
  const node = join(nodeOfMajor("24"), "bin", "node");
  const library = libraryFolder();
  /** @type {Record<string, Record<string, number>[]>} */
  const times = { "node-sqlite": [], "better-sqlite": [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const driver of DRIVERS) {
      const args = [fileURLToPath(import.meta.url), "--driver", driver, "--library", library, "--rows", String(rows)];
      times[driver]?.push(JSON.parse(execFileSync(node, args, { encoding: "utf8" })));
    }
  }
  /** @param {string} driver @param {string} what */
  const figure = (driver, what) => median((times[driver] ?? []).map((each) => each[what] ?? Number.NaN));
  const counts = { inserts: `${rows} inserts`, reads: `${rows} reads by key`, searches: `${WORDS.length} searches` };
  report(
    "store-drivers",
    PARTS.flatMap((what) => {
      const title = counts[/** @type {keyof typeof counts} */ (what)];
      const [own, other] = [figure("node-sqlite", what), figure("better-sqlite", what)];
      return [
        { what: `${title}, better-sqlite3`, figure: other, unit: "ms" },
        {
          what: `${title}, node:sqlite`,
          figure: own,
          unit: "ms",
          beside: "better-sqlite3",
          ratio: own / other,
          isBehind: own > other,
        },
      ];
    }),
    {
      title: "The two SQLite drivers",
      workload: `${rows} rows of 200 bytes and 12 words each, in one transaction with full-text search, then reads by key in random order and searches ranked by BM25, through the store's driver interface. ${values.rounds} rounds alternating, each in a new process, medians.`,
      versions: {
        node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
        "better-sqlite3": LIBRARY_VERSION,
      },
    },
  );
}

if (values.driver === undefined) compare();
else await measure(values.driver);
