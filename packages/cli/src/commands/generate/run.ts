import { dirname, resolve } from "node:path";
import type { Hub } from "@trunkline/client";
import { mayBelongTo } from "@trunkline/config";
import {
  fileReason,
  isAbsent,
  isFolderSync,
  isGlob,
  isTrunklineError,
  printable,
  printableJson,
  readRegularFile,
  type SourcedTool,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import type { TypedServer } from "../../app/typed-server.js";
import { toolOfTyped, withTypedHint } from "../../app/typed-server.js";
import { whileConnecting } from "../../app/while-connecting.js";
import type { CommandContext } from "../../terminal/context.js";
import { writeOut } from "../../terminal/output.js";
import { shownPath } from "../../terminal/shown-path.js";
import { clientSource, stampOf } from "./client-source.js";

export interface GenerateOptions {
  /** Names or globs of the tools to include. None: all. */
  patterns: readonly string[];
  output?: string;
  check?: boolean;
  force?: boolean;
  json?: boolean;
  mcp: string | undefined;
  typed: TypedServer | undefined;
}

/** Writes a typed client for the tools, or checks whether a written one is up to date. */
export async function generateClient(context: CommandContext, options: GenerateOptions): Promise<number> {
  const { output: out, check, force, json } = options;
  if (check && out === undefined)
    throw new TrunklineError("USAGE", "--check needs the file to check.", { hint: "Name it with --output <file>." });
  const path = out === undefined ? undefined : resolve(context.cwd, out);
  const before = path === undefined ? undefined : await readExisting(path);
  if (before !== undefined && stampOf(before) === undefined && !force) {
    throw new TrunklineError("USAGE", `${printable(String(out))} was not written by \`trunkline generate client\`.`, {
      hint: check ? "Name the generated file with --output." : "Name another file, or replace it with --force.",
    });
  }
  const { tools, missing } = await toolsFor(context, options);
  const failure = missing.length > 0 ? EXIT.failure : EXIT.success;
  for (const { name, reason } of missing) context.note(`${printable(name)} is left out: ${reason}`, "error");
  const { text, stamp, leftOut } = clientSource(tools);
  const facts = { stamp, tools: tools.length - leftOut.length };
  for (const { name } of leftOut)
    context.note(`${name} is left out: JavaScript calls a function named "then" by itself.`, "warning");
  if (path === undefined) {
    if (json) context.out(printableJson({ ...facts, source: text }, 2));
    else await writeOut(context, Buffer.from(text));
    return failure;
  }
  if (check && missing.length > 0) {
    context.note(`${out} cannot be checked without all servers.`, "error");
    return EXIT.failure;
  }
  const isCurrent = before !== undefined && stampOf(before) === stamp;
  if (check) {
    if (json) context.out(printableJson({ ...facts, file: out, current: isCurrent }, 2));
    if (isCurrent) context.note(`${out} is up to date.`);
    else {
      context.note(
        `${out} ${before === undefined ? "does not exist" : "is out of date: the tools have changed"}.`,
        "error",
      );
      context.note(`  Write it again: trunkline generate client --output ${out}`);
    }
    return isCurrent ? EXIT.success : EXIT.failure;
  }
  // The program that uses the file may call the tools of a server that only happens to be down.
  if (before !== undefined && missing.length > 0 && !force) {
    context.note(`${out} is left as it is, because it would lose tools. Replace it anyway with --force.`, "error");
    return EXIT.failure;
  }
  const isNewFolder = !isFolderSync(dirname(path));
  await write(path, text);
  if (json) context.out(printableJson({ ...facts, file: out, changed: !isCurrent }, 2));
  if (isNewFolder) context.note(`created the folder ${printable(shownPath(dirname(path), context.cwd))}`);
  context.note(`wrote ${out}${missing.length === 0 ? "" : ", which is incomplete"}`);
  return failure;
}

interface FoundTools {
  readonly tools: readonly SourcedTool[];
  /** Servers whose tools are unknown, and why. */
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
}

async function toolsFor(context: CommandContext, options: GenerateOptions): Promise<FoundTools> {
  const { mcp, typed } = options;
  const patterns = options.patterns.map((pattern) => toolOfTyped(pattern, typed));
  const isWanted = (server: string) =>
    patterns.length === 0 || patterns.some((pattern) => mayMatchToolOf(pattern, server));
  await using app = openApp(context, { mcp, typed, wanted: isWanted });
  const hub = await app.hub();
  const wanted = hub
    .status()
    .map(({ name }) => name)
    .filter(isWanted);
  await whileConnecting(context, hub, { isWanted, work: () => hub.connect(wanted, context.signal) });
  const missing = missingServers(hub, { isWanted, isTyped: typed !== undefined });
  if (patterns.length === 0) return { tools: hub.tools(), missing };
  const tools = [...new Set(patterns.flatMap((pattern) => matching(hub, pattern, missing.length > 0)))];
  return { tools, missing };
}

/** Whether a name or glob can match a tool of a server. */
function mayMatchToolOf(pattern: string, server: string): boolean {
  const head = isGlob(pattern) ? pattern.slice(0, pattern.search(/[*?]/)) : pattern;
  return mayBelongTo(pattern, server) || head.startsWith(`${server}.`) || `${server}.`.startsWith(head);
}

/** A tool that cannot be found may belong to a server that is missing, which is reported already. */
function matching(hub: Hub, pattern: string, isIncomplete: boolean): readonly SourcedTool[] {
  try {
    return hub.names().match(pattern);
  } catch (error) {
    if (isIncomplete && isTrunklineError(error, "TOOL_NOT_FOUND")) return [];
    throw error;
  }
}

/** The servers that cannot be included. Throws if nothing is left. */
function missingServers(
  hub: Hub,
  { isWanted, isTyped }: { isWanted: (server: string) => boolean; isTyped: boolean },
): FoundTools["missing"] {
  const wanted = hub.status().filter(({ name, state }) => isWanted(name) && state !== "disabled");
  const missing = wanted.filter(({ state }) => state !== "connected");
  const [first] = missing;
  if (first === undefined) return [];
  if (missing.length === wanted.length && first.error !== undefined)
    throw isTyped ? withTypedHint(first.error) : first.error;
  return missing.map(({ name, state, error }) => ({
    name,
    reason:
      error?.message ??
      `it is ${state}. Approve it with \`trunkline trust\`, or disable it: trunkline servers disable ${printable(name)}`,
  }));
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path)).toString("utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw unusable(path, "read", error);
  }
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFileAtomically(path, text);
  } catch (error) {
    throw unusable(path, "written", error);
  }
}

function unusable(path: string, what: "read" | "written", error: unknown): unknown {
  if (systemCodeOf(error) === undefined) return error;
  return new TrunklineError(
    "IO",
    `${printable(path)} cannot be ${what}: ${fileReason(error) ?? systemCodeOf(error)}.`,
    {
      cause: error,
    },
  );
}
