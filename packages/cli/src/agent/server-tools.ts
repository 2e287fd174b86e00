// Tools of servers for an agent command, with whom the servers ask and who approves. Loaded only where tools are wanted: a
// question to a model alone does not wait for the client.
import type { Approver, Model, TokenUsage } from "@trunkline/agent";
import type { CommandContext } from "../terminal/context.js";
import { type AgentChannel, createAgentChannel } from "./agent-channel.js";
import { createApprover } from "./approval-prompt.js";
import type { TerminalTurns } from "./terminal-turns.js";
import { openToolbox, type Toolbox, type ToolboxOptions } from "./toolbox.js";

/** What the tools need of the command. */
export interface ServerToolsOptions extends Omit<ToolboxOptions, "channel"> {
  readonly yes?: boolean;
  readonly allow?: readonly string[];
  readonly terminal: TerminalTurns | undefined;
  /** The model as of now. */
  readonly model: () => Model;
  /** What a server's question to the model has cost. */
  readonly onUsage: (usage: TokenUsage) => void;
}

/** The tools and what belongs to them. */
export interface ServerTools {
  readonly toolbox: Toolbox;
  readonly approve: Approver;
  readonly channel: AgentChannel | undefined;
}

/** Opens what the options ask for. */
export async function openServerTools(context: CommandContext, options: ServerToolsOptions): Promise<ServerTools> {
  const { terminal, model, onUsage, yes = false, allow = [] } = options;
  const channel = createAgentChannel(context, { terminal, model, onUsage, yes, roots: options.root });
  const toolbox = await openToolbox(context, { ...options, channel });
  const { mustAsk } = toolbox;
  const approve = createApprover(context, { yes, allow: [...allow, ...toolbox.allow], mustAsk, terminal });
  return { toolbox, approve, channel };
}
