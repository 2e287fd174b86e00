// The entry point of a store thread, and the table of all handlers by the role of the thread that runs them. To add an
// operation, add a line here. A handler is loaded on its first call, so threads start quickly.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type Call, type Handlers, noMethod, RpcClient, remotesOf, serveRpc } from "@trunkline/core/threads";
import type { PrepareElsewhere } from "./engine/indexing/background.js";
import { closeDatabases, openForIndexing, openForReading, openForWriting } from "./engine/threads/open-databases.js";
import type { Preparers } from "./engine/threads/preparer.js";
import type { WorkerStart } from "./engine/threads/store-worker.js";
import type { Databases, ReadEnvironment } from "./engine/threads/thread-context.js";
import { ViewerConnections } from "./engine/threads/viewer-connections.js";
import type { WriteContext } from "./engine/writing/write-queue.js";

/** Readers answer queries, with connections that cannot write. */
const READER = {
  isCurrent: () => import("./engine/threads/open-databases.js").then((module) => module.isCurrent),
  storeId: () => import("./engine/threads/open-databases.js").then((module) => module.readStoreId),
  content: () => import("./documents/bare-content.js").then((module) => module.contentBytes),
  has: () => import("./documents/bare-content.js").then((module) => module.hasContent),
  resolve: () => import("./documents/bare-content.js").then((module) => module.resolveContentIds),
  get: () => import("./documents/get.js").then((module) => module.getDocument),
  list: () => import("./documents/list.js").then((module) => module.listDocuments),
  listCollections: () => import("./documents/overview.js").then((module) => module.listCollections),
  listSnapshots: () => import("./documents/overview.js").then((module) => module.listSnapshots),
  diff: () => import("./documents/diff.js").then((module) => module.diff),
  search: () => import("./search/search.js").then((module) => module.search),
  grepPlaces: () => import("./grep/grep-documents.js").then((module) => module.grepPlaces),
  grepPage: () => import("./grep/grep-documents.js").then((module) => module.grepPage),
  graph: () => import("./graph/graph-query.js").then((module) => module.graph),
  listSessions: () => import("./sessions/stored-sessions.js").then((module) => module.listSessions),
  resume: () => import("./sessions/stored-sessions.js").then((module) => module.resumeSession),
  history: () => import("./maintenance/export-import.js").then((module) => module.readHistory),
  transferState: () => import("./maintenance/transfer-state.js").then((module) => module.readState),
  replayed: () => import("./maintenance/export-import.js").then((module) => module.replayedEvents),
  status: () => import("./maintenance/status.js").then((module) => module.status),
  // Reads the store, and writes only elsewhere.
  restore: () => import("./documents/embedded-restore.js").then((module) => module.restore),
};

/** Movers do long-running work. Their connections cannot write either; they send changes to the writer. */
const MOVER = {
  put: () => import("./documents/bare-content.js").then((module) => module.putContent),
  add: () => import("./documents/embedded-target.js").then((module) => module.add),
  download: () => import("./documents/embedded-target.js").then((module) => module.download),
  takeChanges: () => import("./sessions/take-changes.js").then((module) => module.takeChanges),
  gc: () => import("./maintenance/gc.js").then((module) => module.gc),
  verify: () => import("./maintenance/verify.js").then((module) => module.verify),
  repair: () => import("./maintenance/repair.js").then((module) => module.repair),
  export: () => import("./maintenance/export-import.js").then((module) => module.exportStore),
  import: () => import("./maintenance/export-import.js").then((module) => module.importStore),
};

