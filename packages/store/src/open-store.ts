// Opens a store: decides which threads must start before the first call, and which operations are allowed.
import { resolve } from "node:path";
import { type Embedder, isTrunklineError, type Logger, silentLogger, TrunklineError } from "@trunkline/core";
import type { GuardedPaths } from "./engine/files/guard.js";
import { ThreadPool } from "./engine/threads/thread-pool.js";
import { Store, type StoreThreads } from "./store.js";

const THREAD_ENTRY = new URL("./store-thread.js", import.meta.url);

export interface OpenStoreOptions extends GuardedPaths {
  /** The store's folder; created on first use. */
  readonly path: string;
  /** The base for relative paths. Default: the process's working directory. */
  readonly cwd?: string | undefined;
  readonly logger?: Logger | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Rejects every change. The store must exist. */
  readonly readOnly?: boolean | undefined;
  /** Starts the writer thread on the first write instead of on opening, so the store opens faster for readers. */
  readonly lazyWriter?: boolean | undefined;
  /** Enables search by meaning. The embedder runs in this process. Its owner closes it, after the store. */
  readonly embedder?: Embedder | undefined;
}

/**
 * Opens the embedded store, creating or migrating it if needed, and brings its index up to date. A store that can only
 * be read, such as one on a read-only file system, is opened for reading; changes are then rejected with `IO`.
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

/** Returns whether a reader is enough. Leaves any problem to the writer to fix or report. */
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

/** Returns the reason if the store can only be read. */
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
  return new TrunklineError("INVALID_ARGUMENT", "The store is open read-only.");
}
