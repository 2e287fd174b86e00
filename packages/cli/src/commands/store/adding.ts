// Commands that bring content into the store: `add` and `download`.
import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";
import { printable, TrunklineError } from "@trunkline/core";
import type { AddParams, AddResult, DownloadParams } from "@trunkline/store";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import { leftOutLine } from "../../app/left-out-line.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, type StoreOptions, shortHash, shownBytes, wantsJson } from "../../terminal/output.js";
import { shownPath } from "../../terminal/shown-path.js";
import type { Repeated } from "../flags.js";
import { outJson } from "./out-json.js";

/** Maximum number of problems to list. */
const SHOWN_PROBLEMS = 20;

/** Options of `download` beyond the operation's parameters. */
interface DownloadOptions extends StoreOptions {
  readonly header?: Repeated;
  readonly timeout?: number;
  readonly allowPrivate?: boolean;
  readonly session?: string;
}

/** Adds files, folders, or stdin. */
export async function add(
  context: CommandContext,
  params: AddParams,
  options: StoreOptions & { session?: string },
): Promise<number> {
  const source = await sourceOf(context, params);
  await using opened = await openCommandStore(context, options);
  await opened.resume(options.session);
  const result = await opened.store.add({ ...params, ...source }, opened.calling("add"));
  await opened.indexed();
  opened.clearProgress();
  const problems = result.problems ?? [];
  for (const { path, message } of problems.slice(0, SHOWN_PROBLEMS)) {
    context.note(`not added: ${printable(shownPath(path, context.cwd))}: ${printable(message)}`);
  }
  if (problems.length > SHOWN_PROBLEMS) context.note(`not added: ${problems.length - SHOWN_PROBLEMS} more`);
  const leftOut = leftOutLine(result.leftOut);
  if (leftOut !== undefined) context.note(leftOut);
  if (wantsJson(options)) outJson(context, result);
  else context.out(summaryOf(result, context.cwd));
  const failed = problems.length > 0 && result.files === 0 && result.skipped === problems.length;
  return failed ? EXIT.failure : EXIT.success;
}

async function sourceOf(
  { io, signal }: CommandContext,
  { paths = [], name }: AddParams,
): Promise<Pick<AddParams, "paths" | "content">> {
  if (!paths.includes("-")) {
    if (name === undefined) return {};
    throw new TrunklineError("USAGE", "--name is for content from stdin.", {
      hint: "A file keeps its path; for stdin: trunkline store add --name <name> -",
    });
  }
  if (paths.length > 1) {
    throw new TrunklineError("USAGE", "- means stdin and cannot be combined with paths.");
  }
  if (name === undefined) {
    throw new TrunklineError("USAGE", "Content from stdin needs a name.", {
      hint: "Use: trunkline store add --name <name> -",
    });
  }
  return { paths: undefined, content: await buffer(addAbortSignal(signal, io.stdin)) };
}

function summaryOf(
  { hash, path, size, newBytes, files, skipped, removed, snapshotId }: AddResult,
  cwd: string,
): string {
  const isNew = newBytes === 0 ? "nothing new" : `${shownBytes(newBytes)} new`;
  if (hash !== null) {
    return `${files === 0 ? "unchanged" : "added"} ${printable(shownPath(path, cwd))} (${shownBytes(size)}, ${isNew}) ${shortHash(hash)}`;
  }
  const parts = [
    `${counted(files, "file")} added`,
    `${skipped} skipped`,
    ...(removed ? [`${removed} removed`] : []),
    `${shownBytes(size)}, ${isNew}`,
    ...(snapshotId === undefined ? [] : [`snapshot ${snapshotId}`]),
  ];
  return parts.join("; ");
}

export async function download(
  context: CommandContext,
  params: DownloadParams,
  options: DownloadOptions,
): Promise<number> {
  const headers = headersOf(context, options.header);
  const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1000;
  await using opened = await openCommandStore(context, options);
  await opened.resume(options.session);
  const result = await opened.store.download(
    { ...params, headers, timeoutMs },
    { ...opened.calling("download", { unit: "bytes" }), allowPrivateAddresses: options.allowPrivate },
  );
  await opened.indexed();
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const resumed = result.resumedBytes > 0 ? `, ${shownBytes(result.resumedBytes)} of it earlier` : "";
    context.out(
      `downloaded ${printable(result.path)} (${shownBytes(result.size)}${resumed}) ${shortHash(result.hash)}`,
    );
  }
  return EXIT.success;
}

function headersOf(context: CommandContext, lines: Repeated): Record<string, string> | undefined {
  if (lines === undefined) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new TrunklineError("USAGE", `A header looks like 'Name: value'.`);
      const value = line.slice(at + 1).trim();
      context.redactor.add(value);
      return [line.slice(0, at).trim(), value];
    }),
  );
}
