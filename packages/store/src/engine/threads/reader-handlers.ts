// Readers answer, with connections of their own that cannot write.
import { contentBytes, hasContent, resolveContentIds } from "../../documents/bare-content.js";
import { diff } from "../../documents/diff.js";
import { getDocument } from "../../documents/get.js";
import { listDocuments } from "../../documents/list.js";
import { listCollections, listSnapshots } from "../../documents/overview.js";
import { graph } from "../../graph/graph-query.js";
import { grepPage, grepPlaces } from "../../grep/grep-documents.js";
import { status } from "../../maintenance/status.js";
import { search } from "../../search/search.js";
import { listSessions, resumeSession } from "../../sessions/stored-sessions.js";
import { bind } from "./bind.js";
import { isCurrent } from "./open-databases.js";
import type { ReadEnvironment } from "./thread-context.js";

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
    listCollections: listCollections,
    listSnapshots: listSnapshots,
    listSessions: listSessions,
    resume: resumeSession,
    search,
    grepPlaces,
    grepPage,
    status,
    diff,
  });
}
