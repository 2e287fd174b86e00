import { addAbortSignal } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import type { LoadedConfig } from "@trunkline/config";
import { dottedName, mayBelongTo } from "@trunkline/config";
import { isTrunklineError, printableJson, TrunklineError } from "@trunkline/core";
import { RPC_CODES } from "@trunkline/protocol";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { readInputFile } from "../../app/input-file.js";
import type { TypedServer } from "../../app/typed-server.js";
import { toolOfTyped, withTypedHint } from "../../app/typed-server.js";
import { whileConnecting } from "../../app/while-connecting.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { readableResult } from "../../terminal/result-blocks.js";
import { readCallArguments, requireArguments, unlistedArguments } from "./call-arguments.js";
import { readCall } from "./call-expression.js";
import { checkOutput, saveResult } from "./save-result.js";

export interface CallOptions {
  tool: string;
  pairs: string[];
  /** All arguments as one JSON object; `@file` or `-` reads it. */
  input?: string;
  json?: boolean;
  /** Where to save images, audio and other binaries of the result, or its text. */
  output?: string;
  timeout?: number;
  root?: string[];
  mcp: string | undefined;
  /** The server to call, instead of those in the configuration. */
  typed?: TypedServer;
}

/** Calls one tool and prints its result. The exit code is 1 if the result reports a failure. */
export async function call(context: CommandContext, options: CallOptions): Promise<number> {
  const { signal } = context;
  const { typed } = options;
  const written = readCall(options.tool);
  if (written?.args !== undefined && (options.pairs.length > 0 || options.input !== undefined)) {
    throw new TrunklineError("USAGE", "The arguments are given twice: in parentheses and after them.", {
      hint: "Write all of them in parentheses, or none.",
    });
  }
  const name = toolOfTyped(written?.tool ?? options.tool, typed);
  await using app = openApp(context, {
    mcp: options.mcp,
    typed,
    wanted: (server) => mayBelongTo(name, server),
    roots: options.root,
  });
  if (typed === undefined) refuseServer(await app.config(), name, options.pairs);
  const given = { pairs: options.pairs, ...(await readInput(context, options.input)) };
  if (options.output !== undefined) await checkOutput(context, options.output);
  const hub = await app.hub();
  const tool = await whileConnecting(context, hub, {
    isWanted: (server) => mayBelongTo(name, server),
    work: () =>
      hub.findTool(name, signal).catch((error: unknown) => {
        throw typed === undefined ? error : withTypedHint(error);
      }),
  });
  const args = written?.args ?? readCallArguments(given, tool.inputSchema);
  const unlisted = unlistedArguments(args, tool.inputSchema);
  if (unlisted !== undefined) context.note(unlisted);
  requireArguments(typed === undefined ? dottedName(tool) : tool.tool, args, tool.inputSchema);
  const { journalled } = await import("../../app/journalled-call.js");
  const result = await journalled(app, dottedName(tool), () =>
    hub.call(tool, args, { signal, ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }) }),
  ).catch((error: unknown) => {
    throw isAtTerminal(context) ? error : withAskingHint(error);
  });
  app.clearProgress();
  const readable = readableResult(result.raw);
  const { output } = options;
  const rest = output === undefined || result.isError ? readable.text : await saveResult(context, readable, output);
  if (options.json) context.out(printableJson(result.raw, 2));
  else if (result.isError) context.note(readable.text);
  else if (rest !== "" || output === undefined) context.out(rest);
  if (readable.binaries.length > 0 && output === undefined && context.notePalette.isTerminal && !options.json)
    context.note("Save it with --output <file>.");
  return result.isError ? EXIT.failure : EXIT.success;
}

/** `call docs search`: the server and the tool are two words. */
function refuseServer({ servers }: LoadedConfig, name: string, [tool]: readonly string[]): void {
  if (!servers.some((server) => server.name === name)) return;
  const isTool = tool !== undefined && /^[\w.-]+$/.test(tool);
  throw new TrunklineError("USAGE", `"${name}" is a server, not a tool.`, {
    hint: isTool
      ? `Put a dot between the server and the tool: trunkline call ${name}.${tool}`
      : `List its tools: trunkline tools '${name}.*'`,
  });
}

/** Returns the text of `--input`: as given, of a file after `@`, or of stdin for `-` and `@-`. */
async function readInput(
  context: CommandContext,
  written: string | undefined,
): Promise<{ input?: string; inputPlace?: string }> {
  if (written === undefined) return {};
  if (written === "-" || written === "@-")
    return { input: await textOf(addAbortSignal(context.signal, context.io.stdin)), inputPlace: "<stdin>" };
  if (!written.startsWith("@")) return { input: written };
  const path = written.slice(1);
  return { input: await readInputFile(context, path), inputPlace: path };
}

function withAskingHint(error: unknown): unknown {
  if (!isTrunklineError(error, "UPSTREAM") || error.data?.code !== RPC_CODES.missingCapability) return error;
  return new TrunklineError("UPSTREAM", error.message, {
    cause: error.cause,
    data: error.data,
    hint: "This tool asks the user something. Call it at a terminal, without redirecting standard input or standard error.",
  });
}
