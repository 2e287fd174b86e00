// Readers answer, with connections of their own that cannot write.
import { contentBytes, hasContent, resolveContentIds } from "../operations/content.js";
import { diff } from "../operations/diff.js";
import type { ReadEnvironment } from "../operations/environment.js";
import { getDocument } from "../operations/get.js";
import { graph } from "../operations/graph.js";
import { grepPage, grepPlaces } from "../operations/grep.js";
import { listDocuments } from "../operations/list.js";
import { listCollections, listSnapshots } from "../operations/overview.js";
import { search } from "../operations/search.js";
import { listSessions, resumeSession } from "../operations/sessions.js";
import { status } from "../operations/status.js";
import { bind } from "./bind.js";
import { isCurrent } from "./environment.js";

/** What a reader answers. */
export type ReaderHandlers = ReturnType<typeof readerHandlers>;

export function readerHandlers(env: ReadEnvironment) {
  return bind(env, {
    isCurrent,
    content: contentBytes,
    has: hasContent,
    resolve: resolveContentIds,
    get: getDocument,
    graph,
    list: listDocuments,
    list_collections: listCollections,
    list_snapshots: listSnapshots,
    list_sessions: listSessions,
    resume: resumeSession,
    search,
    grepPlaces,
    grepPage,
    status,
    diff,
  });
}
