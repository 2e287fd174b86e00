// Shows the gateway's journal of calls, for people and for programs.
import { matchesGlob, printable, printableJson } from "@trunkline/core";
import { type CallRecord, followJournal, journalFolder, readJournal } from "@trunkline/server/journal";
import { EXIT } from "../../app/exit-codes.js";
import { storeFolder } from "../../app/folders.js";
import type { CommandContext } from "../../terminal/context.js";
import { shownBytes } from "../../terminal/output.js";

export interface LogOptions {
  store: string | undefined;
  follow?: boolean;
  limit: number;
  client?: string;
  operation?: string;
  failed?: boolean;
  format: "text" | "json";
}

const WIDTHS = { client: 20, operation: 28, duration: 8, size: 9 };

/** Prints the last calls, and with `follow` each new one, until Ctrl-C. */
export async function log(context: CommandContext, options: LogOptions): Promise<number> {
  const { signal } = context;
  const folder = journalFolder(context.home, storeFolder(context, options.store));
  const isWanted = filterOf(options);
  const show = options.format === "json" ? jsonOf : lineOf;
  const { calls, position } = await readJournal({ folder, limit: options.limit, isWanted, signal });
  for (const call of calls) context.out(show(call));
  if (!options.follow) {
    if (calls.length === 0) context.note(nothingText(folder, options));
    return EXIT.success;
  }
  for await (const call of followJournal({ folder, position, signal })) if (isWanted(call)) context.out(show(call));
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
    ? `No call has been recorded in ${folder} yet. \`trunkline serve\` records each one.`
    : "No matching call has been recorded.";
}

/** Formats a call in columns of fixed width, so later lines align too. */
function lineOf(call: CallRecord): string {
  const { client, operation, durationMs, sizeBytes, outcome, code } = call;
  return [
    timeOf(call.atMs),
    printable(client).padEnd(WIDTHS.client),
    printable(operation).padEnd(WIDTHS.operation),
    durationOf(durationMs).padStart(WIDTHS.duration),
    shownBytes(sizeBytes).padStart(WIDTHS.size),
    code === undefined ? outcome : `${outcome} ${printable(code)}`,
  ].join("  ");
}

function jsonOf({ atMs, client, operation, durationMs, sizeBytes, outcome, code }: CallRecord): string {
  return printableJson({
    time: new Date(atMs).toISOString(),
    client,
    operation,
    duration_ms: durationMs,
    size_bytes: sizeBytes,
    outcome,
    ...(code === undefined ? {} : { code }),
  });
}

function timeOf(atMs: number): string {
  const time = new Date(atMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

function durationOf(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
