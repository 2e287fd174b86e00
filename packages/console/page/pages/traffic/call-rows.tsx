// How a row of the list looks. No component per row: thousands of them pass by while scrolling.
import { programOf, shownBytes, shownMs, visible } from "../../kit/wording.js";
import type { TrafficRow } from "./call-list.js";

export const ROW_HEIGHT = 36;

const MAX_NAMES = 4;

export function renderRow(row: TrafficRow) {
  const { atMs, client, operation, durationMs, sizeBytes, outcome, code, steps } = row;
  const isPipeline = steps !== undefined && steps.length > 1;
  return (
    <div class={`call ${outcome}`}>
      <span class="time">{callTime(atMs)}</span>
      <span class="client cut">{visible(programOf(client))}</span>
      <span class="operation cut">
        {isPipeline ? (
          <>
            <b>▸ {steps.length} steps</b> <span class="dim">{namesOf(steps)}</span>
          </>
        ) : (
          visible(operation)
        )}
      </span>
      <span class="number">{shownMs(durationMs)}</span>
      <span class="number">{shownBytes(sizeBytes)}</span>
      <span class="number tokens">{Math.ceil(sizeBytes / 4).toLocaleString("en-US")}</span>
      <span class="outcome cut">
        <span class={code === undefined ? "" : "word"}>{outcome} </span>
        {code !== undefined && visible(code)}
      </span>
    </div>
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