/** Changes to the content database, made by the only writer of a process, in order of arrival. */
const WRITES = {
  addDocuments: () => import("./engine/writing/store-content.js").then((module) => module.addDocuments),
  putContent: () => import("./engine/writing/store-content.js").then((module) => module.putBareContent),
  appendUpload: () => import("./engine/writing/store-content.js").then((module) => module.appendUpload),
  removeDocuments: () => import("./documents/change.js").then((module) => module.removeDocuments),
  rememberRoot: () => import("./documents/change.js").then((module) => module.rememberRoot),
  snapshot: () => import("./documents/change.js").then((module) => module.takeSnapshot),
  update: () => import("./documents/change.js").then((module) => module.updateDocuments),
  delete: () => import("./documents/change.js").then((module) => module.deleteDocuments),
  undelete: () => import("./documents/change.js").then((module) => module.undeleteDocument),
  start: () => import("./sessions/stored-sessions.js").then((module) => module.startSession),
  stop: () => import("./sessions/stored-sessions.js").then((module) => module.stopSession),
  pin: () => import("./sessions/stored-sessions.js").then((module) => module.pinContent),
  unpin: () => import("./sessions/stored-sessions.js").then((module) => module.unpinContent),
  gcStep: () => import("./maintenance/gc.js").then((module) => module.gcStep),
  replaceChunk: () => import("./maintenance/repair.js").then((module) => module.replaceChunk),
  importContents: () => import("./maintenance/export-import.js").then((module) => module.importContentBatch),
  takeState: () => import("./maintenance/transfer-state.js").then((module) => module.takeState),
  replay: () => import("./maintenance/export-import.js").then((module) => module.replayEvents),
  importEvents: () => import("./maintenance/export-import.js").then((module) => module.importEventBatch),
};

/** The writer's other tasks: work on the databases as a whole. */
const UPKEEP = {
  ready: () => import("./engine/indexing/catch-up.js").then((module) => module.makeReady),
  shrink: () => import("./maintenance/gc.js").then((module) => module.shrink),
  checkIndexers: () => import("./maintenance/verify.js").then((module) => module.checkIndexers),
  rebuild: () => import("./maintenance/repair.js").then((module) => module.rebuild),
};

/** Indexer threads do the indexing that writes have deferred, in the background. */
const INDEXER = {
  needsOwnThread: () => import("./engine/indexing/background.js").then((module) => module.needsOwnThread),
  run: () => import("./engine/indexing/background.js").then((module) => module.runBackground),
  nextTexts: () => import("./search/embedding-queue.js").then((module) => module.nextTexts),
  keepVectors: () => import("./search/embedding-queue.js").then((module) => module.keepVectors),
};

/** Preparers compute what an indexer thread writes. */
const PREPARER = {
  prepare: () => import("./engine/threads/preparer.js").then((module) => module.prepare),
};

type Loaded<T extends Record<string, () => Promise<unknown>>> = { [M in keyof T]: Awaited<ReturnType<T[M]>> };

/** The handlers of each role. */
export interface StoreHandlers {
  readonly reader: Loaded<typeof READER>;
  readonly mover: Loaded<typeof MOVER>;
  readonly writer: Loaded<typeof WRITES & typeof UPKEEP>;
  readonly indexer: Loaded<typeof INDEXER>;
}

type Write = (context: WriteContext, params: never) => unknown;

const MOST_PREPARERS = 2;
const OWNER = "store";

interface Opened {
  readonly handlers: Handlers;
  readonly databases: Databases;
  /** Ends everything the thread has started. */
  close?(): Promise<void>;
}

if (parentPort !== null) start(parentPort, workerData as WorkerStart);

