// The store on PostgreSQL: the operations of the contract as methods, and access to content by hash.
import { resolve } from "node:path";
import { atMost, type ContentId, type Embedder, parseContentId, type Team, TrunklineError } from "@trunkline/core";
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
} from "@trunkline/store/contract";
import {
  ClientSessions,
  Embedding,
  type GrepCallOptions,
  type GuardedPaths,
  type PlacedState,
  type QueryVector,
  RESULTS_KEPT_MS,
  type Replay,
  removeOldPartials,
  requireParams,
  requireRestorable,
  SETTLE_MS,
  storedCollection,
  type TransferEvent,
  type TransferState,
  type TransferStore,
  viewerOf,
} from "@trunkline/store/parts";
import {
  findContent,
  holdOffGc,
  matchingIds,
  readContent,
  resolveContent,
  storeContents,
} from "./contents/pg-contents.js";
import type { Database, Sql } from "./database/sql.js";
import { deleteDocuments, takeSnapshot, undeleteDocument, updateDocuments } from "./documents/pg-changes.js";
import { diff } from "./documents/pg-diff.js";
import { getDocument } from "./documents/pg-get.js";
import { listCollections, listDocuments, listSnapshots } from "./documents/pg-list.js";
import { restoreDocuments } from "./documents/pg-restore.js";
import { listSessions, pinContent, unpinContent } from "./documents/pg-sessions.js";
import { graph, relatedTo } from "./graph/pg-graph.js";
import { PassageQueue } from "./indexing/passage-queue.js";
import type { JournalTable } from "./maintenance/journal-table.js";
import { gc } from "./maintenance/pg-gc.js";
import { status } from "./maintenance/pg-status.js";
import { rebuild, verify } from "./maintenance/pg-verify.js";
import { search } from "./search/pg-search.js";
import { closeEngine, type Engine, makeEngine, type StoreParts, sessionCalls } from "./store-engine.js";
import { PostgresTeam } from "./team/pg-team.js";
import { stateOfStore, takeState } from "./transfer/copied-state.js";
import { exportTo, importFrom } from "./transfer/export-files.js";
import { historyOf, replay, replayed } from "./transfer/history-copy.js";

/** An open store on PostgreSQL. Any number of gateways use one database at the same time. */
export class PostgresStore implements StoreMethods, TransferStore, AsyncDisposable {
  /** The id that the store got when it was created. */
  readonly id: string;
  /** The gateways that work on this store. */
  readonly team: Team;
  readonly #engine: Engine;
  readonly #isView: boolean;
  readonly #cwd: string;
  readonly #guarded: GuardedPaths;
  readonly #sessions: ClientSessions;
  #isClosed = false;

  /** @internal Use {@link openPostgresStore}. */
  constructor(database: Database, parts: StoreParts, engine?: Engine) {
    const { cwd, guarded, logger, folder } = parts;
    this.id = parts.id;
    this.team = new PostgresTeam(database, logger);
    this.#cwd = cwd;
    this.#guarded = guarded;
    this.#isView = engine !== undefined;
    this.#engine = engine ?? makeEngine(database, parts);
    this.#sessions = new ClientSessions(sessionCalls(this.#engine), { logger, folder, guarded });
  }

