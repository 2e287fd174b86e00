// How a row of the list looks. No component per row: thousands of them pass by while scrolling.
import type { ComponentChildren } from "preact";
import { programOf, shownBytes, shownMs, visible } from "../../kit/wording.js";
import type { TrafficRow } from "./call-list.js";

export const ROW_HEIGHT = 36;

const MAX_NAMES = 4;

/** A column of the list. Its head, its cells and its place in the grid all come from here. */
interface Column {
  readonly head: string;
  /** Explains the head. */
  readonly about?: string;
  /** The class of the head and of the cells. */
  readonly class: string;
  readonly width: string;
  /** The width in a narrow list. Absent: it is not shown there. */
  readonly narrow?: string;
  readonly cell: (row: TrafficRow) => ComponentChildren;
}

const COLUMNS: readonly Column[] = [
  { head: "Time", class: "time", width: "108px", narrow: "108px", cell: ({ atMs }) => callTime(atMs) },
  {
    ...{ head: "Client", class: "client cut", width: "minmax(80px, 1fr)", narrow: "minmax(50px, 0.8fr)" },
    cell: ({ client }) => visible(programOf(client)),
  },
  {
    ...{ head: "Operation", class: "operation cut", width: "minmax(140px, 2.4fr)", narrow: "minmax(100px, 1.8fr)" },
    cell: operationCell,
  },
  { head: "Took", class: "number", width: "72px", narrow: "60px", cell: ({ durationMs }) => shownMs(durationMs) },
  { head: "Size", class: "number", width: "76px", cell: ({ sizeBytes }) => shownBytes(sizeBytes) },
  {
    ...{ head: "≈ Tokens", about: "Estimated: one token for four bytes", class: "number", width: "76px" },
    cell: ({ sizeBytes }) => Math.ceil(sizeBytes / 4).toLocaleString("en-US"),
  },
  {
    ...{ head: "Outcome", class: "outcome cut", width: "minmax(136px, 1fr)", narrow: "minmax(90px, 1fr)" },
    cell: outcomeCell,
  },
];

/** The tracks of the grid, for the list's `style`. */
export const COLUMN_WIDTHS = {
  "--columns": COLUMNS.map(({ width }) => width).join(" "),
  "--narrow-columns": COLUMNS.flatMap(({ narrow }) => narrow ?? []).join(" "),
};

const CLASSES = COLUMNS.map((column) => `${column.class}${column.narrow === undefined ? " not-narrow" : ""}`);

export function ColumnHeads() {
  return (
    <div class="call heads" aria-hidden="true">
      {COLUMNS.map(({ head, about }, index) => (
        <span key={head} class={CLASSES[index]} title={about}>
          {head}
        </span>
      ))}
    </div>
  );
}

export function renderRow(row: TrafficRow) {
  return (
    <div class={`call ${row.outcome}`}>
      {COLUMNS.map(({ head, cell }, index) => (
        <span key={head} class={CLASSES[index]}>
          {cell(row)}
        </span>
      ))}
    </div>
  );
}

function operationCell({ operation, steps }: TrafficRow) {
  if (steps === undefined || steps.length < 2) return visible(operation);
  return (
    <>
      <b>▸ {steps.length} steps</b> <span class="dim">{namesOf(steps)}</span>
    </>
  );
}

function outcomeCell({ outcome, code }: TrafficRow) {
  return (
    <>
      <span class={code === undefined ? "" : "word"}>{outcome} </span>
      {code !== undefined && visible(code)}
    </>
  );
}

function namesOf(steps: NonNullable<TrafficRow["steps"]>): string {
  const names = steps.slice(0, MAX_NAMES).map(({ operation }) => visible(operation));
  return `${names.join(", ")}${steps.length > MAX_NAMES ? ", …" : ""}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (value: number) => (value < 10 ? `0${value}` : String(value));
let today = "";
let todayUntilMs = 0;

/** `12:04:31`, on another day than today with the date. `isExact`: with date and milliseconds. */
export function callTime(atMs: number, isExact = false): string {
  const time = new Date(atMs);
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const day = `${time.getDate()} ${MONTHS[time.getMonth()]}`;
  if (isExact) return `${day}, ${clock}.${String(time.getMilliseconds()).padStart(3, "0")}`;
  return day === currentDay() && Date.now() - atMs < 7 * 86_400_000 ? clock : `${day} ${clock}`;
}

function currentDay(): string {
  const now = Date.now();
  if (now >= todayUntilMs) {
    const time = new Date(now);
    today = `${time.getDate()} ${MONTHS[time.getMonth()]}`;
    todayUntilMs = now + 10_000;
  }
  return today;
}
