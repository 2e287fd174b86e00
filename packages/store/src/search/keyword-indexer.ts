// The keyword index: FTS5 over title, path, tags, metadata, body and the parts of compound identifiers. Part of the
// acknowledged write. The table is contentless: snippets are cut from the content itself.
import { type IndexText, identifierWords, splitIdentifier } from "../engine/content/text.js";
import type { Indexer } from "../engine/indexing/indexer.js";

/**
 * A long text becomes several rows, so no statement runs for long and distant words do not count as near. Row id =
 * entry id * KEYWORD_ROWS_PER_ENTRY + piece number.
 */
export const KEYWORD_ROWS_PER_ENTRY = 4096;
const PIECE_LENGTH = 512 * 1024;

/** The weight of a hit in each column, in column order. */
export const KEYWORD_WEIGHTS = [6, 3, 4, 2, 1, 0.8] as const;

export const keywordIndexer: Indexer = {
  name: "keyword",
  version: 1,
  when: "write",
  create(index) {
    index.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS keyword USING fts5(
      title, path, tags, metadata, body, words,
      content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')`);
  },
  add(index, entry, text) {
    const first = entry.id * KEYWORD_ROWS_PER_ENTRY;
    const insert = "INSERT INTO keyword (rowid, title, path, tags, metadata, body, words) VALUES (?, ?, ?, ?, ?, ?, ?)";
    const name = pathInRoot(entry);
    const path = `${name} ${splitIdentifier(name).join(" ")}`;
    const pieces = piecesOf(text);
    index.run(
      insert,
      first,
      entry.title ?? "",
      path,
      entry.tags.join(" "),
      metadataText(entry.metadata),
      pieces[0]?.body ?? "",
      pieces[0]?.words ?? "",
    );
    for (let piece = 1; piece < pieces.length; piece++) {
      index.run(insert, first + piece, "", "", "", "", pieces[piece]?.body ?? "", pieces[piece]?.words ?? "");
    }
  },
  remove(index, entryId) {
    const first = entryId * KEYWORD_ROWS_PER_ENTRY;
    index.run("DELETE FROM keyword WHERE rowid >= ? AND rowid < ?", first, first + KEYWORD_ROWS_PER_ENTRY);
  },
  clear(index) {
    index.exec("DROP TABLE IF EXISTS keyword");
  },
  check(index) {
    index.run("INSERT INTO keyword (keyword, rank) VALUES ('integrity-check', 0)");
    return [];
  },
};

/** Returns the root's name and the path below it. Where the root is located says nothing about a document. */
export function pathInRoot({ path, root }: { readonly path: string; readonly root: string | undefined }): string {
  const above = root === undefined ? -1 : Math.max(root.lastIndexOf("/"), root.lastIndexOf("\\"));
  return root !== undefined && above >= 0 && path.startsWith(root) ? path.slice(above + 1) : path;
}

/** Cuts at line ends, so no word is split. */
function piecesOf(text: IndexText | undefined): { body: string; words: string }[] {
  if (text === undefined) return [];
  if (text.body.length <= PIECE_LENGTH) return [text];
  const pieces: { body: string; words: string }[] = [];
  for (let start = 0; start < text.body.length && pieces.length < KEYWORD_ROWS_PER_ENTRY; ) {
    const limit = start + PIECE_LENGTH;
    const lineEnd = limit >= text.body.length ? text.body.length : text.body.lastIndexOf("\n", limit) + 1;
    const end = lineEnd > start ? lineEnd : Math.min(limit, text.body.length);
    const body = text.body.slice(start, end);
    pieces.push({ body, words: identifierWords(body) });
    start = end;
  }
  return pieces;
}

/** Returns keys and values as words: `owner=ada` is found by `ada` and by `owner`. */
function metadataText(metadata: Readonly<Record<string, unknown>>): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
