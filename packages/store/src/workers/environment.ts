// Opening the store's databases in a worker.
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isTrunklineError, systemCodeOf, TrunklineError } from "@trunkline/core";
import { prepareIndex } from "../indexing/catch-up.js";
import { type Db, openDatabase } from "../sqlite/database.js";
import { defineFilterFunctions } from "../sqlite/filters.js";
import {
  checkFormat,
  FORMAT_VERSION,
  INDEX_APPLICATION_ID,
  INDEX_FILE,
  migrateTruth,
  TRUTH_APPLICATION_ID,
  TRUTH_FILE,
} from "../sqlite/schema.js";

/** Both databases. */
export interface Databases {
  readonly truth: Db;
  readonly index: Db;
}

/** For the writer: makes the folder, the databases and their tables, and migrates. */
export function openForWriting(folder: string): Databases {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new TrunklineError("IO", `The store's folder cannot be made: ${folder} (${systemCodeOf(error)}).`, {
      cause: error,
      hint: "Choose another folder with --store, or check who may write there.",
    });
  }
  const truth = openDatabase(join(folder, TRUTH_FILE), { synchronous: "FULL", applicationId: TRUTH_APPLICATION_ID });
  try {
    migrateTruth(truth);
    const index = openIndex(folder, truth);
    defineFilterFunctions(truth);
    return { truth, index };
  } catch (error) {
    truth.close();
    throw error;
  }
}

/** The index can be made anew, so a damaged one is put aside and replaced. */
function openIndex(folder: string, truth: Db): Db {
  try {
    return openSoundIndex(folder, truth);
  } catch (error) {
    if (!isTrunklineError(error, "IO") || error.data?.damaged !== true) throw error;
  }
  const file = join(folder, INDEX_FILE);
  renameSync(file, `${file}.damaged`);
  for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
  return openSoundIndex(folder, truth);
}

function openSoundIndex(folder: string, truth: Db): Db {
  const index = openDatabase(join(folder, INDEX_FILE), { synchronous: "NORMAL", applicationId: INDEX_APPLICATION_ID });
  try {
    prepareIndex({ truth, index, texts: new Map(), check: () => {} });
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/** For background indexers: they write the index, never the truth. */
export function openForIndexing(folder: string): Databases {
  const { truth, index: readOnly } = openForReading(folder);
  readOnly.close();
  const options = { synchronous: "NORMAL", applicationId: INDEX_APPLICATION_ID } as const;
  return { truth, index: openDatabase(join(folder, INDEX_FILE), options) };
}

/** For everyone else. The writer, or an earlier process, has made the databases. */
export function openForReading(folder: string): Databases {
  const truth = openDatabase(join(folder, TRUTH_FILE), {
    readOnly: true,
    synchronous: "FULL",
    applicationId: TRUTH_APPLICATION_ID,
  });
  try {
    const format = checkFormat(truth);
    if (format < FORMAT_VERSION) {
      throw new TrunklineError("IO", `The store has the old format ${format} and has to be migrated first.`, {
        hint: "Open it once for writing.",
      });
    }
    const index = openDatabase(join(folder, INDEX_FILE), {
      readOnly: true,
      synchronous: "NORMAL",
      applicationId: INDEX_APPLICATION_ID,
    });
    defineFilterFunctions(truth);
    return { truth, index };
  } catch (error) {
    truth.close();
    throw error;
  }
}
