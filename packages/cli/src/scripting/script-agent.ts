// `agent` of the module `trunkline`.
import type { AgentResult, Message } from "@trunkline/agent";
import { atCallSite } from "./call-site.js";
import { type RunOptions, runAgent } from "./run-agent.js";

/**
 * Has an agent work on a prompt until it has an answer. The agent is `tools`, `react`, or a registered one. To continue
 * a conversation, pass its messages, ending with the new prompt. Rejects like `Agent.run`.
 */
export async function agent(
  name: string,
  prompt: string | readonly Message[],
  options: RunOptions = {},
): Promise<AgentResult> {
  return await atCallSite(agent, () => runAgent(name, prompt, options));
}
