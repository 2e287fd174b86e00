// The words of an entry, by column: what the keyword index of either engine contains. Pure.
import { type IndexText, identifierWords, splitIdentifier } from "../engine/content/text.js";
import type { IndexEntry } from "../engine/indexing/indexer.js";

/** A long text becomes several rows, so no statement runs for long and distant words do not count as near. */
export const MOST_PIECES = 4096;
const PIECE_LENGTH = 512 * 1024;

/** The weight of a hit in each column, in column order. */
export const KEYWORD_WEIGHTS = [6, 3, 4, 2, 1, 0.8] as const;

type KeywordEntry = Pick<IndexEntry, "path" | "root" | "title" | "tags" | "metadata">;

/** Title, path, tags, metadata, body, and the parts of compound identifiers. */
type KeywordColumns = readonly [string, string, string, string, string, string];

/** Returns the rows of an entry. The first one has everything but the rest of a long text. */
export function keywordRows(entry: KeywordEntry, text: IndexText | undefined): KeywordColumns[] {
  const name = pathInRoot(entry);
  const path = `${name} ${splitIdentifier(name).join(" ")}`;
  const [first, ...others] = piecesOf(text);
  return [
    [
      entry.title ?? "",
      path,
      entry.tags.join(" "),
      metadataText(entry.metadata),
      first?.body ?? "",
      first?.words ?? "",
    ],
    ...others.map(({ body, words }): KeywordColumns => ["", "", "", "", body, words]),
  ];
}

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
  for (let start = 0; start < text.body.length && pieces.length < MOST_PIECES; ) {
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
