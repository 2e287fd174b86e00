// Commands that read from the store: `search`, `list` and `get`.
import { isTrunklineError, parseContentId, printable, printableJson, TrunklineError } from "@trunkline/core";
import type { GetParams, GetResult, ListParams, SearchHit, SearchParams } from "@trunkline/store";
import { type OpenedStore, openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import {
  pathShower,
  type StoreOptions,
  shortHash,
  shownBytes,
  shownText,
  shownTime,
  wantsJson,
  writeContent,
} from "../../terminal/output.js";
import type { Palette } from "../../terminal/palette.js";
import { shownPath } from "../../terminal/shown-path.js";
import { table } from "../../terminal/table.js";
import { outJson } from "./out-json.js";

/** Searches by keyword and meaning. The exit code is 1 if nothing is found, as with grep. */
export async function search(context: CommandContext, params: SearchParams, options: StoreOptions): Promise<number> {
  const { query, hash, type, explain = false } = params;
  if (query.trim() === "" && hash === undefined) {
    throw new TrunklineError("USAGE", "What do you want to search for?", { hint: "trunkline store search <words>" });
  }
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const byMeaning = type !== "keyword" && hash === undefined && (await opened.useModel());
  // An explicit semantic search waits until everything has a vector; other searches use what there is.
  if (byMeaning && type !== undefined) await opened.indexed();
  const result = await opened.store.search(params, opened.calling("search"));
  opened.clearProgress();
  const shown = "paths" in result ? result.paths.length : result.results.length;
  if (wantsJson(options)) outJson(context, result);
  else {
    const { palette } = context;
    // Another method was used: matters to users who asked for one, and if nothing was found.
    if (result.notice !== undefined && (type !== undefined || shown === 0)) context.note(result.notice);
    if ("paths" in result) for (const path of result.paths) context.out(pathShower(context)(path));
    else for (const hit of result.results) showHit(context, hit, { palette, isExplained: explain });
    noteRest(context, { shown, total: result.total, cursor: result.cursor });
    if (shown === 0) await noteNothing(context, opened);
  }
  return shown === 0 ? EXIT.failure : EXIT.success;
}

function showHit(context: CommandContext, hit: SearchHit, how: { palette: Palette; isExplained: boolean }): void {
  const { palette } = how;
  const line = hit.line === undefined ? "" : `:${palette.dim(String(hit.line))}`;
  const path = palette.accent(pathShower(context)(hit.path));
  // In a store of a few documents every word is common, and scores are close to zero.
  const score = hit.score < 0.0005 ? "" : `  ${palette.dim(hit.score.toFixed(3))}`;
  context.outPainted(`${path}${line}${score}`);
  if (hit.snippet.trim() !== "") {
    for (const text of hit.snippet.split("\n")) context.out(`  ${shownText(text, palette.isTerminal)}`);
  }
  if (how.isExplained && hit.explain !== undefined) context.outPainted(`  ${palette.dim(printableJson(hit.explain))}`);
}

/** Lists documents. The exit code is 1 if there are none. */
export async function list(context: CommandContext, params: ListParams, options: StoreOptions): Promise<number> {
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const result = await opened.store.list(params, opened.calling("list"));
  opened.clearProgress();
  const shown = "paths" in result ? result.paths.length : result.documents.length;
  if (wantsJson(options)) outJson(context, result);
  else {
    const { cwd } = context;
    if ("paths" in result) for (const path of result.paths) context.out(pathShower(context)(path));
    else {
      const rows = result.documents.map(({ size, modified, hash, path, collection, tags }) => [
        shownBytes(size),
        shownTime(modified),
        shortHash(hash),
        printable(shownPath(path, cwd)),
        [...(collection === "default" ? [] : [`in ${collection}`]), ...tags.map((tag) => `#${tag}`)]
          .map(printable)
          .join(" "),
      ]);
      for (const line of table(rows, { right: [0] })) context.out(line);
    }
    noteRest(context, { shown, total: result.total, cursor: result.cursor });
    if (shown === 0) await noteNothing(context, opened);
  }
  return shown === 0 ? EXIT.failure : EXIT.success;
}

/** Says that a list is incomplete, and how to continue. */
function noteRest(
  context: CommandContext,
  { shown, total, cursor }: { shown: number; total: number; cursor: string | undefined },
): void {
  if (cursor === undefined) return;
  context.note(`${shown} of ${total}. Use a larger --limit or --cursor ${cursor} for more.`);
}

/** Says so if the store is empty: the user may be looking in the wrong one. */
export async function noteNothing(context: CommandContext, { store, folder }: OpenedStore): Promise<void> {
  const { totalObjects: total } = await store.status({}, { signal: context.signal });
  if (total > 0) {
    context.note("Nothing found.");
    return;
  }
  context.note(`Nothing found: the store in ${folder} is empty.`);
  context.note("  Index this project with `trunkline init`, or add files with `trunkline store add <path>`.");
}

/** Content up to this size is read and verified in one piece. */
const PIECE_BYTES = 8 * 1024 * 1024;

/**
 * Writes a document's content, or part of it, to stdout or to a file. With `graph`, prints related documents instead.
 */
export async function get(context: CommandContext, params: GetParams, options: StoreOptions): Promise<number> {
  const { path: target = "", outputPath, graph, depth } = params;
  if (outputPath !== undefined && isPart(params)) {
    throw new TrunklineError("USAGE", "--output writes the whole content.", {
      hint: "For a part, redirect stdout to the file: trunkline store get … > file",
    });
  }
  if (depth !== undefined && !graph) {
    throw new TrunklineError("USAGE", "--depth needs --graph.");
  }
  await using opened = await openCommandStore(context, { ...options, reading: true });
  // Without --json the content is written below, piece by piece.
  const includeContent = wantsJson(options) && params.includeContent === true;
  const calling = opened.calling("get");
  const result = await byPathOrHash(target, ({ path, hash }) =>
    opened.store.get({ ...params, includeContent, path, hash }, calling),
  );
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else await showDocument(context, opened, { result, params });
  return EXIT.success;
}

function isPart({ lines, bytes, symbol }: GetParams): boolean {
  return lines !== undefined || bytes !== undefined || symbol !== undefined;
}

async function showDocument(
  context: CommandContext,
  opened: OpenedStore,
  { result, params }: { result: GetResult; params: GetParams },
): Promise<void> {
  const { outputPath: output, lines, symbol, graph, includeContent } = params;
  if (output !== undefined)
    context.note(
      `wrote ${printable(shownPath(result.outputPath ?? output, context.cwd))} (${shownBytes(result.size)})`,
    );
  else if (lines !== undefined || symbol !== undefined) {
    await writeContent(context, [new TextEncoder().encode(result.content ?? "")]);
  } else if (!graph || includeContent || isPart(params)) await streamOut(context, opened, result);
  if (!graph) return;
  if (result.related === undefined || result.path === undefined) {
    context.note("Only current documents are in the graph.");
    return;
  }
  const { path, hash, related } = result;
  const { graphTree } = await import("./graph-output.js");
  const origin = { key: `file:${path}`, type: "file", name: path, path, hash };
  for (const line of graphTree({ ...related, origin }, { palette: context.palette, cwd: context.cwd, reverse: false }))
    context.outPainted(line);
  if (related.notice !== undefined) context.note(related.notice);
  if (related.truncated)
    context.note(`There is more: trunkline store graph ${printable(shownPath(path, context.cwd))} --limit <number>`);
}

async function streamOut(context: CommandContext, { store }: OpenedStore, result: GetResult): Promise<void> {
  if (result.type === "binary" && context.io.stdout.isTTY === true) {
    throw new TrunklineError("USAGE", "This content is binary and would garble the terminal.", {
      hint: "Write it to a file with --output <file>, or redirect stdout.",
    });
  }
  const id = parseContentId(result.hash);
  const from = result.bytes?.from ?? 0;
  const end = result.bytes === undefined ? result.size : result.bytes.to + 1;
  async function* pieces() {
    for (let start = from; start < end; start += PIECE_BYTES)
      yield await store.bytes(id, { start, end: Math.min(end, start + PIECE_BYTES), signal: context.signal });
  }
  await writeContent(context, pieces());
}

const HASH_LIKE = /^(?:sha256[-:])?[0-9a-f]{8,64}$/i;

/** Tries the target as a document's path, then as a hash prefix if it looks like one. */
export async function byPathOrHash<R>(
  target: string,
  work: (named: Pick<GetParams, "path" | "hash">) => Promise<R>,
): Promise<R> {
  if (!HASH_LIKE.test(target)) return await work({ path: target });
  try {
    return await work({ path: target });
  } catch (error) {
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
  }
  return await work({ hash: target });
}
