// `trunkline store graph`: shows how a document, or a symbol in one, relates to others.
import { isAbsolute, resolve } from "node:path";
import { isTrunklineError, TrunklineError } from "@trunkline/core";
import type { GraphParams, GraphResult } from "@trunkline/store";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { type StoreOptions, shownText, wantsJson } from "../../terminal/output.js";
import { partsOfKey, shownKey } from "../../terminal/shown-path.js";
import { table } from "../../terminal/table.js";
import { byPathOrHash } from "./finding.js";
import { graphTree } from "./graph-output.js";
import { outJson } from "./out-json.js";

/** This command also supports the mermaid format. */
type GraphOptions = Omit<StoreOptions, "format"> & { readonly format?: "text" | "json" | "mermaid" };

const KEY_LIKE = /^(?:file|symbol|external|tag|collection|content|version):./;

/** Shows what a node is related to, or which nodes exist. */
export async function graph(context: CommandContext, params: GraphParams, options: GraphOptions): Promise<number> {
  const { name: target, hash, nodeKey, listTypes, listType, reverse = false } = params;
  const asked = [target, hash, nodeKey, listTypes, listType].filter((value) => value !== undefined);
  if (asked.length !== 1) {
    throw new TrunklineError("USAGE", "Give one starting point, or --list-types, or --list-type <type>.", {
      hint: "For example trunkline store graph src/server.ts; a symbol's name, a hash or a node key work too.",
    });
  }
  const format = options.format === "mermaid" && !options.json ? "mermaid" : "json";
  await using opened = await openCommandStore(context, { ...options, reading: true });
  const ask = (named: Pick<GraphParams, "name" | "hash" | "nodeKey">) =>
    opened.store.graph({ ...params, format, name: undefined, ...named }, opened.calling("graph"));
  let result: GraphResult;
  const key = nodeKey ?? (target !== undefined && KEY_LIKE.test(target) ? target : undefined);
  if (key !== undefined) result = await byKey(key, context.cwd, (each) => ask({ nodeKey: each }));
  else if (target === undefined) result = await ask({});
  else result = await byPathOrHash(target, ({ path: name, hash: digits }) => ask({ name, hash: digits }));
  opened.clearProgress();
  if (result.notice !== undefined) context.note(result.notice);
  if (wantsJson(options)) outJson(context, result);
  else for (const line of linesOf(context, result, reverse)) context.outPainted(line);
  if ("truncated" in result && result.truncated) context.note("There is more. Use a larger --limit.");
  return EXIT.success;
}

/** Tries a node's key as it is, then with its path resolved, because keys are shown with relative paths. */
async function byKey<R>(key: string, cwd: string, work: (key: string) => Promise<R>): Promise<R> {
  const { kind, path, rest } = partsOfKey(key);
  if (path === undefined || isAbsolute(path)) return await work(key);
  try {
    return await work(key);
  } catch (error) {
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
  }
  return await work(`${kind}${resolve(cwd, path)}${rest}`);
}

function linesOf({ palette, cwd }: CommandContext, result: GraphResult, reverse: boolean): readonly string[] {
  if ("mermaid" in result) return [result.mermaid.trimEnd()];
  const shown = (text: string) => shownText(text, palette.isTerminal);
  if ("types" in result) {
    return table(
      result.types.map(({ type, count }) => [type, String(count)]),
      { right: [1] },
    );
  }
  if ("origin" in result) return graphTree(result, { palette, cwd, reverse });
  return table(result.nodes.map(({ name, key }) => [shown(name), shown(shownKey(key, cwd))]));
}
