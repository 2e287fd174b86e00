// `--tool`: from names, URIs and globs to the tools of servers, in the hands of an agent.
import { type Tool, toolsFrom } from "@trunkline/agent";
import type { RenderedResult } from "@trunkline/client";
import {
  type AgentTool,
  dottedName,
  type Hub,
  isGlob,
  mayBelongTo,
  renderBlocks,
  resourceTools,
  wireName,
} from "@trunkline/client";
import { isTrunklineError, type SourcedTool } from "@trunkline/core";
import { printable } from "../printable.js";
import type { CommandContext } from "../terminal/context.js";

/** The two tools that belong to no server. */
const RESOURCE_TOOLS = ["list_mcp_resources", "read_mcp_resource"];

/** Whether a pattern may stand for a tool of this server. Too many is fine: the table of names decides. */
export function mayMatch(pattern: string, server: string): boolean {
  if (RESOURCE_TOOLS.includes(pattern)) return true;
  if (!isGlob(pattern)) return mayBelongTo(pattern, server);
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const head = bare(pattern.slice(0, pattern.search(/[*?[{]/))).replace(/^mcp/, "");
  const owner = bare(server).replace(/^mcp/, "");
  return head.startsWith(owner) || owner.startsWith(head);
}

/**
 * The tools that the patterns stand for, each once, in their order. Rejects with `TOOL_NOT_FOUND` or `AMBIGUOUS` and the
 * candidates, and with what is wrong with a server that cannot be reached.
 */
export async function selectTools(context: CommandContext, hub: Hub, patterns: readonly string[]): Promise<Tool[]> {
  const { signal } = context;
  const chosen = new Map<string, SourcedTool>();
  const own: AgentTool[] = [];
  // All at once, so that several servers are waited for together.
  await hub.connect(
    hub
      .status()
      .map(({ name }) => name)
      .filter((server) => patterns.some((pattern) => mayMatch(pattern, server))),
    signal,
  );
  for (const pattern of patterns) {
    const tools = resourceTools(hub, { home: context.home, logger: context.logger });
    const resourceTool = tools.find(({ name }) => name === pattern);
    if (resourceTool !== undefined) own.push(resourceTool);
    else for (const tool of await find(hub, pattern, signal)) chosen.set(dottedName(tool), tool);
  }
  noteMissing(context, hub, patterns);
  const keys = [...chosen.values()];
  const names = hub.names();
  const fromHub = toolsFrom(
    { tools: () => keys, callTool: (server, tool, args, options) => hub.callTool(server, tool, args, options) },
    {
      names: (tool) => (names.get(tool) === undefined ? wireName(tool) : names.name(tool, "wire")),
      render: async (raw) => toOutput(await renderBlocks(raw, { home: context.home, logger: context.logger })),
    },
  );
  return [...fromHub, ...own.map(asTool)];
}

/** A glob takes what is there; the person is told what is not. */
function noteMissing(context: CommandContext, hub: Hub, patterns: readonly string[]): void {
  const globs = patterns.filter(isGlob);
  for (const { name, error } of hub.status()) {
    if (error === undefined || !globs.some((glob) => mayMatch(glob, name))) continue;
    context.note(`note: the tools of ${printable(name)} are missing: ${printable(error.message)}`);
  }
}

async function find(hub: Hub, pattern: string, signal: AbortSignal): Promise<readonly SourcedTool[]> {
  if (!isGlob(pattern)) return [await hub.findTool(pattern, signal)];
  try {
    return hub.names().match(pattern);
  } catch (error) {
    if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
    // Nothing matches, perhaps because the server that has it did not answer: that is what to do something about.
    const failed = hub.status().find((server) => server.error !== undefined && mayMatch(pattern, server.name));
    throw failed?.error ?? error;
  }
}

function asTool({ name, description, inputSchema, run }: AgentTool): Tool {
  return {
    name,
    title: name,
    description,
    inputSchema,
    readOnly: true,
    call: async (args, { signal }) => toOutput(await run(args, signal === undefined ? {} : { signal })),
  };
}

/** A rendered result as an agent takes it. */
export function toOutput({ blocks, isError }: RenderedResult) {
  const images = blocks.flatMap((block) =>
    block.type === "image" ? [{ data: block.data, mediaType: block.mimeType }] : [],
  );
  const lines = blocks.flatMap((block) => {
    if (block.type === "image") return [];
    return [block.type === "text" ? block.text : JSON.stringify(block)];
  });
  return { text: lines.join("\n"), ...(images.length > 0 ? { images } : {}), ...(isError ? { isError } : {}) };
}
