// `trunkline query` and `trunkline execute`: the gateway's own tools on the command line. The arguments are parsed
// here; the help comes from the operations themselves.
import { addAbortSignal } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { isRecord, isTrunklineError, parseJson, printableJson, TrunklineError } from "@trunkline/core";
import type { Operation, ServerRegistry } from "@trunkline/gateway";
import { openApp } from "../../app/app.js";
import { EXIT, exitCodeOf } from "../../app/exit-codes.js";
import { parseInputJson, readInputFile } from "../../app/input-file.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { readCallArguments } from "../call/call-arguments.js";
import { describeOperation, describeTool } from "./query-help.js";

export type ToolName = "query" | "execute";

export interface QueryOptions {
  tool: ToolName;
  words: readonly string[];
  help?: boolean;
  pretty?: boolean;
  maxTokens?: number;
  store?: string;
  mcp: string | undefined;
}

/** A person has no context window; an agent's own budget is much smaller. */
const UNLIMITED_TOKENS = 1_000_000_000;
/** A command answers one question, so it waits a little for the index of tools. What it computes is kept. */
const FIND_WAIT_MS = 4_000;
/** The name of each tool's list. */
const LIST = { query: "steps", execute: "operations" } as const;

/**
 * Runs the steps, or one operation, and prints the answer as JSON. Errors are JSON, too: of an operation with exit code
 * 1, of the command line or the configuration with 2.
 */
export async function runTool(context: CommandContext, options: QueryOptions): Promise<number> {
  const { tool, words } = options;
  const [first] = words;
  if (options.help || first === undefined) {
    await withRegistry(context, options, async (registry) => await printHelp(context, registry, options));
    if (options.help) return EXIT.success;
    context.note(
      `What should it do? For example: trunkline ${tool} ${tool === "query" ? "search query=retry" : "add path=notes.md"}`,
    );
    return EXIT.usage;
  }
  try {
    return await runSteps(context, options);
  } catch (error) {
    if (context.signal.aborted || !isTrunklineError(error) || error.code === "INTERNAL") throw error;
    const { code, message, hint } = error;
    const answer = { error: { code, message, hint } };
    context.out(printableJson(context.redactor.value(answer), isIndented(context, options) ? 2 : undefined));
    return exitCodeOf(code);
  }
}

async function runSteps(context: CommandContext, options: QueryOptions): Promise<number> {
  const { tool, maxTokens = UNLIMITED_TOKENS } = options;
  const args = await argumentsOf(context, options);
  const channel = isAtTerminal(context) ? await terminalChannel(context) : undefined;
  await using app = openApp(context, {
    mcp: options.mcp,
    store: options.store,
    config: "headless",
    embed: usesModel(args),
    service: { findWaitMs: FIND_WAIT_MS },
  });
  // An unusable named file is a usage error, not a failed operation.
  await app.config();
  const service = await app.service();
  const onProgress = ({ progress, total, message }: { progress: number; total?: number; message?: string }) =>
    channel?.progress?.({ server: tool, progress, total, message });
  const hasBudget = Object.keys(args).some((name) => /^max[_-]?tokens$/i.test(name));
  const params = { name: tool, arguments: hasBudget ? args : { ...args, max_tokens: maxTokens } };
  const exchange = await app.exchange("trunkline", { channel, trusted: true });
  const result = await service.handle("tools/call", params, { ...exchange, onProgress });
  channel?.clearProgress();
  context.out(shown(result, isIndented(context, options)));
  return result.isError === true || hasFailures(result.structuredContent) ? EXIT.failure : EXIT.success;
}

function isIndented({ io }: CommandContext, { pretty }: QueryOptions): boolean {
  return pretty === true || io.stdout.isTTY === true;
}

/** A batch that continues after an error succeeds as a whole, but a shell should see the failure. */
function hasFailures(answer: unknown): boolean {
  return isRecord(answer) && typeof answer.failed === "number" && answer.failed > 0 && Array.isArray(answer.results);
}

