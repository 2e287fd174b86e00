// What operations work with, in whichever thread they run.
import type { GuardedPaths } from "../files/guard.js";
import type { Indexer } from "../indexing/indexer.js";
import type { Db } from "../sqlite/database.js";
import type { addDocuments, appendUpload, putBareContent } from "../writing/store-content.js";
import type { Remotes } from "./rpc.js";

/** Both databases, and the indexers that keep the second one. */
export interface Databases {
  readonly truth: Db;
  readonly index: Db;
  readonly indexers: readonly Indexer[];
}

/** A thread that reads. */
export interface ReadEnvironment extends Databases {
  readonly folder: string;
}

/** What every mover asks of the writer. */
type ContentWrites = {
  addDocuments: typeof addDocuments;
  putContent: typeof putBareContent;
  appendUpload: typeof appendUpload;
};

/** A thread that reads and has the writes in `W` done by the writer. */
export interface MoveEnvironment<W = unknown> extends ReadEnvironment {
  readonly writer: Remotes<ContentWrites & W>;
  readonly guarded: GuardedPaths;
}
