// The public store: an asynchronous facade on the main thread. All file and database work happens in workers.
import { resolve } from "node:path";
import { atMost, type ContentId, type Embedder, type Logger, parseContentId, TrunklineError } from "@trunkline/core";
import type { RpcOptions } from "@trunkline/core/threads";
import type {
  AddParams,
  AddResult,
  DeleteParams,
  DeleteResult,
  DiffParams,
  DiffResult,
  DownloadParams,
  DownloadResult,
  ExportResult,
  FilterParams,
  GcResult,
  GetParams,
  GetResult,
  GraphParams,
  GraphResult,
  GrepParams,
  GrepResult,
  ImportResult,
  ListCollectionsResult,
  ListParams,
  ListResult,
  ListSessionsResult,
  ListSnapshotsResult,
  OperationParams,
  PinParams,
  PinResult,
  RepairResult,
  RestoreParams,
  RestoreResult,
  SearchParams,
  SearchPathsResult,
  SearchResult,
  SessionStarted,
  SessionSummary,
  SnapshotInfo,
  StatusParams,
  StatusResult,
  StoreCallOptions,
  StoreMethods,
  UndeleteResult,
  UpdateParams,
  VerifyResult,
  WatchParams,
} from "./contract/index.js";
import { requireParams } from "./contract/require-params.js";
import type { GuardedPaths } from "./engine/files/guard.js";
import { storedCollection, type Viewer, viewerOf } from "./engine/sqlite/visibility.js";
import type { ThreadPool } from "./engine/threads/thread-pool.js";
import { SETTLE_MS } from "./graph/graph-params.js";
import type { GrepCallOptions } from "./grep/index.js";
import { StoreGrep } from "./grep/store-grep.js";
import type { PlacedState, Replay, TransferEvent, TransferState, TransferStore } from "./maintenance/copy-store.js";
import { Embedding, type QueryVector } from "./search/embedding.js";
import { ClientSessions } from "./sessions/client-sessions.js";
import type { StoreHandlers } from "./store-thread.js";

/** The threads of a store and their handlers. */
export type StoreThreads = ThreadPool<StoreHandlers>;

interface StoreParts {
  readonly cwd: string;
  /** Why the store cannot be changed. */
  readonly refusal: TrunklineError | undefined;
  readonly logger: Logger;
  readonly folder: string;
  readonly guarded: GuardedPaths;
  readonly id: string;
  readonly idleMs?: number;
}

/** How often a search tries to see the index up to date while other processes keep writing. */
const MOST_ATTEMPTS = 20;

/** What all views of a store share. */
interface StoreEngine {
  readonly pool: StoreThreads;
  readonly logger: Logger;
  readonly folder: string;
  readonly refusal: TrunklineError | undefined;
  readonly idleMs: number | undefined;
  /** Created when the first model is set. */
  embedding: Embedding | undefined;
  /** Created by the first grep. */
  grep: StoreGrep | undefined;
  isClosed: boolean;
}

/** An open store: the operations of the contract as methods, and access to content by hash. */
export class Store implements StoreMethods, TransferStore, AsyncDisposable {
  /** The id that the store got when it was created. */
  readonly id: string;
  readonly #engine: StoreEngine;
  readonly #isView: boolean;
  readonly #cwd: string;
  readonly #guarded: GuardedPaths;
  readonly #sessions: ClientSessions;
  #isClosed = false;

  /** @internal Use {@link openStore}. */
  constructor(pool: StoreThreads, options: StoreParts, engine?: StoreEngine) {
    const { cwd, refusal, logger, folder, guarded, id, idleMs } = options;
    this.id = id;
    this.#cwd = cwd;
    this.#guarded = guarded;
    this.#sessions = new ClientSessions(pool, { logger, folder, guarded });
    this.#isView = engine !== undefined;
    const parts = { pool, logger, folder, refusal, idleMs };
    const own = engine ?? { ...parts, embedding: undefined, grep: undefined, isClosed: false };
    this.#engine = own;
    if (engine === undefined) pool.onChange = () => own.embedding?.wake();
  }

