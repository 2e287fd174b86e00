import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Hub } from "@trunkline/client";
import type { TypedServer } from "@trunkline/client/config";
import {
  fileReason,
  isAbsent,
  printable,
  printableJson,
  type SourcedTool,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { toolOfTyped, withTypedHint } from "../../app/typed-server.js";
import { whileConnecting } from "../../app/while-connecting.js";
import type { CommandContext } from "../../terminal/context.js";
import { writeOut } from "../../terminal/output.js";
import { clientSource, stampOf } from "./client-source.js";

export interface GenerateOptions {
  /** Names or globs of the tools to include. None: all. */
  patterns: readonly string[];
  out?: string;
  check?: boolean;
  force?: boolean;
  json?: boolean;
  mcp: string | undefined;
  typed: TypedServer | undefined;
}

/** Writes a typed client for the tools, or checks whether a written one is up to date. */
export async function generateClient(context: CommandContext, options: GenerateOptions): Promise<number> {
  const { out, check, force, json } = options;
  if (check && out === undefined)
    throw new TrunklineError("USAGE", "--check needs the file to check.", { hint: "Name it with --out <file>." });
  const path = out === undefined ? undefined : resolve(context.cwd, out);
  const before = path === undefined ? undefined : await readExisting(path);
  if (before !== undefined && stampOf(before) === undefined && !force) {
    throw new TrunklineError("USAGE", `${printable(String(out))} was not written by \`trunkline generate client\`.`, {
      hint: check ? "Name the generated file with --out." : "Name another file, or replace it with --force.",
    });
  }
  const tools = await toolsFor(context, options);
  const { text, stamp, leftOut } = clientSource(tools);
  const facts = { stamp, tools: tools.length - leftOut.length };
  for (const { name } of leftOut)
    context.note(`${name} is left out: JavaScript calls a function named "then" by itself.`, "warning");
  if (path === undefined) {
    if (json) context.out(printableJson({ ...facts, source: text }, 2));
    else await writeOut(context, Buffer.from(text));
    return EXIT.success;
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
      context.note(`  Write it again: trunkline generate client --out ${out}`);
    }
    return isCurrent ? EXIT.success : EXIT.failure;
  }
  await write(path, text);
  if (json) context.out(printableJson({ ...facts, file: out, changed: !isCurrent }, 2));
  context.note(`wrote ${out}`);
  return EXIT.success;
}

async function toolsFor(context: CommandContext, options: GenerateOptions): Promise<readonly SourcedTool[]> {
  const { mcp, typed } = options;
  const patterns = options.patterns.map((pattern) => toolOfTyped(pattern, typed));
  await using app = openApp(context, { mcp, typed });
  const hub = await app.hub();
  await whileConnecting(context, hub, { work: () => hub.connect(undefined, context.signal) });
  requireAll(hub, typed !== undefined);
  if (patterns.length === 0) return hub.tools();
  return [...new Set(patterns.flatMap((pattern) => hub.names().match(pattern)))];
}

/** A client without the tools of a server that happens to be down would break the program that uses it. */
function requireAll(hub: Hub, isTyped: boolean): void {
  const missing = hub.status().find(({ state }) => state !== "connected" && state !== "disabled");
  if (missing === undefined) return;
  const { name, state, error } = missing;
  if (error !== undefined) throw isTyped ? withTypedHint(error) : error;
  throw new TrunklineError("SERVER_UNAVAILABLE", `The tools of "${printable(name)}" are unknown: it is ${state}.`, {
    hint: `Approve it with \`trunkline trust\`, or leave it out: trunkline servers disable ${printable(name)}`,
  });
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
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
