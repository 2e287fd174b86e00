// The documents that grep goes through, in the form a reader caches and sends them. Listing tens of thousands of them
// takes SQLite longer than grep needs to search their contents, so the list is cached as long as nothing changes.

import type { Db } from "../engine/sqlite/database.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { compareText, type GrepDocument } from "./index.js";

/** A document with its index entry, if it has one. */
export interface ListedDocument {
  readonly path: string;
  readonly hash: string;
  readonly sizeBytes: number;
  readonly binary: boolean;
  readonly entry: number | undefined;
}

/** Where a page starts: at a path, or after a document. */
interface Place {
  readonly path: string;
  readonly hash?: string;
}

/** Documents that may match, in order and as columns. `next` is where the following page starts. */
export interface GrepPage {
  /** A JSON list. */
  readonly paths: string;
  /** Separated by spaces. */
  readonly hashes: string;
  readonly sizes: Float64Array;
  /** The positions of binary documents. */
  readonly binary: readonly number[];
  readonly next?: { readonly path: string; readonly hash: string };
}

export function pageOf(documents: readonly ListedDocument[], next: GrepPage["next"]): GrepPage {
  return {
    paths: JSON.stringify(documents.map(({ path }) => path)),
    hashes: documents.map(({ hash }) => hash).join(" "),
    sizes: Float64Array.from(documents, ({ sizeBytes }) => sizeBytes),
    binary: documents.flatMap(({ binary }, position) => (binary ? [position] : [])),
    ...(next === undefined ? {} : { next }),
  };
}

export const EMPTY_PAGE = pageOf([], undefined);

/** Restores the documents of a page, on the receiving side. */
export function documentsOf({ paths, hashes, sizes, binary }: GrepPage): GrepDocument[] {
  const isBinary = new Set(binary);
  const split = hashes.split(" ");
  // Written by pageOf.
  return (JSON.parse(paths) as string[]).map((path, position) => ({
    path,
    hash: split[position] as string,
    sizeBytes: sizes[position],
    binary: isBinary.has(position),
  }));
}

/**
 * Whether a document has to be searched or counted: binary ones are counted, those the index has not seen may match,
 * and for the others the index decides.
 */
export function mayMatch({ binary, entry }: ListedDocument, candidates: ReadonlySet<number> | undefined): boolean {
  return candidates === undefined || binary || entry === undefined || candidates.has(entry);
}

const MOST_LISTED = 100_000;
const KEPT_MS = 5 * 60_000;

/** The documents of one selection, as found page by page. */
class DocumentList {
  readonly key: string;
  readonly #documents: ListedDocument[] = [];
  /** Where the documents that are not in the list yet start. */
  #next: Place | undefined;
  #state: "begun" | "complete" | "given up" = "begun";

  constructor(key: string) {
    this.key = key;
  }

  get isComplete(): boolean {
    return this.#state === "complete";
  }

  /** Adds a page that starts where the list ends; others are ignored. */
  append(
    documents: readonly ListedDocument[],
    { from, next }: { from: Place | undefined; next: Place | undefined },
  ): void {
    if (this.#state !== "begun" || from?.path !== this.#next?.path || from?.hash !== this.#next?.hash) return;
    if (this.#documents.length + documents.length > MOST_LISTED) {
      this.#state = "given up";
      this.#documents.length = 0;
      return;
    }
    for (const document of documents) this.#documents.push(document);
    this.#next = next;
    if (next === undefined) this.#state = "complete";
  }

  /** Returns up to `limit` documents that may match, from a position on. */
  page(
    { from, limit }: { from: Place | undefined; limit: number },
    candidates: ReadonlySet<number> | undefined,
  ): GrepPage {
    const found: ListedDocument[] = [];
    for (let at = from === undefined ? 0 : this.#positionOf(from); at < this.#documents.length; at++) {
      const document = this.#documents[at] as ListedDocument;
      if (!mayMatch(document, candidates)) continue;
      found.push(document);
      if (found.length === limit) return pageOf(found, { path: document.path, hash: document.hash });
    }
    return pageOf(found, undefined);
  }

  #positionOf({ path, hash }: Place): number {
    let low = 0;
    let high = this.#documents.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const document = this.#documents[middle] as ListedDocument;
      const order = compareText(document.path, path);
      const isBefore = order < 0 || (order === 0 && hash !== undefined && document.hash <= hash);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const kept = new WeakMap<Db, { list: DocumentList; timer: NodeJS.Timeout }>();

/**
 * Returns the list of a selection for the state of both databases in the current transactions; it may still be empty.
 * Each reader keeps the last one.
 */
export function listOf({ truth, index }: ReadEnvironment, selection: string): DocumentList {
  const key = `${truth.pragma<number>("data_version")} ${index.pragma<number>("data_version")} ${selection}`;
  const known = kept.get(truth);
  if (known?.list.key === key) {
    known.timer.refresh();
    return known.list;
  }
  clearTimeout(known?.timer);
  const list = new DocumentList(key);
  kept.set(truth, { list, timer: setTimeout(() => kept.delete(truth), KEPT_MS).unref() });
  return list;
}
