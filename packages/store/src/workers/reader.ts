// Readers answer; movers do what takes long: adding, restoring, downloading, checking. Both have connections of their
// own that cannot write, and hand changes to the writer.

import { runBackground } from "../indexing/background.js";
import { keepVectors, nextTexts } from "../indexing/embedding-queue.js";
import { add } from "../operations/add.js";
import { contentBytes, hasContent, putContent, resolveContentIds } from "../operations/content.js";
import { diff } from "../operations/diff.js";
import { download } from "../operations/download.js";
import type { MoveEnvironment, ReadEnvironment } from "../operations/environment.js";
import { exportStore, importStore } from "../operations/exchange.js";
import { gc } from "../operations/gc.js";
import { getDocument } from "../operations/get.js";
import { graph } from "../operations/graph.js";
import { grepPage, grepPlaces } from "../operations/grep.js";
import { listDocuments } from "../operations/list.js";
import { listCollections, listSnapshots } from "../operations/overview.js";
import { repair } from "../operations/repair.js";
import { restore } from "../operations/restore.js";
import { search } from "../operations/search.js";
import { status } from "../operations/status.js";
import { takeChanges } from "../operations/take-changes.js";
import { verify } from "../operations/verify.js";
import type { Databases } from "./environment.js";
import type { Call } from "./rpc.js";

type Bound<F> = F extends (env: never, params: infer P, call: Call) => infer R ? (params: P, call: Call) => R : never;

function bind<E, T extends Record<string, (env: E, params: never, call: Call) => unknown>>(
  env: E,
  table: T,
): { [M in keyof T]: Bound<T[M]> } {
  const bound = Object.entries(table).map(([name, run]) => [
    name,
    (params: never, call: Call) => run(env, params, call),
  ]);
  // Object.fromEntries forgets which handler stands under which name.
  return Object.fromEntries(bound) as { [M in keyof T]: Bound<T[M]> };
}

/** What a reader answers. */
export type ReaderHandlers = ReturnType<typeof readerHandlers>;

export function readerHandlers(env: ReadEnvironment) {
  return bind(env, {
    content: contentBytes,
    has: hasContent,
    resolve: resolveContentIds,
    get: getDocument,
    graph,
    list: listDocuments,
    list_collections: listCollections,
    list_snapshots: listSnapshots,
    search,
    grepPlaces,
    grepPage,
    status,
    diff,
  });
}

/** What a mover does. */
export type MoverHandlers = ReturnType<typeof moverHandlers>;

export function moverHandlers(env: MoveEnvironment) {
  return bind(env, {
    put: putContent,
    add,
    restore,
    download,
    gc,
    verify,
    repair,
    export: exportStore,
    import: importStore,
    takeChanges,
  });
}

/** What the indexer thread does. */
export type IndexerHandlers = ReturnType<typeof indexerHandlers>;

export function indexerHandlers(databases: Databases) {
  return {
    run: (_params: Record<string, never>, call: Call) => runBackground(databases, call),
    ...bind(databases, { nextTexts, keepVectors }),
  };
}