  /**
   * Returns this store for another folder: with its own base for relative paths, its own guarded paths and its own
   * sessions, but with the same threads, caches and model. Closing it stops its watchers; close the store itself last.
   */
  from(cwd: string, guarded: GuardedPaths = {}): Store {
    const absolute = (paths: readonly string[] | undefined) => paths?.map((each) => resolve(cwd, each));
    const { pool, logger, folder, refusal } = this.#engine;
    const own = { ownFolders: absolute(guarded.ownFolders), unwritable: absolute(guarded.unwritable) };
    return new Store(pool, { cwd, refusal, logger, folder, guarded: own, id: this.id }, this.#engine);
  }

  /** Stores bytes without a document. They are kept for seven days after the last put. */
  async put(bytes: Uint8Array, options: StoreCallOptions = {}): Promise<ContentId> {
    this.#mayWrite();
    return await this.#engine.pool.mover.put({ bytes }, unrestricted(options));
  }

  /** Returns all or part of a content's bytes, verified against their hashes. */
  async bytes(id: ContentId, options: StoreCallOptions & { start?: number; end?: number } = {}): Promise<Uint8Array> {
    const { start, end } = options;
    return await this.#engine.pool.reader.content({ id: parseContentId(id), start, end }, rpc(options));
  }

  /** Whether the store has this content. */
  async has(id: ContentId, options: StoreCallOptions = {}): Promise<boolean> {
    return await this.#engine.pool.reader.has({ id: parseContentId(id) }, rpc(options));
  }

  /** Returns every content id that starts with these digits, sorted. */
  async resolve(prefix: string, options: StoreCallOptions = {}): Promise<readonly ContentId[]> {
    return await this.#engine.pool.reader.resolve({ prefix }, rpc(options));
  }

  /** Adds a file, a folder or inline content. A file whose content is already stored adds a document, not the bytes. */
  async add(params: AddParams, options: StoreCallOptions = {}): Promise<AddResult> {
    requireParams("add", params);
    this.#mayWrite();
    const { path, paths, content, ...rest } = params;
    const given = [path, paths, content].filter((value) => value !== undefined).length;
    if (given !== 1) throw new TrunklineError("INVALID_ARGUMENT", "add needs exactly one of path, paths and content.");
    const files = path === undefined ? paths : [path];
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const resolved = {
      ...rest,
      collection: stored(rest.collection, options),
      paths: files?.map((file) => resolve(this.#cwd, file)),
      content: bytes,
      session: this.#sessions.current(options),
      limits: options.limits,
      guarded: this.#guarded,
    };
    return await this.#engine.pool.mover.add(resolved, unrestricted(options));
  }

  /** Lists documents, filtered and sorted. */
  async list(params: ListParams = {}, options: StoreCallOptions = {}): Promise<ListResult> {
    requireParams("list", params);
    return await this.#engine.pool.reader.list(this.#filters(params, options), rpc(options));
  }

  /** Returns one document: its fields, its versions and, with `includeContent`, all or part of its content. */
  async get(params: GetParams, options: StoreCallOptions = {}): Promise<GetResult> {
    requireParams("get", params);
    const { limits } = options;
    const absolute = this.#absolute(params.path);
    const { outputPath } = params;
    const output = outputPath === undefined ? {} : { outputPath: resolve(this.#cwd, outputPath) };
    return await this.#engine.pool.reader.get({ ...params, ...output, absolute, limits }, rpc(options));
  }

  /** Returns what is in the graph so far, after a short wait for new documents. {@link indexed} waits until it is complete. */
  async graph(params: GraphParams, options: StoreCallOptions = {}): Promise<GraphResult> {
    requireParams("graph", params);
    await atMost(SETTLE_MS, this.#engine.pool.indexed(), options.signal);
    return await this.#engine.pool.reader.graph({ ...params, absolute: this.#absolute(params.name) }, rpc(options));
  }

  /** Finds documents by words and, with an embedder, by meaning. Changes of the last moments are found after {@link indexed}. */
  async search(
    params: SearchParams & { readonly pathsOnly?: false },
    options?: StoreCallOptions,
  ): Promise<SearchResult>;
  async search(params: SearchParams, options?: StoreCallOptions): Promise<SearchResult | SearchPathsResult>;
  async search(params: SearchParams, options: StoreCallOptions = {}): Promise<SearchResult | SearchPathsResult> {
    requireParams("search", params);
    const byMeaning = params.type !== "keyword" && params.hash === undefined;
    const embedded = byMeaning ? await this.#queryVector(params.query, options.signal) : undefined;
    const resolved = { ...this.#filters(params, options), pins: this.#sessions.current(options), embedded };
    for (let attempt = 1; ; attempt++) {
      const acceptStale = this.#engine.refusal !== undefined || attempt === MOST_ATTEMPTS;
      const found = await this.#engine.pool.reader.search({ ...resolved, acceptStale }, rpc(options));
      if (!("behind" in found)) return found;
      // A writer was killed between storing a change and indexing it, or is at that point just now.
      await this.#engine.pool.writer.ready({}, rpc(options));
    }
  }

  /** Returns a complete result, or a `truncated` one with a cursor. A slow pattern does not block other calls. */
  async grep(params: GrepParams, options: StoreCallOptions & GrepCallOptions = {}): Promise<GrepResult> {
    requireParams("grep", params);
    const { signal, onMatches } = options;
    const engine = this.#engine;
    if (this.#isClosed || engine.isClosed) throw new TrunklineError("CLOSED", "The store has been closed.");
    engine.grep ??= new StoreGrep(engine.pool.reader, engine);
    const viewer = viewerOf(options.principal);
    return await engine.grep.run(this.#filters(params, options), { cwd: this.#cwd, signal, onMatches, viewer });
  }

  /** Changes the tags and metadata of documents. */
  async update(params: UpdateParams, options: StoreCallOptions = {}): Promise<{ matched: number }> {
    requireParams("update", params);
    this.#mayWrite();
    const absolute = this.#absolute(params.name);
    return await this.#engine.pool.writer.update({ ...(await this.#owned(params, options)), absolute }, rpc(options));
  }

  /** Moves documents to the trash; {@link undelete} restores them. */
  async delete(params: DeleteParams, options: StoreCallOptions = {}): Promise<DeleteResult> {
    requireParams("delete", params);
    this.#mayWrite();
    const names = [...(params.name === undefined ? [] : [params.name]), ...(params.names ?? [])];
    const absolutes = names.map((name) => this.#absolute(name));
    const session = this.#sessions.current(options);
    const own = await this.#owned(params, options);
    return await this.#engine.pool.writer.delete({ ...own, absolutes, session }, rpc(options));
  }

  /** Restores deleted documents from the trash. */
  async undelete(params: OperationParams<"undelete">, options: StoreCallOptions = {}): Promise<UndeleteResult> {
    requireParams("undelete", params);
    this.#mayWrite();
    const absolute = this.#absolute(params.name);
    return await this.#engine.pool.writer.undelete({ ...(await this.#owned(params, options)), absolute }, rpc(options));
  }

  /** Takes a snapshot of a collection. */
  async snapshot(params: OperationParams<"snapshot"> = {}, options: StoreCallOptions = {}): Promise<SnapshotInfo> {
    requireParams("snapshot", params);
    this.#mayWrite();
    const own = { ...params, collection: stored(params.collection, options) };
    return await this.#engine.pool.writer.snapshot(own, rpc(options));
  }

  /** Lists snapshots, newest first. */
  async listSnapshots(
    params: OperationParams<"list_snapshots"> = {},
    options: StoreCallOptions = {},
  ): Promise<ListSnapshotsResult> {
    requireParams("list_snapshots", params);
    return await this.#engine.pool.reader.listSnapshots(params, rpc(options));
  }

  /** Lists collections with their counts. */
  async listCollections(
    _params: Record<string, never> = {},
    options: StoreCallOptions = {},
  ): Promise<ListCollectionsResult> {
    return await this.#engine.pool.reader.listCollections(undefined as never, rpc(options));
  }

  /** Returns what changed between two snapshots, or in one document. */
  async diff(params: DiffParams, options: StoreCallOptions = {}): Promise<DiffResult> {
    requireParams("diff", params);
    return await this.#engine.pool.reader.diff({ ...params, absolute: this.#absolute(params.path) }, rpc(options));
  }

  /** Writes a collection or snapshot to a folder. */
  async restore(params: RestoreParams, options: StoreCallOptions = {}): Promise<RestoreResult> {
    requireParams("restore", params);
    const outputDirectory = resolve(this.#cwd, params.outputDirectory);
    const resolved = { ...params, outputDirectory, limits: options.limits, guarded: this.#guarded };
    return await this.#engine.pool.reader.restore(resolved, rpc(options));
  }

  /** `onProgress` counts bytes. Private addresses are rejected unless the options allow them. */
  async download(params: DownloadParams, options: StoreCallOptions = {}): Promise<DownloadResult> {
    requireParams("download", params);
    this.#mayWrite();
    const allowPrivate = options.allowPrivateAddresses ?? false;
    const session = this.#sessions.current(options);
    const resolved = { ...params, collection: stored(params.collection, options), allowPrivate, session };
    return await this.#engine.pool.mover.download(resolved, unrestricted(options));
  }

  /** Starts a session for the client. Stops its previous open session first. */
  async start(params: OperationParams<"start"> = {}, options: StoreCallOptions = {}): Promise<SessionStarted> {
    requireParams("start", params);
    this.#mayWrite();
    return await this.#sessions.start(params, options);
  }

  /** Makes an open session, possibly from an earlier process, the client's current one. Stops its previous session. */
  async resume(params: OperationParams<"resume">, options: StoreCallOptions = {}): Promise<SessionStarted> {
    requireParams("resume", params);
    this.#mayWrite();
    return await this.#sessions.resume(params.sessionId, options);
  }

  /** Lists sessions of all clients and processes, newest first. `open`: only open ones. */
  async listSessions(
    params: OperationParams<"list_sessions"> = {},
    options: StoreCallOptions = {},
  ): Promise<ListSessionsResult> {
    requireParams("list_sessions", params);
    return await this.#engine.pool.reader.listSessions(params, rpc(options));
  }

  /** Stops the client's session and its watchers after indexing all detected changes. */
  async stop(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<SessionSummary> {
    return await this.#sessions.stop(options);
  }

  /** Protects content from {@link gc}, and ranks it first in the session's searches. */
  async pin(params: PinParams, options: StoreCallOptions = {}): Promise<PinResult> {
    requireParams("pin", params);
    return await this.#engine.pool.writer.pin(await this.#pinParams(params, options), rpc(options));
  }

  /** Removes a pin. */
  async unpin(params: PinParams, options: StoreCallOptions = {}): Promise<PinResult> {
    requireParams("unpin", params);
    return await this.#engine.pool.writer.unpin(await this.#pinParams(params, options), rpc(options));
  }

  /** Indexes changed files until the session stops. Calls `onProgress` after every indexed burst. */
  async watch(params: WatchParams, options: StoreCallOptions = {}): Promise<{ watching: readonly string[] }> {
    requireParams("watch", params);
    this.#mayWrite();
    const paths = params.paths.map((path) => resolve(this.#cwd, path));
    return await this.#sessions.watch({ ...params, paths }, options);
  }

  /**
   * Reports the path of every document that a watcher has indexed or found missing, until the returned function is
   * called.
   */
  onDocumentChanged(listener: (path: string) => void): () => void {
    return this.#sessions.onChanged(listener);
  }

  /** Checks every chunk, reference and index. Reports damage in the result instead of rejecting. */
  async verify(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<VerifyResult> {
    return await this.#engine.pool.mover.verify({}, rpc(options));
  }

  /** Empties the trash and removes unreferenced data. */
  async gc(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<GcResult> {
    this.#mayWrite();
    return await this.#engine.pool.mover.gc({}, rpc(options));
  }

  /** Rebuilds the indexes and repairs damaged chunks from files that still have them. */
  async repair(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<RepairResult> {
    this.#mayWrite();
    return await this.#engine.pool.mover.repair({}, rpc(options));
  }

  /** Writes the current state of the whole store to one file. */
  async export(params: OperationParams<"export">, options: StoreCallOptions = {}): Promise<ExportResult> {
    requireParams("export", params);
    const path = resolve(this.#cwd, params.path);
    return await this.#engine.pool.mover.export({ ...params, path }, rpc(options));
  }

  /** Replays the history of an export into this store. */
  async import(params: OperationParams<"import">, options: StoreCallOptions = {}): Promise<ImportResult> {
    requireParams("import", params);
    this.#mayWrite();
    return await this.#engine.pool.mover.import({ path: resolve(this.#cwd, params.path) }, rpc(options));
  }

  /** Returns all changes of documents, in order, for a copy into another store. */
  async history(): Promise<readonly TransferEvent[]> {
    return await this.#engine.pool.reader.history(undefined as never);
  }

  /** Returns what the store has besides its history, for a copy. */
  async transferState(): Promise<PlacedState> {
    return await this.#engine.pool.reader.transferState(undefined as never);
  }

  /** Takes over the state of another store. Its documents and contents must be stored. */
  async takeState(state: TransferState): Promise<void> {
    this.#mayWrite();
    await this.#engine.pool.writer.takeState(state);
  }

  /** Returns the place up to which a copy has replayed the history of another store here; 0 for none of it. */
  async replayed(from: string): Promise<number> {
    return await this.#engine.pool.reader.replayed({ from });
  }

  /** Replays events of another store. Their contents must be stored. */
  async replay(replay: Replay): Promise<void> {
    this.#mayWrite();
    await this.#engine.pool.writer.replay(replay);
  }

  /** Returns the size of the store. */
  async status(params: StatusParams = {}, options: StoreCallOptions = {}): Promise<StatusResult> {
    requireParams("status", params);
    return await this.#engine.pool.reader.status(params, rpc(options));
  }

  /**
   * Changes the embedding model. Everything is embedded again in the background. The previous model keeps answering
   * until the new one has processed everything, so close the previous one only after {@link indexed}.
   */
  useEmbedder(embedder: Embedder): void {
    const engine = this.#engine;
    if (engine.isClosed) return;
    engine.embedding ??= new Embedding(engine.pool.indexer, {
      logger: engine.logger,
      follow: engine.refusal === undefined,
    });
    engine.embedding.use(embedder);
  }

  /** Resolves when background indexing (patterns, relations, meaning) is complete. */
  async indexed(): Promise<void> {
    const { pool, refusal, embedding } = this.#engine;
    await pool.indexed();
    // Another process may have been killed before it finished.
    if (refusal === undefined && !(await pool.reader.isCurrent({})).current) {
      pool.indexInBackground();
      await pool.indexed();
    }
    await embedding?.idle();
  }

  /** Ends the threads. Acknowledged writes are on disk. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const engine = this.#engine;
    if (!this.#isView) engine.isClosed = true;
    try {
      await this.#sessions.close();
    } finally {
      if (!this.#isView) {
        try {
          await engine.embedding?.close();
        } finally {
          await engine.grep?.close();
          await engine.pool.close();
        }
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #queryVector(query: string, signal: AbortSignal | undefined): Promise<QueryVector> {
    const { embedding } = this.#engine;
    if (embedding !== undefined) return await embedding.queryVector(query, signal);
    return { missing: "no embedding model is available. To search by meaning, run `trunkline models pull`" };
  }

  #mayWrite(): void {
    if (this.#engine.refusal !== undefined) throw this.#engine.refusal;
  }

  #absolute(name: string | undefined): string | undefined {
    return name === undefined ? undefined : resolve(this.#cwd, name);
  }

  async #pinParams(params: PinParams, options: StoreCallOptions) {
    this.#mayWrite();
    return {
      ...(await this.#owned(params, options)),
      absolute: this.#absolute(params.path),
      session: params.session ?? this.#sessions.require(options),
    };
  }

  /**
   * Adapts parameters for the writer, whose connection is not restricted to a viewer: the collection under its stored
   * name, and a hash that a reader has found for this viewer.
   */
  async #owned<P extends { readonly collection?: string; readonly hash?: string }>(
    params: P,
    options: StoreCallOptions,
  ): Promise<P & { readonly viewer: Viewer }> {
    const viewer = viewerOf(options.principal);
    if (viewer === undefined) return { ...params, viewer };
    const own = { ...params, viewer, collection: storedCollection(params.collection, viewer) };
    if (params.hash === undefined) return own;
    const [hash, ...others] = await this.resolve(params.hash, options);
    if (hash === undefined) throw new TrunklineError("NOT_FOUND", `The store has no content "${params.hash}".`);
    if (others.length === 0) return { ...own, hash };
    throw new TrunklineError("AMBIGUOUS", `"${params.hash}" matches ${others.length + 1} contents.`, {
      hint: "Use more digits of the hash.",
    });
  }

  #filters<P extends FilterParams>(
    params: P,
    options: StoreCallOptions,
  ): Omit<P, "session"> & { session: string | undefined } {
    return { ...params, session: this.#sessions.meant(params.session, options) };
  }
}

function rpc({ signal, onProgress, principal }: StoreCallOptions): RpcOptions {
  return { signal, onProgress, viewer: viewerOf(principal) };
}

/** For work that only adds: its parameters already say where. */
function unrestricted({ signal, onProgress }: StoreCallOptions): RpcOptions {
  return { signal, onProgress };
}

function stored(collection: string | undefined, { principal }: StoreCallOptions): string | undefined {
  return storedCollection(collection, viewerOf(principal));
}
