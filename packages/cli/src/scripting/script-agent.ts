// `agent` of the module `trunkline`.
import type { AgentResult, Message } from "@trunkline/agent";
import { atCallSite } from "./call-site.js";
import { type RunOptions, runAgent } from "./run-agent.js";

/**
 * Has an agent work on a prompt until there is an answer: `tools`, `react`, or one that was registered. A conversation is
 * gone on with by giving its messages, the new prompt last. Rejects as `Agent.run` does.
 */
export async function agent(
  name: string,
  prompt: string | readonly Message[],
  options: RunOptions = {},
): Promise<AgentResult> {
  return await atCallSite(agent, () => runAgent(name, prompt, options));
}
