// Opening a store: which threads have to start before the first call, and what may be done with it.
import { resolve } from "node:path";
import { type Embedder, isTrunklineError, type Logger, silentLogger, TrunklineError } from "@trunkline/core";
import type { GuardedPaths } from "./engine/files/guard.js";
import { ThreadPool } from "./engine/threads/thread-pool.js";
import { Store, type StoreThreads } from "./store.js";

const THREAD_ENTRY = new URL("./store-thread.js", import.meta.url);

/** How a store is opened. */
export interface OpenStoreOptions extends GuardedPaths {
  /** The store's folder; made on first use. */
  readonly path: string;
  /** Relative paths are relative to this. Default: the process's working folder. */
  readonly cwd?: string | undefined;
  readonly logger?: Logger | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Refuses every change. The store has to exist. */
  readonly readOnly?: boolean | undefined;
  /** The first write starts the thread for it, not the opening. For who reads, maybe only once: it is open sooner. */
  readonly lazyWriter?: boolean | undefined;
  /** Makes search by meaning possible. It runs in this process and stays its owner's to close, after the store. */
  readonly embedder?: Embedder | undefined;
}

/**
 * Opens the embedded store, makes or migrates it where needed, and brings its index up to date. A store that may only be
 * read, such as one on a read-only file system, is opened for reading: changes are then refused with `IO`.
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const {
    path,
    cwd = process.cwd(),
    logger = silentLogger,
    signal,
    readOnly = false,
    lazyWriter = false,
    embedder,
  } = options;
  const folder = resolve(cwd, path);
  const absolute = (paths: readonly string[] | undefined) => paths?.map((each) => resolve(cwd, each));
  const guarded = { ownFolders: absolute(options.ownFolders), unwritable: absolute(options.unwritable) };
  const pool: StoreThreads = new ThreadPool({ entry: THREAD_ENTRY, folder, logger, guarded });
  let refusal: TrunklineError | undefined;
  try {
    const isOpen = lazyWriter && !readOnly && (await openReader(pool, signal));
    if (!isOpen) refusal = readOnly ? onlyForReading() : await openWriter(pool, signal);
    if (refusal !== undefined) await pool.reader.status({}, { signal });
  } catch (error) {
    await pool.close();
    throw error;
  }
  const store = new Store(pool, { cwd, refusal, logger, folder, guarded });
  if (embedder !== undefined) store.useEmbedder(embedder);
  return store;
}

/** Whether a reader is all that is needed. What it finds wrong is the writer's to mend or to report. */
async function openReader(pool: StoreThreads, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    if (!(await pool.reader.isCurrent({}, { signal }))) return false;
    pool.hasBackgroundIndexers = true;
    return true;
  } catch (error) {
    if (isTrunklineError(error, "IO")) return false;
    throw error;
  }
}

/** Answers with the reason where the store may only be read. */
async function openWriter(pool: StoreThreads, signal: AbortSignal | undefined): Promise<TrunklineError | undefined> {
  try {
    const { background } = await pool.writer.ready({}, { signal });
    pool.hasBackgroundIndexers = background;
    if (background) pool.indexInBackground();
    return undefined;
  } catch (error) {
    if (isTrunklineError(error, "IO") && error.data?.readOnly === true) return error;
    throw error;
  }
}

function onlyForReading(): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", "The store was opened for reading only.");
}
