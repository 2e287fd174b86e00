// Opens the store's databases in a worker.
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileReason, isTrunklineError, makeFolder, messageOf, systemCodeOf, TrunklineError } from "@trunkline/core";
import { isComplete, prepareIndex, reachedSeq } from "../indexing/catch-up.js";
import type { Indexer } from "../indexing/indexer.js";
import { type Db, openDatabase } from "../sqlite/database.js";
import { currentSeq } from "../sqlite/documents.js";
import { defineFilterFunctions } from "../sqlite/filters.js";
import { requireOwnIndex, requireOwnTruth, requirePlainIndex } from "../sqlite/own-schema.js";
import {
  checkFormat,
  INDEX_APPLICATION_ID,
  INDEX_FILE,
  indexFits,
  migrateTruth,
  OLDEST_READABLE_FORMAT,
  storeIdOf,
  TRUTH_APPLICATION_ID,
  TRUTH_FILE,
} from "../sqlite/schema.js";
import type { Databases, ReadEnvironment } from "./thread-context.js";

/**
 * For the writer: creates the folder, the databases and their tables, and runs migrations. If a store can only be read,
 * the error has `readOnly` in its data.
 */
export function openForWriting(folder: string, indexers: readonly Indexer[]): Databases {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    // A folder that exists would have been fine.
    const reason = systemCodeOf(error) === "EEXIST" ? "it is a file" : (fileReason(error) ?? messageOf(error));
    throw new TrunklineError("IO", `Cannot create the store's folder ${folder}: ${reason}.`, {
      cause: error,
      hint: "Choose another folder with --store, or check the write permissions there.",
    });
  }
  requireWritable(folder);
  keepPrivate(folder);
  const truth = openDatabase(join(folder, TRUTH_FILE), {
    synchronous: "FULL",
    applicationId: TRUTH_APPLICATION_ID,
    check: requireOwnTruth,
  });
  try {
    migrateTruth(truth);
    const index = openIndex(folder, truth, indexers);
    defineFilterFunctions(truth);
    // Repeated because SQLite has created files whose modes come from the umask.
    keepPrivate(folder);
    return { truth, index, indexers };
  } catch (error) {
    truth.close();
    throw error;
  }
}

/** The names in a store's folder. Anything else means that it is a user's folder that contains a store. */
const OWN_ENTRY = /^(?:content|index)\.sqlite|^(?:journal|partial)$/;

/**
 * Makes a store readable only by its owner: it can hold mail, keys or anything else that was fetched. Changes modes by
 * path, never by opening a file: closing it drops the locks that another thread of this process holds on it.
 */
function keepPrivate(folder: string): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  const tighten = (path: string) => {
    try {
      const found = lstatSync(path);
      const { uid, mode } = found;
      if (!found.isSymbolicLink() && uid === user && (mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
    } catch (error) {
      // The file is gone, or the file system has no modes or rejects changes: leave it as it is.
      if (systemCodeOf(error) === undefined) throw error;
    }
  };
  const names = readdirSync(folder);
  if (names.every((name) => OWN_ENTRY.test(name))) tighten(realpathSync(folder));
  for (const name of names) if (/^(?:content|index)\.sqlite/.test(name)) tighten(join(folder, name));
}

/** Throws if the folder or a database in it exists but belongs to someone who does not let us read it. */
function requireReadable(folder: string): void {
  const files = [TRUTH_FILE, INDEX_FILE].map((name) => join(folder, name));
  for (const path of [folder, ...files]) {
    try {
      accessSync(path, path === folder ? constants.R_OK | constants.X_OK : constants.R_OK);
    } catch (error) {
      if (!["EACCES", "EPERM"].includes(systemCodeOf(error) ?? "")) continue;
      throw new TrunklineError("IO", `The store in ${folder} cannot be read: you have no permission to read ${path}.`, {
        cause: error,
        hint: "Ask its owner, or choose another folder with --store.",
      });
    }
  }
}

/**
 * Throws if the folder or its databases are not writable. A folder without write permission makes the store read-only,
 * even if its files are writable.
 */
function requireWritable(folder: string): void {
  requireReadable(folder);
  const files = [TRUTH_FILE, INDEX_FILE].map((name) => join(folder, name)).filter((file) => existsSync(file));
  for (const path of [folder, ...files]) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      const system = systemCodeOf(error) ?? "";
      if (!["EROFS", "EACCES", "EPERM"].includes(system)) throw error;
      const reason = system === "EROFS" ? "its file system is read-only" : `${path} is not writable`;
      const readOnly = existsSync(join(folder, TRUTH_FILE));
      throw new TrunklineError("IO", `The store in ${folder} cannot be changed: ${reason}.`, {
        cause: error,
        hint: `${readOnly ? "Reading works. " : ""}Make it writable, or choose another folder with --store.`,
        data: { system, readOnly },
      });
    }
  }
}

/**
 * Closes the connections of a thread. The last connection that could write deletes the -wal and -shm files, and without
 * them SQLite cannot read from a place it cannot write to. Leaves empty ones, as every open creates them, so the store
 * can be read from a read-only place.
 */
