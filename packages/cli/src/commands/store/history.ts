// Collections and their history: `snapshot`, `snapshots`, `collections`, `diff` and `restore`.
import { isTrunklineError, printable, TrunklineError } from "@trunkline/core";
import type { DiffParams, DiffResult, OperationParams, RestoreParams } from "@trunkline/store";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import {
  counted,
  pathShower,
  type StoreOptions,
  shownBytes,
  shownText,
  shownTime,
  wantsJson,
} from "../../terminal/output.js";
import { shownPath } from "../../terminal/shown-path.js";
import { table } from "../../terminal/table.js";
import { outJson } from "./out-json.js";

export async function snapshot(
  context: CommandContext,
  params: OperationParams<"snapshot">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  const taken = await opened.store.snapshot(params, opened.calling("snapshot"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, taken);
  else {
    context.out(
      `snapshot ${taken.id} of ${printable(taken.collection)}: ${counted(taken.documents, "document")}, ${shownBytes(taken.bytes)}`,
    );
  }
  return EXIT.success;
}

export async function listSnapshots(
  context: CommandContext,
  params: OperationParams<"list_snapshots">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.listSnapshots(params, opened.calling("snapshots"));
  opened.clearProgress();
  if (wantsJson(options)) {
    outJson(context, result);
    return EXIT.success;
  }
  const rows = result.snapshots.map(({ id, created, documents, bytes, collection: of, label }) => [
    id,
    shownTime(created),
    counted(documents, "document"),
    shownBytes(bytes),
    printable(of),
    printable(label ?? ""),
  ]);
  for (const line of table(rows, { right: [2, 3] })) context.out(line);
  if (rows.length === 0) context.note("There are no snapshots yet.");
  if (result.cursor !== undefined) {
    context.note(`${rows.length} of ${result.total}. Use a larger --limit or --cursor ${result.cursor} for more.`);
  }
  return EXIT.success;
}

export async function listCollections(
  context: CommandContext,
  params: OperationParams<"list_collections">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.listCollections(params, opened.calling("collections"));
  opened.clearProgress();
  if (wantsJson(options)) {
    outJson(context, result);
    return EXIT.success;
  }
  const rows = result.collections.map(({ name, documents, bytes, snapshots, roots }) => [
    printable(name),
    counted(documents, "document"),
    shownBytes(bytes),
    counted(snapshots, "snapshot"),
    roots.map(printable).join(" "),
  ]);
  for (const line of table(rows, { right: [1, 2, 3] })) context.out(line);
  return EXIT.success;
}

/** Shows what changed between two snapshots, or since one. With a path, shows how that document's text changed. */
export async function diff(context: CommandContext, params: DiffParams, options: StoreOptions): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.diff(params, opened.calling("diff"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, { ...result, relative: relativeChanges(result, context.cwd) });
  else {
    const lines = result.diff === undefined ? changesOf(context, result) : textDiff(context, result.diff, result);
    for (const line of lines) context.outPainted(line);
    if (lines.length === 0) {
      context.note("Nothing changed.");
      if (params.to === undefined && params.path === undefined)
        context.note(
          "  Files changed since they were indexed? `trunkline init` and `trunkline store add` read them again.",
        );
    }
  }
  return EXIT.success;
}

/** Formats each change as one letter and the path, as in version control. */
function changesOf(context: CommandContext, { added, removed, modified, renamed }: DiffResult): string[] {
  const { palette } = context;
  const shown = pathShower(context);
  return [
    ...added.map((path) => palette.success(`A  ${shown(path)}`)),
    ...modified.map((path) => `M  ${shown(path)}`),
    ...renamed.map(({ from, to }) => `R  ${shown(from)} -> ${shown(to)}`),
    ...removed.map((path) => palette.error(`D  ${shown(path)}`)),
  ];
}

/** The same changes with relative paths, for programs. */
function relativeChanges({ added, removed, modified, renamed }: DiffResult, cwd: string) {
  const shown = (path: string) => shownPath(path, cwd);
  return {
    added: added.map(shown),
    removed: removed.map(shown),
    modified: modified.map(shown),
    renamed: renamed.map(({ from, to }) => ({ from: shown(from), to: shown(to) })),
  };
}

/** Formats the diff of one document. Its first two lines name the document. */
function textDiff({ palette, cwd }: CommandContext, text: string, changes: DiffResult): string[] {
  if (text === "") return [];
  const [document = ""] = [...changes.added, ...changes.removed, ...changes.modified];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, index) => {
      if (index < 2 && line.startsWith(document, 4)) {
        const title = `${line.slice(0, 4)}${shownPath(document, cwd)}${line.slice(4 + document.length)}`;
        return palette.dim(shownText(title, palette.isTerminal));
      }
      const shown = shownText(line, palette.isTerminal);
      if (line.startsWith("+")) return palette.success(shown);
      return line.startsWith("-") ? palette.error(shown) : shown;
    });
}

/** Writes a snapshot or a collection to a folder. The exit code is 1 if an existing file was in the way. */
export async function restore(context: CommandContext, params: RestoreParams, options: StoreOptions): Promise<number> {
  const { snapshotId: source, collection, dryRun } = params;
  if (source === undefined && collection === undefined) {
    throw new TrunklineError("USAGE", "What do you want to restore?", {
      hint: "Name a snapshot or a collection; trunkline store snapshots lists them.",
    });
  }
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const { store } = opened;
  const calling = opened.calling("restore");
  const result =
    source === undefined
      ? await store.restore(params, calling)
      : await bySnapshotOrCollection(source, collection, (named) =>
          store.restore({ ...params, snapshotId: undefined, ...named }, calling),
        );
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const shown = pathShower(context);
    for (const path of result.paths ?? []) context.out(shown(path));
    for (const { path, reason } of result.conflicts) {
      context.note(`not restored: ${printable(shownPath(path, context.cwd))}: ${printable(reason)}`);
    }
    const done = dryRun ? "would be restored" : "restored";
    const summary = `${counted(result.restored, "file")} ${done}; ${result.skipped} skipped`;
    if (dryRun) context.note(summary);
    else context.out(summary);
    if (result.conflicts.length > 0) context.note("--overwrite replaces files that are in the way.");
  }
  return result.conflicts.length > 0 ? EXIT.failure : EXIT.success;
}

/** Tries the source as a snapshot's id or label, then as a collection. */
async function bySnapshotOrCollection<R>(
  source: string,
  collection: string | undefined,
  work: (named: { snapshotId?: string; collection?: string }) => Promise<R>,
): Promise<R> {
  if (collection !== undefined) return await work({ snapshotId: source, collection });
  try {
    return await work({ snapshotId: source });
  } catch (error) {
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
  }
  try {
    return await work({ collection: source });
  } catch (error) {
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
    throw new TrunklineError("NOT_FOUND", `The store has no snapshot and no collection "${source}".`, {
      cause: error,
      hint: "See trunkline store snapshots and trunkline store collections.",
    });
  }
}
