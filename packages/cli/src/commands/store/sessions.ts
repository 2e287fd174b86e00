// Sessions on the command line: `sessions`, `start`, `stop`, `pin`, `unpin` and `watch`. A session outlives the process
// that started it: scripts pass its id on.
import { printable, printableJson } from "@trunkline/core";
import type { OperationParams, PinParams, SessionSummary, WatchedChange, WatchParams } from "@trunkline/store";
import { toWire } from "@trunkline/store/contract";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import { leftOutLine } from "../../app/left-out-line.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, pathShower, type StoreOptions, shortHash, shownTime, wantsJson } from "../../terminal/output.js";
import { shownPath, withRelativePaths } from "../../terminal/shown-path.js";
import { table } from "../../terminal/table.js";
import { byPathOrHash } from "./finding.js";
import { outJson } from "./out-json.js";

export async function listSessions(
  context: CommandContext,
  params: OperationParams<"list_sessions">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.listSessions(params, opened.calling("sessions"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const rows = result.sessions.map(({ sessionId, label, started, stopped, documents, pinned }) => [
      sessionId,
      shownTime(started),
      stopped === null ? "open" : `until ${shownTime(stopped)}`,
      counted(documents, "document"),
      `${pinned} pinned`,
      printable(label ?? ""),
    ]);
    for (const line of table(rows, { right: [3, 4] })) context.out(line);
    if (rows.length === 0) context.note(params.open ? "No session is open." : "There are no sessions yet.");
    if (rows.length < result.total) context.note(`${rows.length} of ${result.total}. Use a larger --limit for more.`);
  }
  return EXIT.success;
}

/** Starts a session and prints its id. */
export async function startSession(
  context: CommandContext,
  params: OperationParams<"start">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  const started = await opened.store.start(params, opened.calling("start"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, started);
  else context.out(started.sessionId);
  return EXIT.success;
}

/** Ends a session and prints its summary. */
export async function stopSession(
  context: CommandContext,
  _params: OperationParams<"stop">,
  options: StoreOptions & { readonly rest: readonly string[] },
): Promise<number> {
  const [session] = options.rest;
  await using opened = await openCommandStore(context, options);
  await opened.resume(session);
  const summary = await opened.store.stop({}, opened.calling("stop"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, summary);
  else {
    const shown = pathShower(context);
    for (const change of ["added", "changed", "removed"] as const) {
      for (const path of summary[change]) context.out(`${LETTERS[change]}  ${shown(path)}`);
    }
    for (const hash of summary.pinned) context.out(`P  ${hash}`);
    context.note(summaryOf(summary));
  }
  return EXIT.success;
}

/** Protects content from gc, and ranks it first in the session's searches. */
export async function pin(context: CommandContext, params: PinParams, options: StoreOptions): Promise<number> {
  return await changePin(context, options, { params, method: "pin" });
}

export async function unpin(context: CommandContext, params: PinParams, options: StoreOptions): Promise<number> {
  return await changePin(context, options, { params, method: "unpin" });
}

async function changePin(
  context: CommandContext,
  options: StoreOptions,
  { params, method }: { params: PinParams; method: "pin" | "unpin" },
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  const { path: target = "", session } = params;
  const result = await byPathOrHash(target, (named) =>
    opened.store[method]({ ...named, session }, opened.calling(method)),
  );
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else context.out(`${result.pinned ? "pinned" : "unpinned"} ${shortHash(result.hash)}`);
  return EXIT.success;
}

const LETTERS = { added: "A", changed: "M", removed: "D" } as const;

/** Keeps the store up to date with files and folders until it is interrupted, which is its normal end. */
export async function watch(
  context: CommandContext,
  params: WatchParams,
  options: StoreOptions & { label?: string; session?: string },
): Promise<number> {
  const { label, session } = options;
  const json = wantsJson(options);
  await using opened = await openCommandStore(context, options);
  const { store } = opened;
  if (session === undefined) await store.start({ label: label ?? "watch" }, { signal: context.signal });
  else await store.resume({ sessionId: session }, { signal: context.signal });
  const added = await store.add({ ...params, skipGenerated: true }, opened.calling("add"));
  opened.clearProgress();
  const leftOut = leftOutLine(added.leftOut);
  if (leftOut !== undefined) context.note(leftOut);
  for (const { path, message } of added.problems ?? []) {
    context.note(`not added: ${printable(shownPath(path, context.cwd))}: ${printable(message)}`);
  }
  const print = (changes: readonly WatchedChange[]) => {
    for (const change of changes) {
      const line = json ? printableJson(toWire(withRelativePaths(change, context.cwd))) : changeLine(context, change);
      context.outPainted(line);
    }
  };
  await store.watch(params, { signal: context.signal, onChanges: print });
  context.note(`watching ${params.paths.map(printable).join(", ")}; press Ctrl-C to stop`);
  await untilAborted(context.signal);
  // The signal only ends the watching: pending changes are still indexed, and the summary is printed.
  const summary = await store.stop({});
  if (json) context.out(printableJson(toWire(summary)));
  else context.note(summaryOf(summary));
  return EXIT.success;
}

function changeLine(context: CommandContext, { path, change }: WatchedChange): string {
  const { palette } = context;
  const line = `${LETTERS[change]}  ${pathShower(context)(path)}`;
  if (change === "added") return palette.success(line);
  return change === "removed" ? palette.error(line) : line;
}

function summaryOf({ sessionId, added, changed, removed, pinned }: SessionSummary): string {
  const parts = [`${added.length} added`, `${changed.length} changed`, `${removed.length} removed`];
  return `session ${sessionId}: ${[...parts, ...(pinned.length > 0 ? [`${pinned.length} pinned`] : [])].join(", ")}`;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // Keeps the process alive between changes.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  } finally {
    clearInterval(alive);
  }
}
