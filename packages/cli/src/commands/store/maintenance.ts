// Store maintenance: `status`, `verify`, `gc`, `repair`, `export` and `import`.
import { formatMs, printable } from "@trunkline/core";
import type { OperationParams, StatusParams, StatusResult } from "@trunkline/store";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, type StoreOptions, shownBytes, wantsJson } from "../../terminal/output.js";
import { table } from "../../terminal/table.js";
import { outJson } from "./out-json.js";

export async function status(context: CommandContext, params: StatusParams, options: StoreOptions): Promise<number> {
  const json = wantsJson(options);
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.status({ ...params, detailed: params.detailed || !json }, opened.calling("status"));
  opened.clearProgress();
  if (json) {
    outJson(context, result);
    return EXIT.success;
  }
  const bytes = (value: unknown) => (typeof value === "number" ? shownBytes(value) : "");
  const number = (value: unknown) => (typeof value === "number" ? String(value) : "");
  const percent = `${(result.dedupRatio * 100).toFixed(1)} %`;
  const rows = [
    ["store", opened.folder],
    ["documents", `${number(result.documents)} in ${counted(Number(result.collections), "collection")}`],
    ["snapshots", number(result.snapshots)],
    ["versions", number(result.versions)],
    ["in the trash", number(result.inTrash)],
    ["all bytes", bytes(result.totalBytes)],
    ["saved by deduplication", `${bytes(result.deduplicatedBytes)} (${percent})`],
    ["on disk", bytes(result.diskBytes)],
    ...wordsOnlyRows(result.wordsOnly),
    ...notIndexedRows(result.notIndexed),
    ...pendingRows(result.index),
    ...(params.detailed
      ? [
          ["contents", number(result.contents)],
          ["distinct chunks", `${result.uniqueBlocks}, ${bytes(result.uniqueBytes)}`],
          ["chunks, compressed", bytes(result.storedBytes)],
          ["removed files", number(result.removed)],
          ["open sessions", number(result.sessions)],
          ["format", number(result.format)],
        ]
      : []),
    ...fileTypeRows(result.fileTypes),
  ];
  for (const line of table(rows)) context.out(printable(line));
  return EXIT.success;
}

const KINDS = {
  minified: "minified",
  generated: "generated",
  sourceMap: "source maps",
  lock: "lock files",
  data: "data",
} as const;

/** Says how many documents are neither in the graph nor searched by meaning, and why. */
function wordsOnlyRows(wordsOnly: StatusResult["wordsOnly"]): string[][] {
  if (wordsOnly === undefined) return [];
  const kinds = Object.entries(KINDS).flatMap(([kind, name]) => {
    // The keys of KINDS are kinds.
    const count = wordsOnly.kinds[kind as keyof typeof KINDS];
    return count === undefined ? [] : [`${name}: ${count}`];
  });
  return [["indexed for words only", `${wordsOnly.documents} (${kinds.join(", ")})`]];
}

/** Says which documents could not be indexed, and how to try again. */
function notIndexedRows(notIndexed: StatusResult["notIndexed"]): string[][] {
  if (notIndexed === undefined) return [];
  const { documents, problems } = notIndexed;
  return [
    ["not indexed", `${documents}; to try again: trunkline store repair`],
    ...problems.map(({ path, problem }) => ["", `${path}: ${problem}`]),
  ];
}

/** Lists indexes that have not caught up yet. */
function pendingRows(index: unknown): string[][] {
  return Object.entries((index ?? {}) as Record<string, { pending?: number }>)
    .filter(([, { pending = 0 }]) => pending > 0)
    .map(([name, { pending = 0 }]) => [`index ${name}`, `${pending} still to be indexed`]);
}

function fileTypeRows(types: unknown): string[][] {
  return Object.entries((types ?? {}) as Record<string, { documents: number; bytes: number }>)
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .map(([name, { documents, bytes }]) => [
      name === "" ? "(no extension)" : name,
      `${counted(documents, "document")}, ${shownBytes(bytes)}`,
    ]);
}

/** Checks every chunk, reference and index. The exit code is 1 if something is damaged. */
export async function verify(
  context: CommandContext,
  params: OperationParams<"verify">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, mustExist: true });
  const result = await opened.store.verify(params, opened.calling("verify"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const rows = result.steps.map(({ name, checked, ms }) => [name, `${checked} checked`, formatMs(ms)]);
    for (const line of table(rows, { right: [1, 2] })) context.out(line);
    for (const { kind, message, hash, paths } of result.problems) {
      context.out(`damaged ${kind}${hash === undefined ? "" : ` ${hash}`}: ${printable(message)}`);
      for (const path of paths ?? []) context.out(`  in ${printable(path)}`);
    }
    context.out(result.ok ? "The store is intact." : `${counted(result.problems.length, "problem")} found.`);
    if (!result.ok) {
      context.note(
        "trunkline store repair rebuilds indexes, and recovers damaged chunks from files that still have them.",
      );
    }
  }
  return result.ok ? EXIT.success : EXIT.failure;
}

/** Empties the trash and removes unreferenced data. */
export async function gc(
  context: CommandContext,
  params: OperationParams<"gc">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, mustExist: true });
  const result = await opened.store.gc(params, opened.calling("gc"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const { documents, versions, contents, chunks, freedBytes } = result;
    const parts = [
      counted(documents, "document"),
      counted(versions, "version"),
      counted(contents, "content"),
      counted(chunks, "chunk"),
    ];
    context.out(`removed ${parts.join(", ")}; freed ${shownBytes(freedBytes)}`);
  }
  return EXIT.success;
}

/** Rebuilds the indexes and recovers damaged content where possible. The exit code is 1 if some is lost. */
export async function repair(
  context: CommandContext,
  params: OperationParams<"repair">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, mustExist: true });
  const result = await opened.store.repair(params, opened.calling("repair"));
  await opened.indexed();
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    context.out(`re-indexed ${counted(result.documents, "document")}; recovered ${counted(result.chunks, "chunk")}`);
    for (const hash of result.lost) context.out(`lost chunk ${hash}`);
    if (result.lost.length > 0) context.note("Add the files again if you have them; verify shows which they are.");
  }
  return result.lost.length > 0 ? EXIT.failure : EXIT.success;
}

export async function exportStore(
  context: CommandContext,
  params: OperationParams<"export">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, mustExist: true });
  const result = await opened.store.export(params, opened.calling("export"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else context.out(`exported to ${printable(result.path)} (${shownBytes(result.bytes)})`);
  return EXIT.success;
}

/** Replays the history of an export into this store. */
export async function importStore(
  context: CommandContext,
  params: OperationParams<"import">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  const result = await opened.store.import(params, opened.calling("import"));
  await opened.indexed();
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const { documents, contents, snapshots, newBytes } = result;
    const parts = [counted(documents, "document"), counted(contents, "content"), counted(snapshots, "snapshot")];
    context.out(`imported ${parts.join(", ")}; ${shownBytes(newBytes)} new`);
  }
  return EXIT.success;
}