  /** Returns this store for another folder, with its own sessions. Close the store itself last. */
  from(cwd: string, guarded: GuardedPaths = {}): PostgresStore {
    const absolute = (paths: readonly string[] | undefined) => paths?.map((each) => resolve(cwd, each));
    const own = { ownFolders: absolute(guarded.ownFolders), unwritable: absolute(guarded.unwritable) };
    return new PostgresStore(this.#engine.database, { ...this.#engine, cwd, guarded: own }, this.#engine);
  }

  /** @internal Whether the database finds near vectors itself. */
  usePgvector(isThere: boolean): void {
    this.#engine.vectors.hasPgvector = isThere;
  }

  /** Starts background work, and follows what other gateways leave. */
  async follow(): Promise<void> {
    const { work, database } = this.#engine;
    this.#engine.stopListening = await database.driver.listen("trunkline_work", () => {
      work.wake();
      this.#engine.feed.wake();
    });
    work.wake();
  }

  /** Stores bytes without a document. They are kept for seven days after the last put. */
  async put(bytes: Uint8Array, options: StoreCallOptions = {}): Promise<ContentId> {
    const { threads, database } = this.#engine;
    const { signal } = options;
    const { content, data } = await threads.files.prepare({ bytes }, { signal });
    await database.write({ signal }, async (sql) => {
      await holdOffGc(sql);
      const { ids } = await storeContents(sql, [content], data);
      await sql.run(
        "UPDATE contents SET kept_until = $2 WHERE id = $1",
        ids.get(content.hash),
        Date.now() + RESULTS_KEPT_MS,
      );
    });
    return content.hash as ContentId;
  }

  /** Returns all or part of a content's bytes, verified against their hashes. */
  async bytes(id: ContentId, options: StoreCallOptions & { start?: number; end?: number } = {}): Promise<Uint8Array> {
    const { start, end } = options;
    const hash = parseContentId(id);
    return await this.#read(options, async (sql) => {
      const content = await resolveContent(sql, hash);
      return await readContent(sql, content, { start: start ?? 0, end: end ?? content.size });
    });
  }

  async has(id: ContentId, options: StoreCallOptions = {}): Promise<boolean> {
    const hash = parseContentId(id);
    return await this.#read(options, async (sql) => (await findContent(sql, hash)) !== undefined);
  }

  /** Returns every content id that starts with these digits, sorted. */
  async resolve(prefix: string, options: StoreCallOptions = {}): Promise<readonly ContentId[]> {
    return await this.#read(options, (sql) => matchingIds(sql, prefix, 1000));
  }

  async add(params: AddParams, options: StoreCallOptions = {}): Promise<AddResult> {
    requireParams("add", params);
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
    return await this.#changing(this.#engine.threads.files.add(resolved, rpc(options)));
  }

  async list(params: ListParams = {}, options: StoreCallOptions = {}): Promise<ListResult> {
    requireParams("list", params);
    return await this.#read(options, (sql) => listDocuments(sql, this.#filters(params, options)));
  }

  async get(params: GetParams, options: StoreCallOptions = {}): Promise<GetResult> {
    requireParams("get", params);
    const { outputPath } = params;
    const output = outputPath === undefined ? {} : { outputPath: resolve(this.#cwd, outputPath) };
    const resolved = { ...params, ...output, absolute: this.#absolute(params.path), limits: options.limits };
    return await this.#read(options, (sql) => getDocument(sql, resolved, relatedTo));
  }

  /** Returns what is in the graph so far, after a short wait for new documents. {@link indexed} waits until it is complete. */
  async graph(params: GraphParams, options: StoreCallOptions = {}): Promise<GraphResult> {
    requireParams("graph", params);
    await atMost(SETTLE_MS, this.#engine.work.idle(), options.signal);
    return await this.#read(options, (sql) => graph(sql, { ...params, absolute: this.#absolute(params.name) }));
  }

  async search(
    params: SearchParams & { readonly pathsOnly?: false },
    options?: StoreCallOptions,
  ): Promise<SearchResult>;
  async search(params: SearchParams, options?: StoreCallOptions): Promise<SearchResult | SearchPathsResult>;
  async search(params: SearchParams, options: StoreCallOptions = {}): Promise<SearchResult | SearchPathsResult> {
    requireParams("search", params);
    const isByMeaning = params.type !== "keyword" && params.hash === undefined;
    const embedded = isByMeaning ? await this.#queryVector(params.query, options.signal) : undefined;
    const pins = this.#sessions.current(options);
    const resolved = { ...this.#filters(params, options), pins, embedded, viewer: viewerOf(options.principal) };
    this.#requireOpen();
    return await search(this.#engine, resolved, options.signal);
  }

  /** Returns a complete result, or a `truncated` one with a cursor. */
  async grep(params: GrepParams, options: StoreCallOptions & GrepCallOptions = {}): Promise<GrepResult> {
    requireParams("grep", params);
    this.#requireOpen();
    const { signal, onMatches } = options;
    const viewer = viewerOf(options.principal);
    return await this.#engine.grep.run(this.#filters(params, options), { cwd: this.#cwd, signal, onMatches, viewer });
  }

  async update(params: UpdateParams, options: StoreCallOptions = {}): Promise<{ matched: number }> {
    requireParams("update", params);
    const own = { ...params, absolute: this.#absolute(params.name) };
    return await this.#write(options, (sql) => updateDocuments(sql, own, this.#engine.count));
  }

  async delete(params: DeleteParams, options: StoreCallOptions = {}): Promise<DeleteResult> {
    requireParams("delete", params);
    const names = [...(params.name === undefined ? [] : [params.name]), ...(params.names ?? [])];
    const own = {
      ...params,
      absolutes: names.map((name) => this.#absolute(name)),
      session: this.#sessions.current(options),
    };
    return await this.#write(options, (sql) => deleteDocuments(sql, own, this.#engine.count));
  }

  async undelete(params: OperationParams<"undelete">, options: StoreCallOptions = {}): Promise<UndeleteResult> {
    requireParams("undelete", params);
    const own = { ...params, absolute: this.#absolute(params.name) };
    return await this.#write(options, (sql) => undeleteDocument(sql, own, this.#engine.count));
  }

  async snapshot(params: OperationParams<"snapshot"> = {}, options: StoreCallOptions = {}): Promise<SnapshotInfo> {
    requireParams("snapshot", params);
    const own = { ...params, collection: stored(params.collection, options) };
    return await this.#write({ ...options, principal: undefined }, (sql) => takeSnapshot(sql, own));
  }

  async listSnapshots(
    params: OperationParams<"list_snapshots"> = {},
    options: StoreCallOptions = {},
  ): Promise<ListSnapshotsResult> {
    requireParams("list_snapshots", params);
    return await this.#read(options, (sql) => listSnapshots(sql, params));
  }

  async listCollections(
    _params: Record<string, never> = {},
    options: StoreCallOptions = {},
  ): Promise<ListCollectionsResult> {
    return await this.#read(options, listCollections);
  }

  async diff(params: DiffParams, options: StoreCallOptions = {}): Promise<DiffResult> {
    requireParams("diff", params);
    return await this.#read(options, (sql) => diff(sql, { ...params, absolute: this.#absolute(params.path) }));
  }

  async restore(params: RestoreParams, options: StoreCallOptions = {}): Promise<RestoreResult> {
    requireParams("restore", params);
    requireRestorable(params);
    const outputDirectory = resolve(this.#cwd, params.outputDirectory);
    const resolved = { ...params, outputDirectory, limits: options.limits, guarded: this.#guarded };
    const { folder } = this.#engine;
    return await this.#read(options, (sql) => restoreDocuments(sql, resolved, { ...options, folder }));
  }

  /** `onProgress` counts bytes. Private addresses are rejected unless the options allow them. */
  async download(params: DownloadParams, options: StoreCallOptions = {}): Promise<DownloadResult> {
    requireParams("download", params);
    const allowPrivate = options.allowPrivateAddresses ?? false;
    const session = this.#sessions.current(options);
    const resolved = { ...params, collection: stored(params.collection, options), allowPrivate, session };
    return await this.#changing(this.#engine.threads.files.download(resolved, rpc(options)));
  }

  /** Starts a session for the client. Stops its previous open session first. */
  async start(params: OperationParams<"start"> = {}, options: StoreCallOptions = {}): Promise<SessionStarted> {
    requireParams("start", params);
    return await this.#sessions.start(params, options);
  }

  /** Makes an open session, possibly of another gateway, the client's current one. Stops its previous session. */
  async resume(params: OperationParams<"resume">, options: StoreCallOptions = {}): Promise<SessionStarted> {
    requireParams("resume", params);
    return await this.#sessions.resume(params.sessionId, options);
  }

  async listSessions(
    params: OperationParams<"list_sessions"> = {},
    options: StoreCallOptions = {},
  ): Promise<ListSessionsResult> {
    requireParams("list_sessions", params);
    return await this.#read(options, (sql) => listSessions(sql, params));
  }

  async stop(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<SessionSummary> {
    return await this.#sessions.stop(options);
  }

  async pin(params: PinParams, options: StoreCallOptions = {}): Promise<PinResult> {
    requireParams("pin", params);
    const own = this.#pinParams(params, options);
    return await this.#write(options, (sql) => pinContent(sql, own));
  }

  async unpin(params: PinParams, options: StoreCallOptions = {}): Promise<PinResult> {
    requireParams("unpin", params);
    const own = this.#pinParams(params, options);
    return await this.#write(options, (sql) => unpinContent(sql, own));
  }

  /** Indexes changed files of this machine until the session stops. */
  async watch(params: WatchParams, options: StoreCallOptions = {}): Promise<{ watching: readonly string[] }> {
    requireParams("watch", params);
    const paths = params.paths.map((path) => resolve(this.#cwd, path));
    return await this.#sessions.watch({ ...params, paths }, options);
  }

  /** Reports the path of every document that a watcher of this gateway has indexed or found missing. */
  onDocumentChanged(listener: (path: string) => void): () => void {
    return this.#sessions.onChanged(listener);
  }

  /** Reports the path of every document that any gateway changes, until the returned function is called. */
  async followDocuments(listener: (path: string) => void): Promise<() => void> {
    this.#requireOpen();
    return await this.#engine.feed.follow(listener);
  }

  /** Checks every chunk, reference and index. Reports damage in the result instead of rejecting. */
  async verify(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<VerifyResult> {
    return await verify(this.#engine.database, options);
  }

  /** Empties the trash and removes unreferenced data. */
  async gc(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<GcResult> {
    const { signal, onProgress } = options;
    const result = await gc(this.#engine.database, { signal, onStep: (steps) => onProgress?.({ progress: steps }) });
    removeOldPartials(this.#engine.folder, Date.now());
    return result;
  }

  /** Builds the index again. */
  async repair(_params: Record<string, never> = {}, options: StoreCallOptions = {}): Promise<RepairResult> {
    options.signal?.throwIfAborted();
    return await this.#changing(rebuild(this.#engine.database, this.#engine.count));
  }

  /** Writes the current state of the whole store to one file that either engine imports. */
  async export(params: OperationParams<"export">, options: StoreCallOptions = {}): Promise<ExportResult> {
    requireParams("export", params);
    const path = resolve(this.#cwd, params.path);
    return await exportTo(this, this.#engine.openEmbedded, {
      path,
      overwrite: params.overwrite,
      signal: options.signal,
    });
  }

  /** Replays the history of an export into this store. */
  async import(params: OperationParams<"import">, options: StoreCallOptions = {}): Promise<ImportResult> {
    requireParams("import", params);
    return await this.#changing(
      importFrom(this, this.#engine.openEmbedded, { path: resolve(this.#cwd, params.path), signal: options.signal }),
    );
  }

  async status(params: StatusParams = {}, options: StoreCallOptions = {}): Promise<StatusResult> {
    requireParams("status", params);
    return await this.#read({ ...options, principal: undefined }, (sql) =>
      status(sql, params, this.#engine.database.driver.place),
    );
  }

  /** Figures for operators. The connections are those of this gateway. */
  async figures(options: StoreCallOptions = {}): Promise<{
    waitingJobs: number;
    connections: { used: number; idle: number; waiting: number };
  }> {
    const { waitingJobs } = await this.#read(options, (sql) =>
      sql.one<{ waitingJobs: number }>('SELECT count(*) AS "waitingJobs" FROM jobs'),
    );
    return { waitingJobs, connections: this.#engine.database.driver.connections() };
  }

  /** Changes the embedding model. Everything is embedded again in the background. */
  useEmbedder(embedder: Embedder): void {
    const engine = this.#engine;
    if (engine.isClosed) return;
    engine.embedding ??= new Embedding(new PassageQueue(engine.database, engine), {
      logger: engine.logger,
      follow: true,
    });
    engine.embedding.use(embedder);
  }

  /** Resolves when background indexing (patterns, relations, meaning) is complete. */
  async indexed(): Promise<void> {
    await this.#engine.work.idle();
    this.#engine.embedding?.wake();
    await this.#engine.embedding?.idle();
  }

  /** Ends the threads and connections. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const engine = this.#engine;
    const isOwner = !this.#isView && !engine.isClosed;
    if (isOwner) engine.isClosed = true;
    await this.#sessions.close();
    if (!isOwner) return;
    await closeEngine(engine);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns the journal of all gateways that use this database. */
  journalLines(): JournalTable {
    return this.#engine.journal;
  }

  /** Returns all changes of documents, in order, for a copy into another store. */
  async history(): Promise<readonly TransferEvent[]> {
    return await historyOf(this.#engine.database);
  }

  /** Returns what the store has besides its history, for a copy. */
  async transferState(): Promise<PlacedState> {
    return await stateOfStore(this.#engine.database);
  }

  /** Takes over the state of another store. Its documents and contents must be stored. */
  async takeState(state: TransferState): Promise<void> {
    await this.#changing(takeState(this.#engine.database, state, this.#engine.count));
  }

  /** Returns the place up to which a copy has replayed the history of another store here; 0 for none of it. */
  async replayed(from: string): Promise<number> {
    return await replayed(this.#engine.database, from);
  }

  /** Replays events of another store. Their contents must be stored. */
  async replay(events: Replay): Promise<void> {
    await this.#changing(replay(this.#engine.database, events, this.#engine.count));
  }

  async #read<T>(options: StoreCallOptions, work: (sql: Sql) => Promise<T>): Promise<T> {
    this.#requireOpen();
    return await this.#engine.database.read({ viewer: viewerOf(options.principal), signal: options.signal }, work);
  }

  async #write<T>(options: StoreCallOptions, work: (sql: Sql) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const { principal, signal } = options;
    return await this.#changing(this.#engine.database.write({ viewer: viewerOf(principal), signal }, work));
  }

  async #changing<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    this.#engine.work.wake();
    this.#engine.embedding?.wake();
    return result;
  }

  async #queryVector(query: string, signal: AbortSignal | undefined): Promise<QueryVector> {
    const { embedding } = this.#engine;
    if (embedding !== undefined) return await embedding.queryVector(query, signal);
    return { missing: "no embedding model is available. To search by meaning, run `trunkline models pull`" };
  }

  #requireOpen(): void {
    if (this.#isClosed || this.#engine.isClosed) throw new TrunklineError("CLOSED", "The store has been closed.");
  }

  #absolute(name: string | undefined): string | undefined {
    return name === undefined ? undefined : resolve(this.#cwd, name);
  }

  #pinParams(params: PinParams, options: StoreCallOptions) {
    const session = params.session ?? this.#sessions.require(options);
    return { ...params, absolute: this.#absolute(params.path), session };
  }

  #filters<P extends FilterParams>(
    params: P,
    options: StoreCallOptions,
  ): Omit<P, "session"> & { session: string | undefined } {
    return { ...params, session: this.#sessions.meant(params.session, options) };
  }
}

function rpc({ signal, onProgress }: StoreCallOptions) {
  return { signal, onProgress };
}

function stored(collection: string | undefined, { principal }: StoreCallOptions): string | undefined {
  return storedCollection(collection, viewerOf(principal));
}
