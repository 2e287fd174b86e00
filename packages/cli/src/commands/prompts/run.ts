import { type Hub, type PromptResult, renderBlocks, type SourcedPrompt } from "@trunkline/client";
import { isTrunklineError, printable, printableJson, TrunklineError } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { reportUnlisted } from "../../app/unlisted.js";
import { whileConnecting } from "../../app/while-connecting.js";
import type { CommandContext } from "../../terminal/context.js";

export interface PromptsOptions {
  server: string | undefined;
  json?: boolean;
  mcp: string | undefined;
}

export interface GetPromptOptions {
  name: string;
  pairs: readonly string[];
  json?: boolean;
  mcp: string | undefined;
}

export async function listPrompts(context: CommandContext, options: PromptsOptions): Promise<number> {
  const { server } = options;
  const { signal } = context;
  await using app = openApp(context, {
    mcp: options.mcp,
    wanted: server === undefined ? undefined : (name) => name === server,
  });
  const hub = await app.hub();
  const found = await whileConnecting(context, hub, {
    isWanted: (name) => server === undefined || name === server,
    work: () => hub.prompts({ signal, server }),
  });
  const exitCode = reportUnlisted(context, hub, { server, isEmpty: found.length === 0 });
  if (options.json) {
    context.out(
      printableJson(
        found.map(({ raw: _, ...prompt }) => prompt),
        2,
      ),
    );
  } else if (found.length > 0) for (const prompt of found) context.out(describe(prompt));
  else if (exitCode === EXIT.success)
    context.note(server === undefined ? "No server has prompts." : `Server "${server}" has no prompts.`);
  return exitCode;
}

export async function getPrompt(context: CommandContext, options: GetPromptOptions): Promise<number> {
  const { signal } = context;
  // A name without a server can belong to any of them.
  const isWanted = options.name.includes(".") ? (server: string) => options.name.startsWith(`${server}.`) : undefined;
  await using app = openApp(context, { mcp: options.mcp, wanted: isWanted });
  const hub = await app.hub();
  const prompt = await whileConnecting(context, hub, {
    isWanted,
    work: () => hub.findPrompt(options.name, signal),
  }).catch((error: unknown) => {
    // An unknown name was probably mistyped.
    if (!isTrunklineError(error, "NOT_FOUND")) throw error;
    throw new TrunklineError("USAGE", error.message, {
      cause: error,
      hint: error.hint,
    });
  });
  const args = readPairs(options.pairs, prompt);
  await requireArguments(hub, prompt, { args, signal });
  const result = await hub.getPrompt(prompt.server, prompt.name, args, { signal });
  app.clearProgress();
  const { raw, ...rest } = result;
  if (options.json) context.out(printableJson({ ...rest, ...raw }, 2));
  else context.out(await rendered(context, result));
  return EXIT.success;
}

function describe(prompt: SourcedPrompt): string {
  const [summary = ""] = (prompt.description ?? prompt.title ?? "").trim().split("\n");
  return `${signatureOf(prompt)}${summary === "" ? "" : `\n    ${printable(summary)}`}`;
}

function signatureOf({ server, name, arguments: args }: SourcedPrompt): string {
  const ordered = [...args].sort((a, b) => Number(b.required) - Number(a.required));
  return printable(`${server}.${name}(${ordered.map((arg) => `${arg.name}${arg.required ? "" : "?"}`).join(", ")})`);
}

function readPairs(pairs: readonly string[], prompt: SourcedPrompt): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)];
      throw new TrunklineError("USAGE", `"${pair}" is not an argument.`, {
        hint: `Use key=value. The prompt is ${signatureOf(prompt)}.`,
      });
    }),
  );
}

/** Reports the first missing argument, with the server's suggestions. */
async function requireArguments(
  hub: Hub,
  prompt: SourcedPrompt,
  { args, signal }: { args: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<void> {
  const missing = prompt.arguments.filter(({ name, required }) => required && args[name] === undefined);
  const [first] = missing;
  if (first === undefined) return;
  const ref = { type: "ref/prompt", name: prompt.name } as const;
  const { values } = await hub
    .complete(prompt.server, ref, { name: first.name, value: "" }, { signal, context: args })
    .catch((error: unknown) => {
      // Not every server supports completion, and the error about the argument matters more.
      if (isTrunklineError(error, "UPSTREAM") || isTrunklineError(error, "PROTOCOL")) return { values: [] };
      throw error;
    });
  const names = missing.map(({ name }) => name).join(", ");
  const choice = values.length === 0 ? "" : ` For example, ${first.name} can be ${values.slice(0, 10).join(", ")}.`;
  throw new TrunklineError("USAGE", `The prompt "${prompt.name}" needs ${names}.`, {
    hint: `The prompt is ${signatureOf(prompt)}.${choice}`,
  });
}

async function rendered(context: CommandContext, { messages }: PromptResult): Promise<string> {
  const { home, logger, signal } = context;
  const parts: string[] = [];
  for (const { role, content } of messages) {
    const { blocks } = await renderBlocks({ content: [content].flat() }, { home, logger, signal });
    const text = blocks.map((block) => (block.type === "text" ? block.text : placeholder(block))).join("\n");
    parts.push(`${printable(String(role))}:\n${text}`);
  }
  return parts.join("\n\n");
}

/** Describes a block that cannot be shown as text. `--json` prints everything. */
function placeholder(block: { type: string; [field: string]: unknown }): string {
  return block.type === "image" ? `[image: ${block.mimeType}]` : printableJson(block);
}
