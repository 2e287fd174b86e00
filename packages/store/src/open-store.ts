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
  /** The id the store must have. Any other store in its place is rejected with `STORE_UNTRUSTED`. */
  readonly id?: string | undefined;
  /** Enables search by meaning. The embedder runs in this process. Its owner closes it, after the store. */
  readonly embedder?: Embedder | undefined;
  /**
   * Ends threads that have been idle for this long, and frees their memory. Default: 30 seconds for threads that write,
   * 5 minutes for those that search, whose caches make the next search fast.
   */
  readonly idleMs?: number | undefined;
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
  } = options ?? {};
  // Programs without types pass all sorts of things here.
  if (typeof path !== "string" || path === "") {
    throw new TrunklineError("INVALID_ARGUMENT", "openStore needs the store's folder as `path`.");
  }
  const folder = resolve(cwd, path);
  const absolute = (paths: readonly string[] | undefined) => paths?.map((each) => resolve(cwd, each));
  const guarded = { ownFolders: absolute(options.ownFolders), unwritable: absolute(options.unwritable) };
  const pool: StoreThreads = new ThreadPool({ entry: THREAD_ENTRY, folder, logger, idleMs: options.idleMs });
  let refusal: TrunklineError | undefined;
  let storeId = "";
  try {
    const read = lazyWriter && !readOnly ? await openReader(pool, signal) : undefined;
    const opened = read ?? (readOnly ? { refusal: onlyForReading() } : await openWriter(pool, signal));
    if ("refusal" in opened) refusal = opened.refusal;
    storeId = "storeId" in opened ? opened.storeId : await pool.reader.storeId({}, { signal });
    if (options.id !== undefined && options.id !== storeId) throw anotherStore(folder);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const store = new Store(pool, { cwd, refusal, logger, folder, guarded, id: storeId, idleMs: options.idleMs });
  if (embedder !== undefined) store.useEmbedder(embedder);
  return store;
}

/** Returns the store's id if a reader is enough. Leaves any problem to the writer to fix or report. */
async function openReader(
  pool: StoreThreads,
  signal: AbortSignal | undefined,
): Promise<{ storeId: string } | undefined> {
  try {
    const { current, storeId } = await pool.reader.isCurrent({}, { signal });
    if (!current) return undefined;
    return { storeId };
  } catch (error) {
    if (isTrunklineError(error, "IO")) return undefined;
    throw error;
  }
}

/** Returns the store's id, or the reason if it can only be read. */
async function openWriter(
  pool: StoreThreads,
  signal: AbortSignal | undefined,
): Promise<{ storeId: string } | { refusal: TrunklineError }> {
  try {
    const { storeId } = await pool.writer.ready({}, { signal });
    return { storeId };
  } catch (error) {
    if (isTrunklineError(error, "IO") && error.data?.readOnly === true) return { refusal: error };
    throw error;
  }
}

function anotherStore(folder: string): TrunklineError {
  return new TrunklineError("STORE_UNTRUSTED", `The store in ${folder} was replaced with another one.`, {
    hint: "If you replaced it yourself, approve it with `trunkline trust --store`.",
  });
}

function onlyForReading(): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", "The store is open read-only.");
}
