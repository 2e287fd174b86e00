// Finds documents by what is in them: the names they define, the names they use from outside, the nodes of other documents
// that their edges touch, and the lookup keys that they provide and depend on. Each is a term with a list of documents.
//
// The table `graph_terms` stores names as text, with a letter for the node type in front, in the order in which they are
// listed. Everything else is only looked up, so it is stored as a 64-bit hash.
import { createHash } from "node:crypto";
import { externalKey, type FileFacts, fileKey, NODE_TYPES, type NodeType, providedKeys } from "@trunkline/code-graph";
import { numberReader, writeNumber } from "../engine/content/small-numbers.js";
import type { Db, SqlValue } from "../engine/sqlite/database.js";
import type { FileLinks } from "./file-codec.js";

const HASHED = "\u0001";
const EXTERNAL = externalKey("");

/** Returns the term of a name that is defined as this type, or of an external name. */
export function nameTerm(type: NodeType, name: string): string {
  return letterOf(type) + name;
}

/** Returns the term of documents that provide a lookup key. */
export function providesTerm(key: string): string {
  return `${HASHED}provides ${key}`;
}

/** Returns the term of documents that depend on a lookup key. */
export function dependsTerm(key: string): string {
  return `${HASHED}depends ${key}`;
}

/** Returns the term of documents, other than its own, with an edge from or to a node. */
export function touchesTerm(key: string): string {
  return key.startsWith(EXTERNAL) ? nameTerm("external", key.slice(EXTERNAL.length)) : `${HASHED}touches ${key}`;
}

function letterOf(type: NodeType): string {
  return String.fromCharCode("a".charCodeAt(0) + NODE_TYPES.indexOf(type));
}

/** Returns the terms of the text of a document. A name occurs once for each of its definitions. */
export function termsOfFacts(facts: FileFacts): string[] {
  return [...facts.symbols.map(({ kind, name }) => nameTerm(kind, name)), ...providedKeys(facts).map(providesTerm)];
}

/** Returns the terms of the edges of a document. */
export function termsOfLinks({ edges, dependsOn }: FileLinks, facts: FileFacts): string[] {
  const own = new Set([fileKey(facts.path), ...facts.symbols.map(({ key }) => key)]);
  const ends = new Set(edges.flatMap(({ from, to }) => [from, to]).filter((key) => !own.has(key)));
  return [...[...ends].map(touchesTerm), ...dependsOn.map(dependsTerm)];
}

/** Records that a document no longer has the terms in `before`, but has those in `after`. */
export function replaceTerms(
  index: Db,
  file: number,
  { before, after }: { before: readonly string[]; after: readonly string[] },
): void {
  const [old, now] = [countsOf(before), countsOf(after)];
  for (const term of old.keys()) if (!now.has(term)) setCount(index, term, { file, count: 0 });
  for (const [term, count] of now) if (old.get(term) !== count) setCount(index, term, { file, count });
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** A document and how often it has a term. */
export interface TermFile {
  readonly file: number;
  readonly count: number;
}

interface ListRow {
  readonly first: number;
  readonly files: Uint8Array;
}

/** Longer lists are split, so adding a document to a frequent term rewrites little. */
const MOST_BYTES = 128;

function setCount(index: Db, term: string, { file, count }: TermFile): void {
  const stored = storedTerm(term);
  const row = index.get<ListRow>(
    "SELECT first, files FROM graph_terms WHERE term = ? AND first <= ? ORDER BY first DESC LIMIT 1",
    stored,
    file,
  );
  const files = row === undefined ? [] : readList(row);
  const others = files.filter((entry) => entry.file !== file);
  if (count > 0) others.push({ file, count });
  const changed = others.sort((a, b) => a.file - b.file);
  if (row !== undefined && changed[0]?.file !== row.first) {
    index.run("DELETE FROM graph_terms WHERE term = ? AND first = ?", stored, row.first);
  }
  // Ids only grow, so a list is usually extended at its end: the last document starts the next row.
  const rows = listBytes(changed).length <= MOST_BYTES ? [changed] : [changed.slice(0, -1), changed.slice(-1)];
  for (const list of rows) {
    const first = list[0]?.file;
    if (first === undefined) continue;
    index.run("INSERT OR REPLACE INTO graph_terms VALUES (?, ?, ?)", stored, first, listBytes(list));
  }
}

/** Returns the value of a term in the table. Text sorts before blobs. */
function storedTerm(term: string): SqlValue {
  return term.startsWith(HASHED) ? createHash("sha256").update(term).digest().subarray(0, 8) : term;
}

/** Returns the ids of the documents that have a term. */
export function filesWith(index: Db, term: string): number[] {
  return index
    .all<ListRow>("SELECT first, files FROM graph_terms WHERE term = ? ORDER BY first", storedTerm(term))
    .flatMap(readList)
    .map(({ file }) => file);
}

/** Yields the names of a type in order, each with the documents that have it. */
export function* namesOf(index: Db, type: NodeType): Generator<{ name: string; files: TermFile[] }> {
  const letter = letterOf(type);
  const rows = index.tuples<[string, number, Uint8Array]>(
    "SELECT term, first, files FROM graph_terms WHERE term >= ? AND term < ? ORDER BY term, first",
    letter,
    String.fromCharCode(letter.charCodeAt(0) + 1),
  );
  let current: { name: string; files: TermFile[] } | undefined;
  for (const [term, first, files] of rows) {
    const name = term.slice(1);
    if (current?.name !== name) {
      if (current !== undefined) yield current;
      current = { name, files: [] };
    }
    current.files.push(...readList({ first, files }));
  }
  if (current !== undefined) yield current;
}

/** Yields the ids of all documents in the lists, with repetitions. For checks. */
export function* listedFiles(index: Db): Generator<number> {
  for (const [first, files] of index.tuples<[number, Uint8Array]>("SELECT first, files FROM graph_terms")) {
    for (const { file } of readList({ first, files })) yield file;
  }
}

/** For each document, twice the distance from the previous one, plus one if its count follows because it is above 1. */
function listBytes(files: readonly TermFile[]): Uint8Array {
  const bytes: number[] = [];
  let before = files[0]?.file ?? 0;
  for (const { file, count } of files) {
    writeNumber(bytes, (file - before) * 2 + (count > 1 ? 1 : 0));
    if (count > 1) writeNumber(bytes, count);
    before = file;
  }
  return Uint8Array.from(bytes);
}

function readList({ first, files }: ListRow): TermFile[] {
  const found: TermFile[] = [];
  const read = numberReader(files);
  let file = first;
  for (let number = read(); number !== undefined; number = read()) {
    file += Math.floor(number / 2);
    found.push({ file, count: number % 2 === 1 ? (read() ?? 1) : 1 });
  }
  return found;
}
