// The tools of an agent command, and what stands behind them: a hub for `--tool`, the service for `--surface composite`.
import type { Tool } from "@trunkline/agent";
import type { Hub, LoadedConfig } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import { openConfiguredHub } from "../open-hub.js";
import { readHeadlessConfig } from "../read-config.js";
import type { CommandContext } from "../terminal/context.js";
import { confirmProjectFiles } from "../trust-prompt.js";
import type { AgentChannel } from "./agent-channel.js";
import type { AgentOptions } from "./agent-options.js";
import { mayMatch, selectTools } from "./select-tools.js";

/** The tools that were asked for. */
export interface Toolbox extends AsyncDisposable {
  readonly tools: readonly Tool[];
  /** Titles of tools that the configuration wants a question about each time. */
  readonly mustAsk: ReadonlySet<string>;
  /** Globs of the user's own settings. */
  readonly allow: readonly string[];
  /** The hub behind the tools. */
  hub(): Promise<Hub>;
}

/** What the tools are taken from. */
export interface ToolboxOptions extends Pick<AgentOptions, "tool" | "surface" | "mcp" | "root" | "store"> {
  readonly channel: AgentChannel | undefined;
  /** The name that the journal has for whoever asks. */
  readonly name: string;
}

/** Opens what the options ask for: the composite surface, the tools that were named, or all of them. */
export async function openToolbox(context: CommandContext, options: ToolboxOptions): Promise<Toolbox> {
  if (options.surface === "composite") return await openComposite(context, options);
  return await openDirect(context, options.tool ?? ["*"], options);
}

async function openDirect(
  context: CommandContext,
  patterns: readonly string[],
  { mcp, root, channel }: ToolboxOptions,
): Promise<Toolbox> {
  const opened = await openConfiguredHub(context, {
    mcp,
    lazy: true,
    wanted: (server) => patterns.some((pattern) => mayMatch(pattern, server)),
    ...(root === undefined ? {} : { roots: root }),
    ...(channel === undefined ? {} : { channel }),
  });
  try {
    const { hub, config } = opened;
    const selected = await selectTools(context, hub, patterns);
    return {
      ...(await ruled(selected, config)),
      allow: config.settings?.agentAllow ?? [],
      hub: async () => hub,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/** The tools as far as the configuration's `policy` allows them. */
export async function ruled(tools: readonly Tool[], config: LoadedConfig): Promise<Pick<Toolbox, "tools" | "mustAsk">> {
  const policies = config.settings?.policies ?? [];
  if (policies.length === 0) return { tools, mustAsk: new Set() };
  const { verdictOn } = await import("@trunkline/client/config");
  const denied = tools.filter(({ title }) => verdictOn(title, policies) === "deny");
  if (tools.length > 0 && denied.length === tools.length) {
    throw new TrunklineError(
      "DENIED",
      `The configuration does not allow ${denied.map(({ title }) => title).join(", ")}.`,
      {
        hint: 'See "policy" in the configuration.',
      },
    );
  }
  const mustAsk = new Set(tools.map(({ title }) => title).filter((title) => verdictOn(title, policies) === "ask"));
  return {
    tools: tools
      .filter((tool) => !denied.includes(tool))
      .map((tool) => (mustAsk.has(tool.title) ? { ...tool, readOnly: false } : tool)),
    mustAsk,
  };
}

async function openComposite(context: CommandContext, { mcp, store, channel, name }: ToolboxOptions): Promise<Toolbox> {
  const config = await readHeadlessConfig(context, mcp);
  await confirmProjectFiles(context, config);
  const { openCompositeTools } = await import("./composite-tools.js");
  const composite = await openCompositeTools(context, { mcp, store, channel, name });
  return {
    tools: composite.tools,
    // The service itself knows the rules for operations.
    mustAsk: new Set(),
    allow: config.settings?.agentAllow ?? [],
    hub: () => composite.opened.backends.hub(),
    [Symbol.asyncDispose]: () => composite[Symbol.asyncDispose](),
  };
}
