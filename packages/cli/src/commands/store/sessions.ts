// Sessions at the command line: `sessions`, `start`, `stop`, `pin`, `unpin` and `watch`. A session outlives the process
// that started it: its id is what a script hands on.
import type { SessionSummary, WatchedChange } from "@trunkline/store";
import { toWire } from "@trunkline/store/contract";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import {
  counted,
  outJson,
  type Paint,
  paintFor,
  type StoreOptions,
  shortHash,
  shownText,
  shownTime,
  wantsJson,
} from "../../terminal/output.js";
import { printable } from "../../terminal/printable.js";
import { table } from "../../terminal/table.js";
import { byPathOrHash } from "./finding.js";

/** Options of `trunkline store sessions`. */
export interface SessionsOptions extends StoreOptions {
  limit?: number;
  open?: boolean;
}

/** Options of `trunkline store pin` and `unpin`. */
export interface PinOptions extends StoreOptions {
  target: string;
  session: string;
}

/** Options of `trunkline store watch`. */
export interface WatchOptions extends StoreOptions {
  paths: readonly string[];
  collection?: string;
  label?: string;
  session?: string;
}

/** Lists sessions, the newest first. */
export async function listSessions(context: CommandContext, options: SessionsOptions): Promise<number> {
  const { limit, open } = options;
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.listSessions(
    { ...(limit === undefined ? {} : { limit }), ...(open === undefined ? {} : { open }) },
    opened.calling("sessions"),
  );
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const rows = result.sessions.map(({ sessionId, label, started, stopped, documents, pinned }) => [
      sessionId,
      shownTime(started),
      stopped === null ? "under way" : `until ${shownTime(stopped)}`,
      counted(documents, "document"),
      `${pinned} pinned`,
      printable(label ?? ""),
    ]);
    for (const line of table(rows, { right: [3, 4] })) context.out(line);
    if (rows.length === 0) context.note(open ? "No session is under way." : "There are no sessions yet.");
    if (rows.length < result.total) context.note(`${rows.length} of ${result.total}. For more: a larger --limit.`);
  }
  return EXIT.success;
}

/** Begins a session and prints its id. */
export async function startSession(
  context: CommandContext,
  options: StoreOptions & { label?: string },
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  const started = await opened.store.start({ label: options.label }, opened.calling("start"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, started);
  else context.out(started.sessionId);
  return EXIT.success;
}

/** Ends a session and sums it up. */
export async function stopSession(
  context: CommandContext,
  options: StoreOptions & { session: string },
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  await opened.store.resume({ sessionId: options.session }, opened.calling("stop"));
  const summary = await opened.store.stop({}, opened.calling("stop"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, summary);
  else {
    const { isTerminal } = paintFor(context);
    for (const change of ["added", "changed", "removed"] as const) {
      for (const path of summary[change]) context.out(`${LETTERS[change]}  ${shownText(path, isTerminal)}`);
    }
    for (const hash of summary.pinned) context.out(`P  ${hash}`);
    context.note(summaryOf(summary));
  }
  return EXIT.success;
}

/** Keeps content from gc, and in front of searches of the session; or no longer. */
export async function pin(context: CommandContext, options: PinOptions & { keep: boolean }): Promise<number> {
  const { target, session, keep } = options;
  await using opened = await openCommandStore(context, options);
  const { store } = opened;
  const calling = opened.calling(keep ? "pin" : "unpin");
  const result = await byPathOrHash(target, (named) =>
    keep ? store.pin({ ...named, session }, calling) : store.unpin({ ...named, session }, calling),
  );
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else context.out(`${result.pinned ? "pinned" : "unpinned"} ${shortHash(result.hash)}`);
  return EXIT.success;
}

const LETTERS = { added: "A", changed: "M", removed: "D" } as const;

/** Keeps the store current with files and folders until it is interrupted, which is how it is meant to end. */
export async function watch(context: CommandContext, options: WatchOptions): Promise<number> {
  const { paths, collection, label, session } = options;
  const json = wantsJson(options);
  const paint = paintFor(context);
  await using opened = await openCommandStore(context, options);
  const { store } = opened;
  if (session === undefined) await store.start({ label: label ?? "watch" }, { signal: context.signal });
  else await store.resume({ sessionId: session }, { signal: context.signal });
  const added = await store.add({ paths, collection }, opened.calling("add"));
  opened.clearProgress();
  for (const { path, message } of added.problems ?? []) {
    context.note(`not added: ${printable(path)}: ${printable(message)}`);
  }
  const print = (changes: readonly WatchedChange[]) => {
    for (const change of changes) context.out(json ? JSON.stringify(change) : changeLine(change, paint));
  };
  await store.watch({ paths, collection }, { signal: context.signal, onChanges: print });
  context.note(`watching ${paths.map(printable).join(", ")}; Ctrl-C ends it`);
  await untilAborted(context.signal);
  // The signal has done its work: what was noticed is still taken up, and the summary is made.
  const summary = await store.stop({});
  if (json) context.out(JSON.stringify(toWire(summary)));
  else context.note(summaryOf(summary));
  return EXIT.success;
}

function changeLine({ path, change }: WatchedChange, paint: Paint): string {
  const line = `${LETTERS[change]}  ${shownText(path, paint.isTerminal)}`;
  if (change === "added") return paint.added(line);
  return change === "removed" ? paint.removed(line) : line;
}

function summaryOf({ sessionId, added, changed, removed, pinned }: SessionSummary): string {
  const parts = [`${added.length} added`, `${changed.length} changed`, `${removed.length} removed`];
  return `session ${sessionId}: ${[...parts, ...(pinned.length > 0 ? [`${pinned.length} pinned`] : [])].join(", ")}`;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // Nothing else may keep the process alive between two changes.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  } finally {
    clearInterval(alive);
  }
}
