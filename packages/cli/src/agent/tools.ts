// The tools of an agent command and everything behind them: servers for `--tool`, the service for `--surface
// composite`, the channel for questions, and approval. Loaded only if tools are wanted, so a plain question to a model
// does not wait for the client.
import { type Approver, type Model, type TokenUsage, type Tool, toolsFrom } from "@trunkline/agent";
import type { RenderedResult } from "@trunkline/client";
import { type AgentTool, type Hub, renderBlocks } from "@trunkline/client";
import { type LoadedConfig, verdictOn } from "@trunkline/client/config";
import { dottedName, mayBelongTo, type PolicyRules, wireName } from "@trunkline/client/internal";
import { isGlob, isRecord, isTrunklineError, printable, type SourcedTool, TrunklineError } from "@trunkline/core";
import { type App, type AppChannel, openApp } from "../app/app.js";
import type { CommandContext } from "../terminal/context.js";
import type { TerminalTurns } from "../terminal/terminal-turns.js";
import { createAgentChannel } from "./agent-channel.js";
import type { AgentOptions } from "./agent-options.js";
import { createApprover } from "./approval-prompt.js";
import { isResourceTool, ResourceAccess } from "./resource-access.js";

export interface AgentToolsOptions
  extends Pick<AgentOptions, "tool" | "surface" | "mcp" | "root" | "store" | "yes" | "allow"> {
  /** The caller's name in the journal. */
  readonly name: string;
  readonly terminal: TerminalTurns | undefined;
  /** The current model. */
  readonly model: () => Model;
  /** Called with the cost of a server's question to the model. */
  readonly onUsage: (usage: TokenUsage) => void;
}

export interface AgentTools extends AsyncDisposable {
  readonly tools: readonly Tool[];
  readonly approve: Approver;
  readonly channel: AppChannel | undefined;
  hub(): Promise<Hub>;
}

/** Tools that the configured `policy` allows. */
export interface RuledTools {
  readonly tools: readonly Tool[];
  /** Titles of tools that must ask each time. */
  readonly mustAsk: ReadonlySet<string>;
}

/** The composite tools given to the model; the fourth only tests a connection. */
const COMPOSITE_TOOLS = new Set(["query", "execute", "session"]);