function start(parent: MessagePort, data: WorkerStart): void {
  let opening: Promise<Opened> | undefined;
  // The first call opens the databases and reports any failure; the next call tries again.
  const opened = () => {
    opening ??= open(data).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const find = (method: string) => async (params: never, call: Call) => {
    const { handlers } = await opened();
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    if (handler === undefined) throw noMethod(OWNER, method);
    call.check();
    return await handler(params, call);
  };
  const control: Handlers = {
    connect: ({ port, flags }: { port: MessagePort; flags: SharedArrayBuffer }) =>
      serveRpc(port, find, { owner: OWNER, flags }),
    end: () => end(parent, data, opening),
  };
  serveRpc(parent, (method) => (Object.hasOwn(control, method) ? control[method] : find(method)), {
    owner: OWNER,
    flags: data.flags,
  });
}

/** The last connection to close checkpoints the write-ahead log into the database. */
async function end(parent: MessagePort, data: WorkerStart, opening: Promise<Opened> | undefined): Promise<void> {
  const opened = await opening?.catch(() => undefined);
  const closing = opened?.close?.();
  if (opened !== undefined) closeDatabases(data.folder, opened.databases);
  await closing;
  if (data.role === "mover") data.writer.port.close();
  parent.close();
}

async function open(data: WorkerStart): Promise<Opened> {
  const { folder, role } = data;
  const { indexers } = await import("./indexers.js");
  switch (role) {
    case "writer": {
      const { WriteQueue } = await import("./engine/writing/write-queue.js");
      // Load all handlers now: otherwise the next call could overtake one whose handler is still loading.
      const loading = Object.entries(WRITES).map(async ([name, load]) => [name, await load()] as const);
      const writes: (readonly [string, Write])[] = await Promise.all(loading);
      const databases = openForWriting(folder, indexers);
      const queue = new WriteQueue(databases);
      const queued = writes.map(([name, write]) => [
        name,
        (params: never, call: Call) => queue.submit((context) => write(context, params), call.check),
      ]);
      return { databases, handlers: { ...Object.fromEntries(queued), ...bind(databases, UPKEEP) } };
    }
    case "indexer": {
      const databases = openForIndexing(folder, indexers);
      let preparers: Promise<Preparers> | undefined;
      const prepareElsewhere: PrepareElsewhere = async (indexer, range, signal) => {
        preparers ??= import("./engine/threads/preparer.js").then(
          (module) => new module.Preparers(new URL("./store-thread.js", import.meta.url), folder, MOST_PREPARERS),
        );
        return await (await preparers).prepare({ indexer, range }, signal);
      };
      const close = async () => await (await preparers)?.close();
      return { databases, handlers: bind({ ...databases, prepareElsewhere }, INDEXER), close };
    }
    case "preparer": {
      const databases = openForReading(folder, indexers);
      return { databases, handlers: bind(databases, PREPARER) };
    }
    case "reader": {
      const databases = openForReading(folder, indexers);
      return reading({ folder, ...databases, graph: databases.index }, READER);
    }
    case "mover": {
      const databases = openForReading(folder, indexers);
      const rpc = new RpcClient(data.writer.port, { owner: OWNER, flags: data.writer.flags });
      const writer = remotesOf<StoreHandlers["writer"]>(rpc.call.bind(rpc));
      return reading({ folder, ...databases, graph: databases.index, writer }, MOVER);
    }
  }
}

/** Binds handlers that read: a call for a viewer gets connections that show only what the viewer can see. */
function reading<E extends ReadEnvironment>(
  env: E,
  table: Record<string, () => Promise<(env: E, params: never, call: Call) => unknown>>,
): Opened {
  const viewers = new ViewerConnections(env.folder);
  const bound = Object.entries(table).map(([name, load]) => [
    name,
    async (params: never, call: Call) => {
      const handler = await load();
      if (call.viewer === undefined) return await handler(env, params, call);
      return await viewers.use(call.viewer, async (own) => await handler({ ...env, ...own }, params, call));
    },
  ]);
  return { databases: env, handlers: Object.fromEntries(bound), close: async () => viewers.close() };
}

/** Binds handlers to the environment of this thread and loads them on their first call. */
function bind<E>(
  env: E,
  table: Record<string, () => Promise<(env: E, params: never, call: Call) => unknown>>,
): Handlers {
  const bound = Object.entries(table).map(([name, load]) => [
    name,
    async (params: never, call: Call) => (await load())(env, params, call),
  ]);
  return Object.fromEntries(bound);
}
