// Shows the gateway's journal of calls, for people and for programs.
import { matchesGlob, printable, printableJson } from "@trunkline/core";
import type { CallRecord } from "@trunkline/gateway/journal";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { openJournalReader } from "../../app/team-journal.js";
import type { CommandContext } from "../../terminal/context.js";
import { shownBytes } from "../../terminal/output.js";
import { columnsOf, unbroken, wrap } from "../../terminal/text-width.js";

export interface LogOptions {
  store: string | undefined;
  follow?: boolean;
  limit: number;
  client?: string;
  operation?: string;
  failed?: boolean;
  json?: boolean;
}

/** At least, in columns. Terminals with less room get less space for names, and the time without the date. */
const WIDTHS = { client: 20, operation: 28, duration: 8, size: 9 };
const NARROW_WIDTHS = { client: 12, operation: 22, duration: 7, size: 8 };
const WIDE_COLUMNS = 100;
/** A longer name moves the rest of its own line. */
const MAX_WIDTHS = { client: 28, operation: 40 };

/** Prints the last calls, and with `follow` each new one, until Ctrl-C. */
export async function log(context: CommandContext, options: LogOptions): Promise<number> {
  const { signal } = context;
  await using app = openApp(context, { store: options.store, reading: true });
  const journal = await openJournalReader(app);
  const isWanted = filterOf(options);
  const { calls, follow } = await journal.last({ limit: options.limit, isWanted, signal });
  const show = options.json ? (call: CallRecord) => context.out(jsonOf(call)) : linePrinter(context, calls);
  for (const call of calls) show(call);
  if (!options.follow) {
    if (calls.length === 0) context.note(nothingText(journal.place, options));
    return EXIT.success;
  }
  for await (const entries of follow(signal)) for (const { call } of entries) if (isWanted(call)) show(call);
  return EXIT.success;
}

function filterOf({ client, operation, failed }: LogOptions): (call: CallRecord) => boolean {
  const wantedClient = client?.toLowerCase();
  return (call) =>
    (wantedClient === undefined || call.client.toLowerCase().includes(wantedClient)) &&
    (operation === undefined || matchesGlob(operation, call.operation)) &&
    (!failed || call.outcome !== "ok");
}

function nothingText(folder: string, { client, operation, failed }: LogOptions): string {
  return client === undefined && operation === undefined && !failed
    ? `No call has been recorded in ${folder} yet.`
    : "No matching call has been recorded.";
}

/** Returns what prints a call in columns of fixed width, wide enough for the first calls, so later lines align too. */
function linePrinter(
  { io, palette, outPainted }: CommandContext,
  calls: readonly CallRecord[],
): (call: CallRecord) => void {
  const columns = columnsOf(io.stdout);
  const isNarrow = columns < WIDE_COLUMNS;
  const fitting = (least: number, most: number, texts: readonly string[]) =>
    Math.max(least, ...texts.map((text) => printable(text).length).filter((length) => length <= most));
  const widths = isNarrow
    ? NARROW_WIDTHS
    : {
        ...WIDTHS,
        client: fitting(
          WIDTHS.client,
          MAX_WIDTHS.client,
          calls.map(({ client }) => client),
        ),
        operation: fitting(WIDTHS.operation, MAX_WIDTHS.operation, calls.map(operationOf)),
      };
  let lastDay = "";
  return (call) => {
    const { atMs, client, durationMs, sizeBytes, outcome, code, gateway } = call;
    const operation = operationOf(call);
    const { day, time } = timeOf(atMs);
    if (isNarrow && day !== lastDay) outPainted(palette.dim(day));
    lastDay = day;
    const result = code === undefined ? outcome : `${outcome} ${printable(code)}`;
    const colour = outcome === "ok" ? palette.success : outcome === "error" ? palette.error : palette.warning;
    const line = [
      palette.dim(isNarrow ? time : `${day} ${time}`),
      printable(client).padEnd(widths.client),
      palette.accent(printable(operation)) + " ".repeat(Math.max(0, widths.operation - printable(operation).length)),
      unbroken(durationOf(durationMs).padStart(widths.duration)),
      unbroken(shownBytes(sizeBytes).padStart(widths.size)),
      colour(unbroken(result)),
      ...(gateway === undefined ? [] : [palette.dim(unbroken(`at ${printable(gateway)}`))]),
    ].join("  ");
    for (const each of wrap(line, { columns, hang: "          " })) outPainted(each);
  };
}

function operationOf({ operation, asked }: CallRecord): string {
  return asked === undefined ? operation : `${operation} (${asked})`;
}

function jsonOf({ atMs, client, operation, asked, durationMs, sizeBytes, outcome, code, gateway }: CallRecord): string {
  return printableJson({
    time: new Date(atMs).toISOString(),
    client,
    operation,
    asked,
    duration_ms: durationMs,
    size_bytes: sizeBytes,
    outcome,
    code,
    gateway,
  });
}

function timeOf(atMs: number): { day: string; time: string } {
  const at = new Date(atMs);
  const two = (value: number) => String(value).padStart(2, "0");
  return {
    day: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`,
  };
}

function durationOf(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
