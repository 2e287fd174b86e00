// The journal of calls: in the database, if the store is in one, so that any gateway can answer for any other.
import {
  fileJournalReader,
  type JournalLines,
  type JournalReader,
  journalFolder,
  lineJournalReader,
} from "@trunkline/gateway/journal";
import type { AnyStore } from "@trunkline/store";
import type { App } from "./app.js";

/** Reads the journal of the store that an app uses. */
export async function openJournalReader(app: App): Promise<JournalReader> {
  const lines = (await app.storeAddress()) === undefined ? undefined : linesIn(await app.store());
  if (lines !== undefined) return lineJournalReader(lines);
  return fileJournalReader(journalFolder(app.context.home, app.storeFolder));
}

/** Returns the lines in the database of a store; undefined if it is in a folder. */
export function linesIn(store: AnyStore): JournalLines | undefined {
  return "journalLines" in store && typeof store.journalLines === "function"
    ? (store.journalLines() as JournalLines) // Only stores in a database have the method.
    : undefined;
}