async function argumentsOf(context: CommandContext, options: QueryOptions): Promise<Record<string, unknown>> {
  const { tool, words } = options;
  const [first = "", ...pairs] = words;
  const written = await writtenJson(context, first);
  if (written === undefined) {
    const schema = await withRegistry(context, options, async (registry) => await schemaOf(registry, first));
    return { [LIST[tool]]: [{ op: first, params: readCallArguments({ pairs }, schema) }] };
  }
  if (pairs.length > 0) {
    throw new TrunklineError("USAGE", `Unexpected argument "${pairs[0]}": everything is in the JSON.`);
  }
  const example = `For example: trunkline ${tool} '{"${LIST[tool]}": [{"op": "describe"}]}'`;
  const value = await parseInputJson(written.text, written.place, example);
  if (Array.isArray(value)) return { [LIST[tool]]: value };
  if (!isRecord(value)) throw new TrunklineError("USAGE", `${tool} takes an object or a list.`);
  // A single step.
  return typeof value.op === "string" ? { [LIST[tool]]: [value] } : value;
}

/**
 * Returns an operation's schema. An unknown operation accepts anything: the answer then says what is wrong, as it does
 * for an agent.
 */
async function schemaOf(registry: ServerRegistry, name: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await registry.find(name)).schema;
  } catch (error) {
    if (isTrunklineError(error, "NOT_FOUND") || isTrunklineError(error, "TOOL_NOT_FOUND")) return {};
    throw error;
  }
}

/**
 * Returns the JSON text a word stands for: the word itself, a file, or stdin. Undefined if the word is an operation
 * name.
 */
async function writtenJson(
  context: CommandContext,
  word: string,
): Promise<{ text: string; place: string } | undefined> {
  if (/^\s*[[{]/.test(word)) return { text: word, place: "<argument>" };
  if (word === "-") return { text: await textOf(addAbortSignal(context.signal, context.io.stdin)), place: "<stdin>" };
  const path = word.startsWith("@") ? word.slice(1) : word;
  if (path === word && !/\.jsonc?$/.test(word) && !/^\.{0,2}[\\/]/.test(word)) return undefined;
  return { text: await readInputFile(context, path), place: path };
}

/** Loaded only at a terminal: it needs the client, which is slow to load. */
async function terminalChannel(context: CommandContext) {
  const { createTerminalChannel } = await import("../../terminal/terminal-channel.js");
  return createTerminalChannel(context);
}

/** Whether the model is needed. Opening it takes a second, and most operations do not use it. */
function usesModel(args: Record<string, unknown>): boolean {
  return /"op":\s*"(?:search|describe)"/.test(JSON.stringify(args));
}

/** Opens a registry just to describe the operations. */
async function withRegistry<T>(
  context: CommandContext,
  options: QueryOptions,
  work: (registry: ServerRegistry) => Promise<T>,
): Promise<T> {
  const { createRegistry } = await import("@trunkline/gateway");
  await using app = openApp(context, { mcp: options.mcp, store: options.store, config: "headless", embed: false });
  await using registry = createRegistry({
    backends: await app.backends(),
    workspace: context.cwd,
    logger: context.logger,
  });
  return await work(registry);
}

async function printHelp(
  context: CommandContext,
  registry: ServerRegistry,
  { tool, words: [name], help }: Pick<QueryOptions, "tool" | "words" | "help">,
): Promise<void> {
  // Stdout is for JSON, unless the help is what was asked for.
  const print = help ? context.out : context.note;
  if (name !== undefined && !/^[-@[{]/.test(name)) {
    const operation: Operation = await registry.find(name, { signal: context.signal });
    for (const line of describeOperation(operation, tool)) print(line);
    return;
  }
  for (const line of describeTool(registry.builtin, tool)) print(line);
}

/** Formats the answer: indented at a terminal, on one line for a pipe. */
function shown(result: Readonly<Record<string, unknown>>, indents: boolean): string {
  const [first] = Array.isArray(result.content) ? result.content : [];
  const text = isRecord(first) && typeof first.text === "string" ? first.text : "";
  const value = result.structuredContent ?? parseJson(text) ?? text;
  return printableJson(value, indents ? 2 : undefined);
}
