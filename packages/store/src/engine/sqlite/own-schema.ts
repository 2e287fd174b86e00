// Checks that a database has our tables and nothing else, before the first statement touches them. A store can come from
// someone else (a project, an export, a backup), and SQLite runs what its schema says: a view in place of a table never
// ends, a trigger runs with every write.
import { TrunklineError } from "@trunkline/core";
import { type Db, openMemoryDatabase } from "./database.js";
import { createIndexTables, FORMAT_VERSION, TRUTH_TABLES } from "./schema.js";

/** Tables and indexes by name, with their definitions. */
type Schema = ReadonlyMap<string, string>;

let ownTruth: Schema | undefined;

/** Throws unless a content database is empty, or has exactly our tables. */
export function requireOwnTruth(db: Db, file: string): void {
  const found = schemaOf(db);
  const version = db.pragma<number>("user_version");
  // A newer format has other tables; it is rejected anyway.
  if (version > FORMAT_VERSION) return;
  ownTruth ??= writtenSchema(TRUTH_TABLES);
  const expected = version === 0 ? new Map<string, string>() : ownTruth;
  const name = differenceOf(found, expected);
  if (name !== undefined) throw foreign(file, name);
}

/** Throws if an index does not have exactly our tables and those of its indexers. Such an index is replaced. */
export function requireOwnIndex(db: Db, file: string, createTables: (index: Db) => void): void {
  const expected = expectedSchema((index) => {
    createIndexTables(index, "");
    createTables(index);
  });
  const name = differenceOf(schemaOf(db), expected);
  if (name !== undefined) throw damagedIndex(file, name);
}

/**
 * Throws if an index has parts that could run something. Less strict than {@link requireOwnIndex}, because the tables of
 * an index depend on its version.
 */
export function requirePlainIndex(db: Db, file: string): void {
  for (const { type, name, sql } of rowsOf(db)) {
    if (sql !== null && !isPlain(type, sql)) throw damagedIndex(file, name);
  }
}

function isPlain(type: string, sql: string): boolean {
  if (type === "index") return /^CREATE (?:UNIQUE )?INDEX [^()]*\([\w\s,]*\)(?: WHERE [\w\s='<>]*)?$/i.test(sql);
  if (type !== "table") return false;
  if (/^CREATE VIRTUAL TABLE/i.test(sql)) return /^CREATE VIRTUAL TABLE \w+ USING fts5(?:vocab)?\s*\(/i.test(sql);
  return !/\bgenerated\b|\bas\s*\(/i.test(sql);
}

function differenceOf(found: Schema, expected: Schema): string | undefined {
  for (const [name, sql] of found) if (expected.get(name) !== sql) return name;
  for (const name of expected.keys()) if (!found.has(name)) return name;
  return undefined;
}

/** Reads a schema from its text, which is faster than creating it: every thread needs this one when it opens. */
function writtenSchema(text: string): Schema {
  return new Map(
    text
      .split(";\n")
      .filter((statement) => statement.trim() !== "")
      .map((statement) => {
        const sql = statement.trim().replace(/\s+/g, " ");
        const [, type = "", name = "", table = name] = /^CREATE (TABLE|INDEX) (\w+)(?: ON (\w+))?/.exec(sql) ?? [];
        return [name, `${type.toLowerCase()} ${table} ${sql}`];
      }),
  );
}

function expectedSchema(create: (db: Db) => void): Schema {
  const db = openMemoryDatabase();
  try {
    create(db);
    return schemaOf(db);
  } finally {
    db.close();
  }
}

function schemaOf(db: Db): Schema {
  return new Map(
    rowsOf(db)
      .filter((row) => !isImplied(row))
      .map(({ type, name, tbl_name: table, sql }) => [name, `${type} ${table} ${sql?.replace(/\s+/g, " ")}`]),
  );
}

/** Whether SQLite added something by itself: the index of a constraint, or the table behind AUTOINCREMENT. */
function isImplied({ type, name, sql }: SchemaRow): boolean {
  if (name === "sqlite_sequence") return type === "table" && sql === "CREATE TABLE sqlite_sequence(name,seq)";
  return type === "index" && sql === null && name.startsWith("sqlite_autoindex_");
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

function rowsOf(db: Db): SchemaRow[] {
  return db.all<SchemaRow>("SELECT type, name, tbl_name, sql FROM sqlite_schema");
}

function foreign(file: string, name: string): TrunklineError {
  return new TrunklineError("STORE_UNTRUSTED", `${file} was changed by another program: ${JSON.stringify(name)}.`, {
    hint: "Do not use this store unless you know who changed it. Choose another one with --store.",
  });
}

/** An index can be rebuilt, so whoever can write to it replaces it. */
function damagedIndex(file: string, name: string): TrunklineError {
  return new TrunklineError("IO", `${file} was changed by another program: ${JSON.stringify(name)}.`, {
    hint: "Open the store for writing once, which rebuilds the index.",
    data: { damaged: true },
  });
}
