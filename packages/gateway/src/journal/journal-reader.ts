// How the journal is read, wherever it is: the last calls, each call as it arrives, pages, and neighbours of a call.
import { CallDays, type ClientDay } from "./call-days.js";
import type { CallRecord } from "./journal.js";
import { type JournalPage, type ReadPageOptions, readAround, readPage } from "./journal-pages.js";
import { followEntries, type JournalEntry, type ReadJournalOptions, readJournal } from "./read-journal.js";

export interface JournalReader {
  /** Where it is, to show. */
  readonly place: string;
  /** Returns the last calls, oldest first, and a function that yields what is recorded after them. */
  last(options: Omit<ReadJournalOptions, "folder">): Promise<{
    readonly calls: readonly CallRecord[];
    follow(signal: AbortSignal): AsyncGenerator<readonly JournalEntry[]>;
  }>;
  /** Returns the last wanted entries before a place, newest first. */
  page(options: Omit<ReadPageOptions, "folder">): Promise<JournalPage>;
  /** Returns the entry with an id, and those recorded shortly before and after it, oldest first. */
  around(id: string): Promise<readonly JournalEntry[]>;
  /** Counts calls by day and client; each is read once. */
  days(isWanted: (call: CallRecord) => boolean): { read(): Promise<readonly ClientDay[]> };
}

/** Reads the journal in a folder. */
export function fileJournalReader(folder: string): JournalReader {
  return {
    place: folder,
    last: async (options) => {
      const { calls, position } = await readJournal({ folder, ...options });
      return { calls, follow: (signal) => followEntries({ folder, position, signal }) };
    },
    page: (options) => readPage({ folder, ...options }),
    around: (id) => readAround(folder, id),
    days: (isWanted) => new CallDays(folder, isWanted),
  };
}
