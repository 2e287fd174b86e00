// The indexer thread takes up in the background what writes have left for later.
import { runBackground } from "../indexing/background.js";
import { keepVectors, nextTexts } from "../indexing/embedding-queue.js";
import { bind } from "./bind.js";
import type { Databases } from "./environment.js";
import type { Call } from "./rpc.js";

/** What the indexer thread does. */
export type IndexerHandlers = ReturnType<typeof indexerHandlers>;

export function indexerHandlers(databases: Databases) {
  return {
    run: (_params: Record<string, never>, call: Call) => runBackground(databases, call),
    ...bind(databases, { nextTexts, keepVectors }),
  };
}