/** Opens what the options ask for: the composite surface, the named tools, or all of them. */
export async function openAgentTools(context: CommandContext, options: AgentToolsOptions): Promise<AgentTools> {
  const { mcp, store, root, terminal, model, onUsage, yes = false, allow = [] } = options;
  const isComposite = options.surface === "composite";
  const patterns = options.tool ?? ["*"];
  const channel = createAgentChannel(context, { terminal, model, onUsage, yes, roots: root });
  const app = isComposite
    ? openApp(context, { mcp, store, config: "headless" })
    : openApp(context, {
        mcp,
        roots: root,
        channel,
        wanted: (server) => patterns.some((pattern) => mayMatch(pattern, server)),
      });
  try {
    const config = await app.config();
    // The service itself enforces the policy for operations.
    const { tools, mustAsk } = isComposite
      ? { tools: await compositeTools(app, options.name, channel), mustAsk: new Set<string>() }
      : ruled(await selectTools(context, await app.hub(), patterns, policiesOf(config)), config);
    const approve = createApprover(context, {
      yes,
      allow: [...allow, ...(config.settings?.agentAllow ?? [])],
      servers: namesOf(config),
      mustAsk,
      terminal,
    });
    return { tools, approve, channel, hub: () => app.hub(), [Symbol.asyncDispose]: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** The names of all servers that may run. */
function namesOf({ servers }: LoadedConfig): string[] {
  return servers.filter(({ trusted }) => trusted).map(({ name }) => name);
}

export function policiesOf({ settings }: LoadedConfig): readonly PolicyRules[] {
  return settings?.policies ?? [];
}

/** Returns the tools allowed by the configured `policy`. Throws `DENIED` if it allows none. */
export function ruled(tools: readonly Tool[], config: LoadedConfig): RuledTools {
  const policies = policiesOf(config);
  if (policies.length === 0) return { tools, mustAsk: new Set() };
  const servers = namesOf(config);
  const denied = tools.filter(({ title }) => verdictOn(title, policies, servers) === "deny");
  if (tools.length > 0 && denied.length === tools.length) {
    throw new TrunklineError(
      "DENIED",
      `The configuration does not allow ${denied.map(({ title }) => title).join(", ")}.`,
      {
        hint: 'See "policy" in the configuration.',
      },
    );
  }
  const mustAsk = new Set(
    tools.map(({ title }) => title).filter((title) => verdictOn(title, policies, servers) === "ask"),
  );
  return {
    tools: tools
      .filter((tool) => !denied.includes(tool))
      .map((tool) => (mustAsk.has(tool.title) ? { ...tool, readOnly: false } : tool)),
    mustAsk,
  };
}

/**
 * Returns query, execute and session instead of a list of tools. The service of `serve` answers them in this process.
 */
async function compositeTools(app: App, name: string, channel: AppChannel | undefined): Promise<Tool[]> {
  const { context } = app;
  // An unusable named file is a usage error, not a failed operation.
  await app.confirmProject();
  const service = await app.service();
  const { tools } = await service.handle("tools/list", {}, await app.exchange(name, { channel }));
  const listed = (Array.isArray(tools) ? tools : [])
    .filter(isRecord)
    .filter((tool) => COMPOSITE_TOOLS.has(String(tool.name)));
  if (listed.length !== COMPOSITE_TOOLS.size) {
    throw new TrunklineError("INTERNAL", "The service lacks a composite tool.");
  }
  return listed.map((tool) => ({
    name: String(tool.name),
    title: String(tool.name),
    description: String(tool.description),
    inputSchema: isRecord(tool.inputSchema) ? tool.inputSchema : {},
    readOnly: isRecord(tool.annotations) && tool.annotations.readOnlyHint === true,
    canonical: (args, asked) => service.canonicalArguments(String(tool.name), args, asked),
    async call(args, { signal, onProgress }) {
      const request = {
        ...(await app.exchange(name, { channel, signal })),
        ...(onProgress === undefined ? {} : { onProgress }),
      };
      const raw = await service.handle("tools/call", { name: tool.name, arguments: args }, request);
      return toOutput(await renderBlocks(raw, { home: context.home, logger: context.logger }));
    },
  }));
}

/** Whether a pattern could match a tool of this server. False positives are fine: the name table decides. */
export function mayMatch(pattern: string, server: string): boolean {
  if (isResourceTool(pattern)) return true;
  if (!isGlob(pattern)) return mayBelongTo(pattern, server);
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const head = bare(pattern.slice(0, pattern.search(/[*?[{]/))).replace(/^mcp/, "");
  const owner = bare(server).replace(/^mcp/, "");
  return head.startsWith(owner) || owner.startsWith(head);
}

/**
 * Finds the tools that match the patterns, each once, in order. Rejects with `TOOL_NOT_FOUND` or `AMBIGUOUS` and the
 * candidates, or with the error of an unreachable server. The policies only limit whose resources can be read; see
 * {@link ruled} for the rest.
 */
export async function selectTools(
  context: CommandContext,
  hub: Hub,
  patterns: readonly string[],
  policies: readonly PolicyRules[] = [],
): Promise<Tool[]> {
  const { signal } = context;
  const chosen = new Map<string, SourcedTool>();
  const resources = new ResourceAccess(hub, policies);
  // Connect once for all patterns, so that servers connect in parallel.
  await hub.connect(
    hub
      .status()
      .map(({ name }) => name)
      .filter((server) => patterns.some((pattern) => mayMatch(pattern, server))),
    signal,
  );
  for (const pattern of patterns) {
    const hasResources = await resources.choose(pattern, signal);
    if (isResourceTool(pattern)) continue;
    for (const tool of await find(hub, pattern, { signal, mayBeEmpty: hasResources })) {
      chosen.set(dottedName(tool), tool);
    }
  }
  noteMissing(context, hub, patterns);
  const keys = [...chosen.values()];
  const names = hub.names();
  const reading = new Set(keys.filter((tool) => tool.annotations?.readOnlyHint === true).map(dottedName));
  const fromHub = toolsFrom(
    {
      tools: () => keys,
      callTool: async (server, tool, args, options) => {
        const name = dottedName({ server, tool });
        const now = hub.names().get({ server, tool });
        if (reading.has(name) && now !== undefined && now.annotations?.readOnlyHint !== true) throw noLongerReads(name);
        return await hub.callTool(server, tool, args, options);
      },
    },
    {
      names: (tool) => (names.get(tool) === undefined ? wireName(tool) : names.name(tool, "wire")),
      render: async (raw) => toOutput(await renderBlocks(raw, { home: context.home, logger: context.logger })),
    },
  );
  return [...fromHub, ...resources.tools(context).map(asTool)];
}

/** The tool was chosen, and is called without asking, because it said that it only reads. */
function noLongerReads(name: string): TrunklineError {
  return new TrunklineError("DENIED", `${name} no longer says that it only reads, so it needs approval.`, {
    hint: "Start again: the user is then asked before it is called.",
  });
}

/** Notes which tools are missing: a glob uses whatever is available. */
function noteMissing(context: CommandContext, hub: Hub, patterns: readonly string[]): void {
  const globs = patterns.filter(isGlob);
  for (const { name, error } of hub.status()) {
    if (error === undefined || !globs.some((glob) => mayMatch(glob, name))) continue;
    context.note(`note: the tools of ${printable(name)} are missing: ${printable(error.message)}`);
  }
}

async function find(
  hub: Hub,
  pattern: string,
  { signal, mayBeEmpty }: { signal: AbortSignal; mayBeEmpty: boolean },
): Promise<readonly SourcedTool[]> {
  try {
    return isGlob(pattern) ? hub.names().match(pattern) : [await hub.findTool(pattern, signal)];
  } catch (error) {
    if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
    if (mayBeEmpty) return [];
    if (!isGlob(pattern)) throw error;
    // If nothing matches because a server did not respond, report that server's error.
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

/** Converts a rendered result for an agent. */
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
