// What all views of an open store share: the database, threads, caches and background work.
import type { Logger } from "@trunkline/core";
import type { Handlers } from "@trunkline/core/threads";
import type { ClientSessions, Embedding, GuardedPaths } from "@trunkline/store/parts";
import type { Database } from "./database/sql.js";
import { resumeSession, startSession, stopSession } from "./documents/pg-sessions.js";
import { documentQuestions, PostgresWrites } from "./documents/pg-writes.js";
import { PostgresGrep } from "./grep/pg-grep.js";
import { WorkQueue } from "./indexing/work-queue.js";
import { JournalTable } from "./maintenance/journal-table.js";
import type { WordCounts } from "./search/entry-writes.js";
import { PassageVectors } from "./search/passage-vectors.js";
import { SearchCache } from "./search/pg-search.js";
import { DocumentFeed } from "./team/document-feed.js";
import { StoreThreads } from "./thread/store-threads.js";
import type { OpenEmbedded } from "./transfer/export-files.js";

export interface StoreParts {
  readonly cwd: string;
  readonly guarded: GuardedPaths;
  readonly logger: Logger;
  readonly id: string;
  /** For unfinished downloads of this gateway. */
  readonly folder: string;
  readonly openEmbedded: OpenEmbedded | undefined;
}

/** What all views of a store share. */
export interface Engine extends Omit<StoreParts, "cwd" | "guarded"> {
  readonly database: Database;
  readonly threads: StoreThreads;
  readonly writes: PostgresWrites;
  readonly cache: SearchCache;
  readonly vectors: PassageVectors;
  readonly work: WorkQueue;
  readonly count: WordCounts["count"];
  readonly grep: PostgresGrep;
  readonly feed: DocumentFeed;
  readonly journal: JournalTable;
  embedding: Embedding | undefined;
  stopListening: (() => Promise<void>) | undefined;
  isClosed: boolean;
}

export function makeEngine(database: Database, { id, logger, folder, openEmbedded }: StoreParts): Engine {
  const count: WordCounts["count"] = (bytes) => threads.texts.countWords({ bytes });
  const writes = new PostgresWrites(database, count);
  const threads = new StoreThreads({ folder, logger, store: storeSide(database, writes) });
  const work = new WorkQueue(database, { threads, logger });
  const engine: Engine = {
    ...{ id, logger, folder, openEmbedded, database, threads, writes, count, work },
    cache: new SearchCache(),
    vectors: new PassageVectors(),
    grep: new PostgresGrep(database),
    feed: new DocumentFeed(database, logger),
    journal: new JournalTable(database),
    embedding: undefined,
    stopListening: undefined,
    isClosed: false,
  };
  work.onDone = () => engine.embedding?.wake();
  return engine;
}

/** Answers the threads that read files. */
function storeSide(database: Database, writes: PostgresWrites): Handlers {
  const questions = documentQuestions(database);
  const asked = Object.entries(questions).map(([name, answer]) => [
    name,
    // The thread passes the parameters of the same method.
    (params: readonly unknown[]) => (answer as (...values: readonly unknown[]) => unknown)(...params),
  ]);
  const changes: Handlers = {
    addDocuments: (batch: Parameters<PostgresWrites["addDocuments"]>[0], { signal }) =>
      writes.addDocuments(batch, { signal }),
    appendUpload: (part: Parameters<PostgresWrites["appendUpload"]>[0], { signal }) =>
      writes.appendUpload(part, { signal }),
    removeDocuments: (params: Parameters<PostgresWrites["removeDocuments"]>[0]) => writes.removeDocuments(params),
    rememberRoot: (params: Parameters<PostgresWrites["rememberRoot"]>[0]) => writes.rememberRoot(params),
    snapshot: (params: Parameters<PostgresWrites["snapshot"]>[0]) => writes.snapshot(params),
  };
  return { ...(Object.fromEntries(asked) as Handlers), ...changes };
}

/** Sessions are shared code; these are the calls it makes. */
export function sessionCalls({ database, threads }: Engine): ConstructorParameters<typeof ClientSessions>[0] {
  return {
    reader: {
      resume: (params, { signal, viewer } = {}) =>
        database.read({ signal, viewer }, (sql) => resumeSession(sql, params)),
    },
    writer: {
      start: (params, { signal } = {}) => database.write({ signal }, (sql) => startSession(sql, params)),
      stop: (params, { signal } = {}) => database.write({ signal }, (sql) => stopSession(sql, params)),
    },
    mover: { takeChanges: (params, options) => threads.files.takeChanges(params, options) },
  };
}

/** Runs every step, even if one fails. */
export async function closeEngine(engine: Engine): Promise<void> {
  const steps = [
    () => engine.stopListening?.(),
    () => engine.feed.close(),
    () => engine.embedding?.close(),
    () => engine.work.close(),
    () => engine.grep.close(),
    () => engine.threads.close(),
    () => engine.database.driver.close(),
  ];
  let failure: { error: unknown } | undefined;
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
}
