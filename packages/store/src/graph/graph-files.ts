// Reads documents of the stored graph for queries: what they define, and their edges.

import { type GraphEdge, parseKey, type Relation, type SymbolFacts } from "@trunkline/code-graph";
import { TrunklineError } from "@trunkline/core";
import { hexOf } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { decodeSymbols, type LinkReader, type PlacedEdge, readLinks } from "./file-codec.js";
import { filesWith, touchesTerm } from "./file-terms.js";
import { type FileRow, graphIndexer } from "./graph-indexer.js";

/** A document with its definitions and edges, which are read when they are needed. */
class GraphFile {
  readonly path: string;
  readonly collection: string;
  readonly hash: string;
  readonly #row: FileRow;
  #symbols: readonly SymbolFacts[] | undefined;
  #byKey: ReadonlyMap<string, SymbolFacts> | undefined;
  #links: LinkReader | undefined;

  constructor(row: FileRow) {
    this.path = row.path;
    this.collection = row.collection;
    this.hash = hexOf(row.hash);
    this.#row = row;
  }

  get symbols(): readonly SymbolFacts[] {
    this.#symbols ??= decodeSymbols(this.#row.facts, this.path);
    return this.#symbols;
  }

  /** Returns the symbol with this key. */
  symbol(key: string): SymbolFacts | undefined {
    this.#byKey ??= new Map(this.symbols.map((symbol) => [symbol.key, symbol]));
    return this.#byKey.get(key);
  }

  /** Returns the edges from a node, or to it with `reverse`. */
  edges(index: Db, key: string, reverse: boolean): readonly PlacedEdge[] {
    if (this.#links === undefined) {
      const row = index.get<{ links: Uint8Array }>("SELECT links FROM graph_links WHERE file = ?", this.#row.id);
      // Not resolved yet.
      if (row === undefined) return [];
      this.#links = readLinks(row.links, this);
    }
    return this.#links.of(key, reverse);
  }
}

/** A query reads the same documents again and again, one symbol after another. */
const MOST_KEPT = 500;

/** The documents of one collection, or of all. Use it within one read transaction. */
export class GraphFiles {
  readonly #index: Db;
  readonly #collection: string | null;
  readonly #check: () => void;
  readonly #kept = new Map<number, GraphFile>();

  constructor(index: Db, options: { readonly collection?: string; readonly check?: () => void }) {
    this.#index = index;
    this.#collection = options.collection ?? null;
    this.#check = options.check ?? (() => {});
    requireCurrent(index);
  }

  /** Returns the ids of all documents. */
  ids(): Set<number> {
    return new Set(
      this.#index.column<number>(
        "SELECT id FROM graph_files WHERE gone = 0 AND (? IS NULL OR collection = ?)",
        this.#collection,
        this.#collection,
      ),
    );
  }

  /** Returns the documents with this path: one for each collection. */
  at(path: string): GraphFile[] {
    return this.#idsAt(path).flatMap((id) => this.#read(id) ?? []);
  }

  #idsAt(path: string): number[] {
    return this.#index.column<number>(
      "SELECT id FROM graph_files WHERE path = ? AND gone = 0 AND (? IS NULL OR collection = ?) ORDER BY id",
      path,
      this.#collection,
      this.#collection,
    );
  }

  /** Returns the documents with a term, in the order of their paths. Those of other collections are left out. */
  *with(term: string): Generator<GraphFile> {
    yield* this.sorted(filesWith(this.#index, term));
  }

  /** Reads documents in the order of their symbols' keys, one at a time. */
  *sorted(ids: Iterable<number>): Generator<GraphFile> {
    const places: { id: number; path: string }[] = [];
    for (const id of ids) {
      const row = this.#index.get<{ path: string; collection: string; gone: number }>(
        "SELECT path, collection, gone FROM graph_files WHERE id = ?",
        id,
      );
      if (row === undefined || row.gone === 1) continue;
      if (this.#collection !== null && row.collection !== this.#collection) continue;
      places.push({ id, path: `${row.path}#` });
    }
    places.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.id - b.id));
    for (const { id } of places) {
      this.#check();
      const file = this.#read(id);
      if (file !== undefined) yield file;
    }
  }

  /** Returns the edges from a node, or to it with `reverse`, that are found in texts. */
  edges(key: string, { relation, reverse }: { relation?: Relation; reverse: boolean }): GraphEdge[] {
    const parsed = parseKey(key);
    if (parsed === undefined) return [];
    const isOwn = parsed.space === "file" || parsed.space === "symbol";
    if (!isOwn && parsed.space !== "external") return [];
    const own = isOwn && parsed.path !== undefined ? this.#idsAt(parsed.path) : [];
    const ids = new Set([...own, ...filesWith(this.#index, touchesTerm(key))]);
    const found: (PlacedEdge & { path: string })[] = [];
    for (const file of this.sorted(ids)) {
      for (const { edge, position } of file.edges(this.#index, key, reverse)) {
        if (relation === undefined || edge.relation === relation) found.push({ edge, position, path: file.path });
      }
    }
    return found
      .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.position - b.position))
      .map(({ edge }) => edge);
  }

  #read(id: number): GraphFile | undefined {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    const row = this.#index.get<FileRow>("SELECT * FROM graph_files WHERE id = ?", id);
    if (row === undefined) return undefined;
    const file = new GraphFile(row);
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(id, file);
    return file;
  }
}

/** Throws for the graph of an older version, which only a process that can write converts. */
function requireCurrent(index: Db): void {
  const state = index.get<{ version: number }>("SELECT version FROM indexers WHERE name = ?", graphIndexer.name);
  if (state?.version === graphIndexer.version) return;
  throw new TrunklineError("IO", "The graph of this store was written by another version of Trunkline.", {
    hint: "Open the store for writing once, which rebuilds the graph.",
  });
}
