// The journal of several gateways, as lines in a database that all of them reach. Lines are buffered and written together,
// so no call waits. While the database is away, they are kept up to a limit; then new ones are dropped.
import { isTrunklineError, sleep, TrunklineError } from "@trunkline/core";
import { type ClientDay, countCall, DayNames } from "./call-days.js";
import type { CallRecord, Journal } from "./journal.js";
import { lineOf, parseLine } from "./journal-files.js";
import type { JournalReader } from "./journal-reader.js";
import type { JournalEntry } from "./read-journal.js";

export interface JournalLine {
  readonly id: number;
  readonly line: string;
}

/** Lines in the order in which they were written. */
export interface JournalLines {
  /** Where they are, to show. */
  readonly place: string;
  append(lines: readonly string[]): Promise<void>;
  /** The last lines before an id, newest first. */
  before(id: number | undefined, limit: number): Promise<readonly JournalLine[]>;
  /** The first lines after an id, oldest first. */
  after(id: number, limit: number): Promise<readonly JournalLine[]>;
}

interface LineJournalOptions {
  readonly lines: () => Promise<JournalLines>;
  /** The workspace that the calls belong to, as in `workspaceKey`. */
  readonly workspace?: string;
  /** The name of the gateway that writes. */
  readonly gateway?: string;
  /** Called once when lines are dropped, and again only if a write has succeeded in between. */
  readonly onProblem?: (error: unknown) => void;
}

/** The same limit as for a journal on disk. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** How long lines may be buffered. */
const DELAY_MS = 100;
/** How long to wait after a failed write. */
const PAUSE_MS = 2_000;

export class LineJournal implements Journal, AsyncDisposable {
  readonly #options: LineJournalOptions;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isSaid = false;
  #isClosed = false;

  constructor(options: LineJournalOptions) {
    this.#options = options;
  }

  record(call: CallRecord): void {
    if (this.#isClosed) return;
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      if (!this.#isSaid && this.#failure !== undefined) this.#options.onProblem?.(this.#failure.error);
      this.#isSaid ||= this.#failure !== undefined;
      return;
    }
    const line = lineOf(call, this.#options).slice(0, -1);
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#schedule(DELAY_MS);
  }

  /** Writes the buffered lines once more and accepts no more of them. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#write();
    clearTimeout(this.#timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, ms).unref();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length === 0 || this.#isClosed) return;
      this.#schedule(this.#failure === undefined ? DELAY_MS : PAUSE_MS);
    });
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    try {
      await (await this.#options.lines()).append(batch);
      this.#waiting = this.#waiting.slice(batch.length);
      this.#waitingBytes = this.#waiting.reduce((sum, line) => sum + line.length, 0);
      this.#failure = undefined;
      this.#isSaid = false;
    } catch (error) {
      this.#failure = { error };
    }
  }
}

const POLL_MS = 500;
const LINES_AT_ONCE = 1000;
/** A page with few wanted lines is short, so that no request reads the whole journal. */
const MAX_PAGE_LINES = 20_000;

/** Reads the journal of all gateways. */
export function lineJournalReader(lines: JournalLines): JournalReader {
  return {
    place: lines.place,
    async last({ limit, isWanted = () => true, signal }) {
      const found: CallRecord[] = [];
      const newest = (await lines.before(undefined, 1))[0]?.id ?? 0;
      let before: number | undefined = newest + 1;
      for (let read = 0; found.length < limit && read < MAX_PAGE_LINES && before !== undefined; ) {
        signal?.throwIfAborted();
        const page: readonly JournalLine[] = await lines.before(before, LINES_AT_ONCE);
        for (const { call } of entriesOf(page)) if (isWanted(call) && found.length < limit) found.push(call);
        read += page.length;
        before = page.at(-1)?.id;
      }
      return { calls: found.reverse(), follow: (ending) => followLines(lines, newest, ending) };
    },
    async page({ limit, before: from, isWanted = () => true, signal }) {
      let before: number | undefined = from === undefined ? undefined : idOf(from);
      const entries: JournalEntry[] = [];
      for (let read = 0; read < MAX_PAGE_LINES; ) {
        signal?.throwIfAborted();
        const page: readonly JournalLine[] = await lines.before(before, LINES_AT_ONCE);
        for (const entry of entriesOf(page)) {
          if (!isWanted(entry.call)) continue;
          entries.push(entry);
          if (entries.length >= limit) return { entries, next: entry.id };
        }
        if (page.length < LINES_AT_ONCE) return { entries, next: undefined };
        read += page.length;
        before = page.at(-1)?.id;
      }
      return { entries, next: before === undefined ? undefined : String(before) };
    },
    async around(id) {
      const at = idOf(id);
      const earlier = await lines.before(at, LINES_AT_ONCE);
      const later = await lines.after(at - 1, LINES_AT_ONCE);
      return [...entriesOf([...earlier].reverse()), ...entriesOf(later)];
    },
    days: (isWanted) => new LineDays(lines, isWanted),
  };
}

async function* followLines(lines: JournalLines, from: number, signal: AbortSignal): AsyncGenerator<JournalEntry[]> {
  let last = from;
  while (!signal.aborted) {
    try {
      const page = await lines.after(last, LINES_AT_ONCE);
      last = page.at(-1)?.id ?? last;
      const entries = entriesOf(page);
      if (entries.length > 0) yield entries;
      if (page.length < LINES_AT_ONCE) await sleep(POLL_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      // It comes back.
      if (!isTrunklineError(error, "STORE_UNAVAILABLE")) throw error;
      await sleep(POLL_MS, signal).catch(() => {});
    }
  }
}

class LineDays {
  readonly #lines: JournalLines;
  readonly #isWanted: (call: CallRecord) => boolean;
  readonly #rows = new Map<string, ClientDay>();
  #last = 0;

  constructor(lines: JournalLines, isWanted: (call: CallRecord) => boolean) {
    this.#lines = lines;
    this.#isWanted = isWanted;
  }

  async read(): Promise<readonly ClientDay[]> {
    const days = new DayNames();
    while (true) {
      const page = await this.#lines.after(this.#last, LINES_AT_ONCE);
      this.#last = page.at(-1)?.id ?? this.#last;
      for (const { call } of entriesOf(page)) if (this.#isWanted(call)) countCall(this.#rows, days.of(call.atMs), call);
      if (page.length < LINES_AT_ONCE) return [...this.#rows.values()];
    }
  }
}

function entriesOf(lines: readonly JournalLine[]): JournalEntry[] {
  return lines.flatMap(({ id, line }) => {
    const call = parseLine(line);
    return call === undefined ? [] : [{ id: String(id), call }];
  });
}

/** Reads the id of an entry. Throws `INVALID_ARGUMENT`. */
function idOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new TrunklineError("INVALID_ARGUMENT", `"${text.slice(0, 40)}" is not the id of a call.`);
}
