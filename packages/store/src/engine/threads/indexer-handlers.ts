// An indexer thread takes up in the background what writes have left for later.

import { keepVectors, nextTexts } from "../../search/embedding-queue.js";
import { runBackground } from "../indexing/background.js";
import { bind } from "./bind.js";
import type { Databases } from "./open-databases.js";
import type { Preparers } from "./preparer.js";
import type { Call } from "./rpc.js";

/** What an indexer thread does. */
export type IndexerHandlers = ReturnType<typeof indexerHandlers>;

export function indexerHandlers(databases: Databases, preparers: Preparers) {
  return {
    run: (params: { readonly alone: boolean }, call: Call) =>
      runBackground(
        { ...databases, prepareElsewhere: (indexer, range, signal) => preparers.prepare({ indexer, range }, signal) },
        params,
        call,
      ),
    ...bind(databases, { nextTexts, keepVectors }),
  };
}
