// The rows of the list: calls, newest first, with the steps of a pipeline in one row. Adding to it costs as much as is
// added, also with a filter.
import type { CallRow } from "@trunkline/console/contract";
import type { CallFilter } from "./call-filter.js";

/** A call, or the steps of one request. For steps, the fields are about all of them. */
export interface TrafficRow extends Omit<CallRow, "request"> {
  /** In the order in which they began. */
  readonly steps?: readonly CallRow[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type StepsRow = Writable<TrafficRow> & { steps: CallRow[] };

/** Beyond this, the oldest are dropped: they can be loaded again. */
const MAX_ROWS = 250_000;
const KEPT_ROWS = 200_000;

export class CallList {
  #rows: TrafficRow[] = [];
  #shown: TrafficRow[] = [];
  #filter: CallFilter | undefined;
  #ids = new Set<string>();
  #requests = new Map<string, StepsRow>();

  /** The rows that fit the filter. A new array whenever something has changed. */
  get shown(): readonly TrafficRow[] {
    return this.#shown;
  }

  get count(): number {
    return this.#rows.length;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  clear(): void {
    this.#rows = [];
    this.#shown = [];
    this.#ids.clear();
    this.#requests.clear();
  }

  setFilter(filter: CallFilter | undefined): void {
    this.#filter = filter;
    this.#refilter();
  }

  /** Adds older calls, newest first. */
  append(calls: readonly CallRow[]): void {
    const { rows, needsFilter } = this.#rowsOf(calls);
    this.#rows.push(...rows);
    if (needsFilter) this.#refilter();
    else this.#shown = this.#shown.concat(this.#fitting(rows));
  }

  /** Adds new calls, oldest first. Returns how many rows were added above those that are shown. */
  prepend(calls: readonly CallRow[]): number {
    const { rows, needsFilter } = this.#rowsOf(calls);
    rows.reverse();
    this.#rows = rows.concat(this.#rows);
    const fitting = this.#fitting(rows);
    if (needsFilter) this.#refilter();
    else this.#shown = fitting.concat(this.#shown);
    return fitting.length;
  }

  /** Drops the oldest rows if there are very many. Returns the id of the oldest call that is left, if so. */
  trim(): string | undefined {
    if (this.#rows.length <= MAX_ROWS) return undefined;
    const rows = this.#rows.slice(0, KEPT_ROWS);
    this.clear();
    this.#rows = rows;
    for (const row of rows) {
      for (const { id } of row.steps ?? [row]) this.#ids.add(id);
      const request = row.steps?.[0]?.request;
      if (request !== undefined) this.#requests.set(request, row as StepsRow); // Rows with steps are made here.
    }
    this.#refilter();
    const oldest = rows.at(-1);
    return oldest?.steps?.[0]?.id ?? oldest?.id;
  }

  /** `needsFilter`: a row that exists already has changed. */
  #rowsOf(calls: readonly CallRow[]): { rows: TrafficRow[]; needsFilter: boolean } {
    const rows: TrafficRow[] = [];
    const fresh = new Set<StepsRow>();
    let needsFilter = false;
    for (const call of calls) {
      if (this.#ids.has(call.id)) continue;
      this.#ids.add(call.id);
      const { request } = call;
      if (request === undefined) {
        rows.push(call);
        continue;
      }
      const known = this.#requests.get(request);
      if (known !== undefined) {
        join(known, call);
        needsFilter ||= this.#filter !== undefined && !fresh.has(known);
        continue;
      }
      const row: StepsRow = { ...call, id: `request ${request}`, steps: [call] };
      this.#requests.set(request, row);
      fresh.add(row);
      rows.push(row);
    }
    return { rows, needsFilter };
  }

  #fitting(rows: TrafficRow[]): TrafficRow[] {
    return this.#filter === undefined ? rows : rows.filter(this.#filter);
  }

  #refilter(): void {
    this.#shown = this.#filter === undefined ? [...this.#rows] : this.#rows.filter(this.#filter);
  }
}

/** Adds a step to the row of its request. */
function join(row: StepsRow, call: CallRow): void {
  const { steps } = row;
  const endMs = Math.max(...[row, call].map(({ atMs, durationMs }) => atMs + durationMs));
  const after = steps.findIndex(({ atMs }) => atMs > call.atMs);
  steps.splice(after === -1 ? steps.length : after, 0, call);
  row.atMs = Math.min(row.atMs, call.atMs);
  row.durationMs = endMs - row.atMs;
  row.sizeBytes += call.sizeBytes;
  if (row.outcome !== "error" && call.outcome !== "ok") {
    row.outcome = call.outcome;
    row.code = call.code;
  }
}
