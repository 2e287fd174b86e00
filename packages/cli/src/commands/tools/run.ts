import type { Hub, ToolNames } from "@trunkline/client";
import { dottedName, ownersOf } from "@trunkline/config";
import {
  isGlob,
  isTrunklineError,
  printable,
  printableJson,
  type SourcedTool,
  signatureOf,
  TrunklineError,
} from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { keepTools } from "../../app/known-tools.js";
import { type TypedServer, toolOfTyped, withTypedHint } from "../../app/typed-server.js";
import { whileConnecting } from "../../app/while-connecting.js";
import type { CommandContext } from "../../terminal/context.js";
import { Page } from "../../terminal/report-page.js";
import { table } from "../../terminal/table.js";
import { quantity } from "../../terminal/trust-prompt.js";

export interface ToolsOptions {
  pattern: string | undefined;
  json?: boolean;
  tokens?: boolean;
  changes?: boolean;
  approve?: string[];
  mcp: string | undefined;
  /** The server whose tools to list, instead of those in the configuration. */
  typed?: TypedServer;
}

/** Lists the tools of all servers, or those that match a name or glob. */
export async function tools(context: CommandContext, options: ToolsOptions): Promise<number> {
  const { typed } = options;
  const pattern = options.pattern === undefined ? undefined : toolOfTyped(options.pattern, typed);
  if (options.changes || options.approve !== undefined) {
    if (typed !== undefined) {
      throw new TrunklineError("USAGE", "--changes and --approve are for servers in the configuration.", {
        hint: "Add the server first: trunkline servers add <name> …",
      });
    }
    const { approveDefinitions, showChanges } = await import("./changes.js");
    return await (options.approve === undefined
      ? showChanges(context, options)
      : approveDefinitions(context, { ...options, approve: options.approve }));
  }
  const owner = pattern === undefined ? "" : headOf(pattern);
  await using app = openApp(context, {
    mcp: options.mcp,
    typed,
    // A name without a server can belong to any of them.
    wanted: owner.includes(".") ? (server) => owner.startsWith(`${server}.`) : undefined,
  });
  const hub = await app.hub();
  const wanted = pattern === undefined ? undefined : serversOf(pattern, hub);
  await whileConnecting(context, hub, {
    isWanted: (server) => wanted?.includes(server) ?? true,
    work: () => hub.connect(wanted, context.signal),
  });
  // Who asks for a server by its name does not ask about the others.
  const named = hub.status().some(({ name }) => name === pattern) && pattern !== undefined ? [pattern] : wanted;
  const failed = reportFailures(context, hub, { wanted: named, isTyped: typed !== undefined });
  // If nothing is connected, the name is not the problem.
  if (hub.tools().length === 0 && failed) {
    const states = hub.status().filter(({ name }) => wanted?.includes(name) ?? true);
    return states.some(({ state }) => state === "needs-auth") ? EXIT.signIn : EXIT.failure;
  }
  const found = pattern === undefined ? hub.tools() : matching(hub, pattern);
  if (options.tokens) await printCosts(context, hub, { found, json: options.json ?? false });
  else if (options.json)
    context.out(
      printableJson(
        found.map((tool) => toJson(tool, hub)),
        2,
      ),
    );
  else {
    const page = new Page(context);
    for (const tool of found) describe(page, tool, typed === undefined ? dottedName(tool) : tool.tool);
  }
  reportHeld(context, hub, wanted);
  if (typed === undefined) await keepTools(context, hub);
  return EXIT.success;
}

/** Finds a tool by its name, or else those that have the word in their names. A glob matches whole names. */
function matching(hub: Hub, pattern: string): readonly SourcedTool[] {
  try {
    return hub.names().match(pattern);
  } catch (error) {
    const isName = isTrunklineError(error, "TOOL_NOT_FOUND") || isTrunklineError(error, "AMBIGUOUS");
    if (!isName || isGlob(pattern)) throw error;
    const word = pattern.toLowerCase();
    const found = hub.tools().filter((tool) => dottedName(tool).toLowerCase().includes(word));
    if (found.length === 0) throw error;
    return found;
  }
}

/**
 * Returns the servers whose tools a pattern can match, or undefined for all. There is no need to wait for the others.
 */
function serversOf(pattern: string, hub: Hub): string[] | undefined {
  const owners = ownersOf(
    headOf(pattern),
    hub.status().map(({ name }) => name),
  );
  return owners.length === 0 ? undefined : owners;
}

/** The part of a pattern before its first wildcard. */
function headOf(pattern: string): string {
  return isGlob(pattern) ? pattern.slice(0, pattern.search(/[*?]/)) : pattern;
}