export function closeDatabases(folder: string, { truth, index }: Pick<Databases, "truth" | "index">): void {
  truth.close();
  index.close();
  for (const name of [TRUTH_FILE, INDEX_FILE]) {
    for (const end of ["-wal", "-shm"]) leaveEmpty(join(folder, name), end);
  }
}

function leaveEmpty(database: string, end: string): void {
  const made = `${database}${end}-${process.pid}`;
  try {
    if (existsSync(database + end)) return;
    const { mode, uid, gid } = statSync(database);
    writeFileSync(made, "", { mode: mode & 0o777, flag: "wx" });
    if (process.getuid?.() === 0) chownSync(made, uid, gid);
    // Link the file instead of creating it in place: closing a file drops the locks that another thread of this process
    // may already hold on it.
    linkSync(made, database + end);
  } catch (error) {
    // Another process was faster, or the disk is full: the store works without these files.
    if (systemCodeOf(error) === undefined) throw error;
  } finally {
    rmSync(made, { force: true });
  }
}

/** The tables of an index depend on its version, so only the writer, which updates it, can compare them all. */
const INDEX_OPTIONS = {
  synchronous: "NORMAL",
  applicationId: INDEX_APPLICATION_ID,
  check: requirePlainIndex,
} as const;

/** A write transaction that changes more pages than fit must write some of them early. */
const WRITTEN_INDEX_CACHE_KIB = 32 * 1024;

/** Opens the index. It can be rebuilt, so a damaged one is moved out of the way and replaced. */
function openIndex(folder: string, truth: Db, indexers: readonly Indexer[]): Db {
  try {
    return openSoundIndex(folder, truth, indexers);
  } catch (error) {
    if (!isTrunklineError(error, "IO") || error.data?.damaged !== true) throw error;
  }
  const file = join(folder, INDEX_FILE);
  renameSync(file, `${file}.damaged`);
  for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
  return openSoundIndex(folder, truth, indexers);
}

function openSoundIndex(folder: string, truth: Db, indexers: readonly Indexer[]): Db {
  const file = join(folder, INDEX_FILE);
  const index = openDatabase(file, { ...INDEX_OPTIONS, cacheKib: WRITTEN_INDEX_CACHE_KIB });
  try {
    prepareIndex({ truth, index, indexers, texts: new Map(), check: () => {} });
    requireOwnIndex(index, file, (empty) => {
      for (const indexer of indexers) indexer.create(empty);
    });
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/** For background indexers, which write to the index but never to the content database. */
export function openForIndexing(folder: string, indexers: readonly Indexer[]): Databases {
  const { truth, index: readOnly } = openForReading(folder, indexers);
  readOnly.close();
  const file = join(folder, INDEX_FILE);
  return { truth, index: openDatabase(file, { ...INDEX_OPTIONS, cacheKib: WRITTEN_INDEX_CACHE_KIB }), indexers };
}

/** For all other threads. The writer or an earlier process has created the databases. */
export function openForReading(folder: string, indexers: readonly Indexer[]): Databases {
  requireReadable(folder);
  if (existsSync(folder)) keepPrivate(folder);
  const truth = openReadOnly(folder, TRUTH_FILE);
  try {
    const format = checkFormat(truth);
    if (format < OLDEST_READABLE_FORMAT) {
      throw new TrunklineError("IO", `The store has the old format ${format} and must be migrated first.`, {
        hint: "Open it once for writing.",
      });
    }
    const index = openReadOnly(folder, INDEX_FILE);
    defineFilterFunctions(truth);
    return { truth, index, indexers };
  } catch (error) {
    truth.close();
    throw error;
  }
}

function openReadOnly(folder: string, name: typeof TRUTH_FILE | typeof INDEX_FILE): Db {
  const file = join(folder, name);
  const options = name === TRUTH_FILE ? { applicationId: TRUTH_APPLICATION_ID, check: requireOwnTruth } : INDEX_OPTIONS;
  try {
    return openDatabase(file, { ...options, readOnly: true, synchronous: "FULL" });
  } catch (error) {
    const missing = [`${name}-wal`, `${name}-shm`].filter((beside) => !existsSync(join(folder, beside)));
    if (!existsSync(file) || missing.length === 0 || !isTrunklineError(error, "IO")) throw error;
    const shown = `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"}`;
    throw new TrunklineError("IO", `${file} cannot be read here: ${shown} missing next to it.`, {
      cause: error,
      hint: "Copy the store to a writable folder and use it there once; afterwards it can be read anywhere.",
      ...(error.data === undefined ? {} : { data: error.data }),
    });
  }
}

/**
 * Whether the store can be read without indexing anything first. Throws, as the writer would, if the store is
 * read-only.
 */
export function isCurrent(env: ReadEnvironment): { current: boolean; storeId: string } {
  requireWritable(env.folder);
  return { current: isIndexed(env), storeId: storeIdOf(env.truth) };
}

export function readStoreId({ truth }: ReadEnvironment): string {
  return storeIdOf(truth);
}

function isIndexed({ truth, index, indexers }: ReadEnvironment): boolean {
  return truth.reading(() =>
    index.reading(
      () => indexFits(index, truth) && reachedSeq(index) >= currentSeq(truth) && isComplete({ index, indexers }),
    ),
  );
}
