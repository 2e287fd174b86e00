// Presents both databases as one graph. Edges found in texts come from the index; tags, collections, equal content and
// versions are read from the content database.

import {
  collectionKey,
  fileKey,
  type GraphEdge,
  type Neighbours,
  type NodeDescription,
  type ParsedKey,
  parseKey,
  type Relation,
  tagKey,
  versionKey,
} from "@trunkline/code-graph";
import { bytesOf, hexOf } from "../engine/sqlite/contents.js";
import type { Db, SqlValue } from "../engine/sqlite/database.js";
import { GraphFiles } from "./graph-files.js";

/** The databases the graph is read from. */
export interface GraphDatabases {
  readonly truth: Db;
  readonly index: Db;
}

/** Both databases as one graph, within one collection or across all. */
export class StoredGraph implements Neighbours {
  readonly #truth: Db;
  readonly #files: GraphFiles;
  readonly #collection: string | null;
  readonly #most: number;
  readonly #check: () => void;

  constructor(
    { truth, index }: GraphDatabases,
    options: { readonly collection: string | undefined; readonly limit: number; readonly check: () => void },
  ) {
    this.#truth = truth;
    this.#files = new GraphFiles(index, options);
    this.#collection = options.collection ?? null;
    // Half of these may be known already; anything beyond would be cut anyway.
    this.#most = 2 * options.limit + 2;
    this.#check = options.check;
  }

  *edges(key: string, filter: { readonly relation?: Relation; readonly reverse: boolean }): Iterable<GraphEdge> {
    this.#check();
    yield* this.#files.edges(key, filter);
    const parsed = parseKey(key);
    if (parsed === undefined || parsed.space === "symbol" || parsed.space === "external") return;
    const all = filter.reverse ? this.#incoming(parsed) : this.#outgoing(parsed);
    for (const [relation, other] of all) {
      if (filter.relation !== undefined && relation !== filter.relation) continue;
      for (const end of other()) {
        const [from, to] = filter.reverse ? [end, key] : [key, end];
        yield { from, to, relation, resolved: true };
      }
    }
  }

  /**
   * Lists a document's outgoing relations: it has tags, is in a collection, and points to documents with the same
   * content.
   */
  #outgoing(parsed: ParsedKey): (readonly [Relation, () => string[]])[] {
    const { path = "", hash = "" } = parsed;
    switch (parsed.space) {
      case "file":
        return [
          ["TAGGED", () => this.#ofDocument("document_tags t", "t.tag", "t.document = d.id", path).map(tagKey)],
          [
            "IN_COLLECTION",
            () => this.#ofDocument("collections n", "n.name", "n.id = d.collection", path).map(collectionKey),
          ],
          ["SAME_CONTENT", () => this.#sameContent(path)],
        ];
      case "content":
        return [["SAME_CONTENT", () => this.#paths("c.hash = ?", bytesOf(hash))]];
      case "version":
        return [["VERSION_OF", () => [fileKey(path)]]];
      default:
        return [];
    }
  }

  #incoming(parsed: ParsedKey): (readonly [Relation, () => string[]])[] {
    const { path = "", name } = parsed;
    switch (parsed.space) {
      case "file":
        return [
          ["SAME_CONTENT", () => this.#sameContent(path)],
          ["VERSION_OF", () => this.#versions(path)],
        ];
      case "tag":
        return [
          [
            "TAGGED",
            () => this.#paths("EXISTS (SELECT 1 FROM document_tags t WHERE t.document = d.id AND t.tag = ?)", name),
          ],
        ];
      case "collection":
        return [["IN_COLLECTION", () => this.#paths("k.name = ?", name)]];
      default:
        return [];
    }
  }

  #ofDocument(table: string, column: string, on: string, path: string): string[] {
    return this.#truth
      .all<{ value: string }>(
        `SELECT DISTINCT ${column} AS value FROM documents d JOIN collections k ON k.id = d.collection JOIN ${table} ON ${on}
         WHERE d.path = ? AND d.state = 'live' AND (? IS NULL OR k.name = ?) ORDER BY 1 LIMIT ?`,
        path,
        this.#collection,
        this.#collection,
        this.#most,
      )
      .map((row) => row.value);
  }

  #paths(condition: string, ...values: SqlValue[]): string[] {
    return this.#truth
      .all<{ path: string }>(
        `SELECT DISTINCT d.path FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
         JOIN collections k ON k.id = d.collection
         WHERE ${condition} AND d.state = 'live' AND (? IS NULL OR k.name = ?) ORDER BY d.path LIMIT ?`,
        ...values,
        this.#collection,
        this.#collection,
        this.#most,
      )
      .map((row) => fileKey(row.path));
  }

  #sameContent(path: string): string[] {
    const hash = this.#hashOf(path);
    if (hash === undefined) return [];
    // Empty files have nothing in common.
    return this.#paths("c.hash = ? AND c.size > 0 AND d.path <> ?", hash, path);
  }

  #hashOf(path: string): Uint8Array | undefined {
    return this.#truth.get<{ hash: Uint8Array }>(
      `SELECT c.hash FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
       JOIN collections k ON k.id = d.collection
       WHERE d.path = ? AND d.state = 'live' AND (? IS NULL OR k.name = ?) LIMIT 1`,
      path,
      this.#collection,
      this.#collection,
    )?.hash;
  }

  /** Returns the contents a document had before. */
  #versions(path: string): string[] {
    const rows = this.#truth.all<{ hash: Uint8Array }>(
      `SELECT c.hash, max(v.seq_from) AS last FROM documents d JOIN versions v ON v.document = d.id
       JOIN contents c ON c.id = v.content JOIN collections k ON k.id = d.collection JOIN versions now ON now.id = d.version
       WHERE d.path = ? AND d.state = 'live' AND v.content <> now.content AND (? IS NULL OR k.name = ?)
       GROUP BY c.id ORDER BY last DESC LIMIT ?`,
      path,
      this.#collection,
      this.#collection,
      this.#most,
    );
    return rows.map((row) => versionKey(path, hexOf(row.hash)));
  }

  *symbols(key: string): Iterable<string> {
    for (const { symbols } of this.#files.at(key.slice(fileKey("").length))) {
      for (const symbol of symbols) yield symbol.key;
    }
  }

  describe(key: string): NodeDescription | undefined {
    const parsed = parseKey(key);
    if (parsed?.space === "file") {
      const hash = this.#hashOf(parsed.path ?? "");
      return hash === undefined ? undefined : { hash: hexOf(hash) };
    }
    if (parsed?.space !== "symbol" || parsed.path === undefined) return undefined;
    for (const file of this.#files.at(parsed.path)) {
      const symbol = file.symbol(key);
      if (symbol !== undefined) return { type: symbol.kind, name: symbol.name, path: file.path, hash: file.hash };
    }
    return undefined;
  }
}