/** Reports on stderr which servers are missing from the list, and why. */
function reportFailures(
  context: CommandContext,
  hub: Hub,
  { wanted, isTyped }: { wanted: readonly string[] | undefined; isTyped: boolean },
): boolean {
  const missing = hub
    .status()
    .filter(({ name, state }) => state !== "connected" && state !== "disabled" && (wanted?.includes(name) ?? true));
  for (const { name, state, error } of missing) {
    if (state === "untrusted") continue;
    context.note(`${name}: ${error?.message ?? state}`, "error");
    const hint = isTyped && error !== undefined ? withTypedHint(error).hint : error?.hint;
    if ((state === "needs-auth" || isTyped) && hint !== undefined) context.note(`  ${hint}`);
  }
  if (!isTyped && missing.some(({ state }) => state !== "untrusted"))
    context.note("`trunkline doctor` says what to do.");
  return missing.length > 0;
}

/** Reports on stderr which tools are missing from the list because they wait for approval. */
function reportHeld(context: CommandContext, hub: Hub, wanted: readonly string[] | undefined): void {
  const held = hub.held().filter(({ kind, server }) => kind === "tools" && (wanted?.includes(server) ?? true));
  for (const { server, name, reasons } of held)
    context.note(printable(`${server}.${name} is held: ${reasons.map(({ text }) => text).join("; ")}`));
  if (held.length > 0) context.note("Review with `trunkline tools --changes`.");
}

function toJson(tool: SourcedTool, hub: Hub) {
  const names = hub.names();
  return {
    server: tool.server,
    tool: tool.tool,
    name: dottedName(tool),
    prefixed: names.name(tool, "prefixed"),
    wire: names.name(tool, "wire"),
    description: tool.description ?? null,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: tool.annotations,
  };
}

function describe(page: Page, tool: SourcedTool, name: string): void {
  const [summary = ""] = (tool.description ?? "").trim().split("\n");
  page.named(name, signatureOf(tool.inputSchema));
  if (summary !== "") page.text(summary, { indent: 4, hang: 4, colour: page.palette.dim });
}

async function printCosts(
  context: CommandContext,
  hub: Hub,
  options: { found: readonly SourcedTool[]; json: boolean },
): Promise<void> {
  const costs = await toolCosts(options.found, hub.names());
  if (options.json) {
    const servers = Object.fromEntries(
      byServer(costs).map(([server, own]) => [
        server,
        { tools: own.length, tokens: sum(own), short: sum(own, "short") },
      ]),
    );
    const totals = { total: sum(costs), total_short: sum(costs, "short") };
    context.out(printableJson({ encoding: "o200k_base", ...totals, servers, tools: costs }, 2));
    return;
  }
  const row = (label: string, own: readonly ToolCost[], what: string) => [
    label,
    String(sum(own)),
    String(sum(own, "short")),
    what,
  ];
  const rows = byServer(costs).flatMap(([server, own]) => [
    row(server, own, quantity(own.length, "tool")),
    ...own.map((cost) => row(`  ${cost.tool}`, [cost], "")),
  ]);
  const lines = table([["", "full", "short", ""], ...rows, row("total", costs, quantity(costs.length, "tool"))], {
    right: [1, 2],
  });
  for (const line of lines) context.out(printable(line));
  context.note(
    "Tokens of full definitions, as servers send them, and of short ones, as `serve` lists them. `trunkline doctor` says which tools agents see.",
  );
}

/** Sorts the most expensive server first, and within it the most expensive tool. */
function byServer(costs: readonly ToolCost[]): [string, ToolCost[]][] {
  const servers = new Map<string, ToolCost[]>();
  for (const cost of costs) servers.set(cost.server, [...(servers.get(cost.server) ?? []), cost]);
  return [...servers]
    .map(([server, own]): [string, ToolCost[]] => [server, own.sort((a, b) => b.tokens - a.tokens)])
    .sort(([, a], [, b]) => sum(b) - sum(a));
}

function sum(costs: readonly ToolCost[], of: "tokens" | "short" = "tokens"): number {
  return costs.reduce((total, cost) => total + cost[of], 0);
}

// Measures the cost of a tool list for a model, in o200k_base tokens: of each tool's full definition, with name,
// description and input schema, and of the short one that `serve` lists.

interface ToolCost {
  readonly server: string;
  readonly tool: string;
  /** Of the full definition. */
  readonly tokens: number;
  /** Of the short definition. */
  readonly short: number;
}

/** Counts the tokens of each tool. */
async function toolCosts(tools: readonly SourcedTool[], names: ToolNames<SourcedTool>): Promise<ToolCost[]> {
  const [{ countTokens }, { leanDefinition }] = await Promise.all([
    import("@trunkline/gateway/journal"),
    import("@trunkline/gateway"),
  ]);
  const full = tools.map((tool) => {
    const { description = "", inputSchema } = tool;
    return JSON.stringify({ name: names.name(tool, "prefixed"), description, inputSchema });
  });
  const short = tools.map((tool) => {
    const { description, inputSchema, annotations } = tool;
    return JSON.stringify(leanDefinition({ name: names.name(tool, "wire"), description, inputSchema, annotations }));
  });
  const counts = await countTokens([...full, ...short]);
  return tools.map(({ server, tool }, at) => ({
    server,
    tool,
    tokens: counts[at] ?? 0,
    short: counts[tools.length + at] ?? 0,
  }));
}
