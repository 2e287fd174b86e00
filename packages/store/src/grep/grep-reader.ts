// How a grep thread reads contents: with its own read-only connection.
import { join } from "node:path";
import { isTrunklineError, TrunklineError } from "@trunkline/core";
import { openChunk } from "../engine/content/prepare.js";
import { bytesOf, findContent, readContent } from "../engine/sqlite/contents.js";
import { type Db, openDatabase } from "../engine/sqlite/database.js";
import { requireOwnTruth } from "../engine/sqlite/own-schema.js";
import { TRUTH_APPLICATION_ID, TRUTH_FILE } from "../engine/sqlite/schema.js";
import type { GrepReader } from "./index.js";

export interface GrepReaderData {
  readonly folder: string;
}

/** Opens the reader. Called by the thread. */
export function openGrepReader({ folder }: GrepReaderData): GrepReader {
  const truth = openDatabase(join(folder, TRUTH_FILE), {
    readOnly: true,
    synchronous: "FULL",
    applicationId: TRUTH_APPLICATION_ID,
    check: requireOwnTruth,
  });
  return {
    // One transaction instead of one per content.
    together: (work) => truth.reading(work),
    read({ path, hash }) {
      try {
        return wholeChunk(truth, hash) ?? truth.reading(() => readWhole(truth, hash));
      } catch (error) {
        if (!isTrunklineError(error, "IO") || error.data?.damaged !== true) throw error;
        throw new TrunklineError("IO", `Cannot search ${path}: ${error.message}`, {
          cause: error,
          hint: "Skip it with `exclude`, or fix it: run trunkline store repair, or add the file again.",
          data: { ...error.data, path },
        });
      }
    },
  };
}

/** Reads a content with one lookup if possible: most are a single chunk with the content's hash. */
function wholeChunk(truth: Db, hash: string): Uint8Array | undefined {
  const row = truth.get<{ size: number; codec: number; data: Uint8Array }>(
    "SELECT size, codec, data FROM chunks WHERE hash = ?",
    bytesOf(hash),
  );
  return row === undefined ? undefined : openChunk({ hash, ...row });
}

function readWhole(truth: Db, hash: string): Uint8Array {
  const content = findContent(truth, hash);
  // The document was deleted after it was listed, and gc removed the content: there is nothing to find.
  return content === undefined ? new Uint8Array() : readContent(truth, content);
}
