// Calls by day and client, counted from the journal. Each line is read once.
import type { CallRecord } from "./journal.js";
import { listSegments } from "./journal-files.js";
import { JournalPosition, newEntries } from "./read-journal.js";
import { dayOf } from "./token-totals.js";

/** The calls of one client on one day. */
export interface ClientDay {
  /** `2026-11-17`, in the user's time zone. */
  readonly day: string;
  readonly client: string;
  readonly calls: number;
  readonly errors: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Client names are arbitrary: further ones of a file are counted together. */
const MAX_ROWS = 2_000;
const OTHERS = "other clients";
const QUARTER_MS = 15 * 60 * 1000;

export class CallDays {
  readonly #folder: string;
  readonly #isWanted: (call: CallRecord) => boolean;
  readonly #position = new JournalPosition();
  /** By file, because the oldest one is removed at some point. */
  readonly #rows = new Map<number, Map<string, Writable<ClientDay>>>();
  #reading: Promise<void> | undefined;

  constructor(folder: string, isWanted: (call: CallRecord) => boolean) {
    this.#folder = folder;
    this.#isWanted = isWanted;
  }

  /** Reads what is new, and returns everything that the journal has, in no particular order. */
  async read(): Promise<readonly ClientDay[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return [...this.#rows.values()].flatMap((rows) => [...rows.values()]);
  }

  async #read(): Promise<void> {
    const segments = await listSegments(this.#folder);
    const there = new Set(segments.map(({ number }) => number));
    for (const number of this.#rows.keys()) {
      if (there.has(number)) continue;
      this.#rows.delete(number);
      this.#position.offsets.delete(number);
    }
    const days = new DayNames();
    for (const segment of segments) {
      const rows = this.#rows.get(segment.number) ?? new Map<string, Writable<ClientDay>>();
      this.#rows.set(segment.number, rows);
      for await (const { call } of newEntries(segment, this.#position)) {
        if (this.#isWanted(call)) countCall(rows, days.of(call.atMs), call);
      }
    }
  }
}

/** Adds a call to the counts of its day and client. */
export function countCall(rows: Map<string, Writable<ClientDay>>, day: string, call: CallRecord): void {
  let key = `${day} ${call.client}`;
  let row = rows.get(key);
  if (row === undefined) {
    const client = rows.size < MAX_ROWS ? call.client : OTHERS;
    key = `${day} ${client}`;
    row = rows.get(key) ?? { day, client, calls: 0, errors: 0 };
    rows.set(key, row);
  }
  row.calls++;
  if (call.outcome === "error") row.errors++;
}

/** Days of timestamps. Neighbouring calls are of the same quarter of an hour, and dates are slow. */
export class DayNames {
  #quarter = Number.NaN;
  #day = "";

  of(atMs: number): string {
    const quarter = Math.floor(atMs / QUARTER_MS);
    if (quarter === this.#quarter) return this.#day;
    this.#quarter = quarter;
    this.#day = dayOf(atMs);
    return this.#day;
  }
}
