// The environment that operations work with, in any thread.

import type { Remotes } from "@trunkline/core/threads";
import type { Indexer } from "../indexing/indexer.js";
import type { Db } from "../sqlite/database.js";
import type { addDocuments, appendUpload, putBareContent } from "../writing/store-content.js";

/** Both databases, and the indexers that maintain the second one. */
export interface Databases {
  readonly truth: Db;
  readonly index: Db;
  readonly indexers: readonly Indexer[];
}

/** The environment of a thread that reads. */
export interface ReadEnvironment extends Databases {
  readonly folder: string;
  /** The index again, with only the relations between documents that the caller can see. */
  readonly graph: Db;
}

/** The writes that every mover needs. */
type ContentWrites = {
  addDocuments: typeof addDocuments;
  putContent: typeof putBareContent;
  appendUpload: typeof appendUpload;
};

/** A thread that reads and sends the writes in `W` to the writer. */
export interface MoveEnvironment<W = unknown> extends ReadEnvironment {
  readonly writer: Remotes<ContentWrites & W>;
}
