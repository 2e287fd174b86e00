// The writer: the one thread of a process that changes the store.
import { isTrunklineError, messageOf } from "@trunkline/core";
import {
  deleteDocuments,
  rememberRoot,
  removeDocuments,
  takeSnapshot,
  undeleteDocument,
  updateDocuments,
} from "../../documents/change.js";
import { indexers } from "../../indexers.js";
import { importContentBatch, importEventBatch } from "../../maintenance/export-import.js";
import { gcStep } from "../../maintenance/gc.js";
import { replaceChunk } from "../../maintenance/repair.js";
import { pinContent, startSession, stopSession, unpinContent } from "../../sessions/stored-sessions.js";
import { hasBackgroundIndexers } from "../indexing/background.js";
import { catchUp, rebuildIndex } from "../indexing/catch-up.js";
import { addDocuments, appendUpload, putBareContent } from "../writing/store-content.js";
import { type WriteContext, WriteQueue } from "../writing/write-queue.js";
import type { Databases } from "./open-databases.js";
import type { Call } from "./rpc.js";

/** Everything the writer does, by name. */
export type WriterHandlers = ReturnType<typeof writerHandlers>;

/** The handlers of one writer. */
export function writerHandlers({ truth, index }: Databases) {
  const queue = new WriteQueue(truth, index);
  const queued =
    <P, R>(write: (context: WriteContext, params: P) => R) =>
    (params: P, call: Call): Promise<R> =>
      queue.submit((context) => write(context, params), call.check);
  return {
    /** Brings the index up to date; the first call of every process. */
    ready: (_params: Record<string, never>, call: Call) => {
      catchUp({ truth, index, texts: new Map(), check: call.check });
      return { background: hasBackgroundIndexers };
    },
    addDocuments: queued(addDocuments),
    putContent: queued(putBareContent),
    appendUpload: queued(appendUpload),
    removeDocuments: queued(removeDocuments),
    rememberRoot: queued(rememberRoot),
    snapshot: queued(takeSnapshot),
    update: queued(updateDocuments),
    delete: queued(deleteDocuments),
    undelete: queued(undeleteDocument),
    start: queued(startSession),
    stop: queued(stopSession),
    pin: queued(pinContent),
    unpin: queued(unpinContent),
    gcStep: queued(gcStep),
    importContents: queued(importContentBatch),
    importEvents: queued(importEventBatch),
    replaceChunk: queued(replaceChunk),
    /** Gives free pages back to the file system; `more` until there are none. */
    shrink: (_params: Record<string, never>) => {
      const more = [truth, index].map((db) => {
        db.exec("PRAGMA incremental_vacuum(500)");
        return db.pragma<number>("freelist_count") > 0;
      });
      return { more: more.includes(true) };
    },
    /** What the indexers themselves find wrong. */
    checkIndexers: (_params: Record<string, never>) =>
      indexers.flatMap((indexer) => {
        try {
          return index.immediate(() => indexer.check?.(index) ?? []);
        } catch (error) {
          if (!isTrunklineError(error)) throw error;
          return [`${indexer.name}: ${messageOf(error)}`];
        }
      }),
    /** Makes the index anew from the truth. */
    rebuild: (_params: Record<string, never>, call: Call) => {
      const context = { truth, index, texts: new Map(), check: call.check };
      rebuildIndex(context);
      return catchUp(context, (taken, total) => call.progress({ progress: taken, total, message: "index" }));
    },
  };
}
