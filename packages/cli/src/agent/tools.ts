// The tools of an agent command and everything behind them: servers for `--tool`, the service for `--surface
// composite`, the channel for questions, and approval. Loaded only if tools are wanted, so a plain question to a model
// does not wait for the client.
import type { Approver, Model, TokenUsage, Tool } from "@trunkline/agent";
import { type Hub, renderBlocks } from "@trunkline/client";
import { isRecord, TrunklineError } from "@trunkline/core";
import { type App, openApp } from "../app/app.js";
import type { AppChannel } from "../app/app-options.js";
import type { CommandContext } from "../terminal/context.js";
import type { TerminalTurns } from "../terminal/terminal-turns.js";
import { createAgentChannel } from "./agent-channel.js";
import type { AgentOptions } from "./agent-options.js";
import { createApprover } from "./approval-prompt.js";
import { isSignIn } from "./sign-in-tools.js";
import { type JournalCall, mayMatch, namesOf, selectTools, ToolSelection, toOutput } from "./tool-selection.js";

export { selectTools };

interface AgentToolsOptions
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
  /** The tools that the model has now. A sign-in adds some. */
  tools(): readonly Tool[];
  /** The error of a server whose tools were wanted and that still needs a sign-in. */
  neededSignIn(): TrunklineError | undefined;
  readonly approve: Approver;
  readonly channel: AppChannel | undefined;
  hub(): Promise<Hub>;
}

/** The composite tools given to the model; `serve --echo` lists one more, to test a connection. */
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
    // The service itself enforces the policy for operations.
    const composite = isComposite ? await compositeTools(app, options.name, channel) : [];
    const hub = isComposite ? undefined : await app.hub();
    // Read after the user was asked to approve the project's files.
    const config = await app.config();
    const journal: JournalCall = async (operation, run) => {
      const { journalled } = await import("../app/journalled-call.js");
      return await journalled(app, operation, run);
    };
    const selection =
      hub === undefined ? undefined : await ToolSelection.open(context, hub, { patterns, config, journal });
    const approve = createApprover(context, {
      yes,
      allow: [...allow, ...(config.settings?.agentAllow ?? [])],
      servers: namesOf(config),
      mustAsk: selection?.mustAsk ?? new Set(),
      isSignIn: async (name, signal) => await isSignIn(await app.hub(), name, signal),
      terminal,
    });
    return {
      tools: () => selection?.tools() ?? composite,
      neededSignIn: () => selection?.neededSignIn(),
      approve,
      channel,
      hub: () => app.hub(),
      [Symbol.asyncDispose]: () => app.close(),
    };
  } catch (error) {
    await app.close();
    throw error;
  }
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
