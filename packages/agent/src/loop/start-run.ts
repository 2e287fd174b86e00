// A run with everything that belongs to it: one budget and one frame key for it and for the agents that it starts.
import { TrunklineError } from "@trunkline/core";
import { createFrameKey } from "../tools/framing.js";
import { oneAtATime } from "../tools/tool.js";
import type { AgentRequest } from "./agent.js";
import { Budget } from "./budget.js";
import { delegateTools } from "./delegate.js";
import { Run } from "./run.js";

/** Starts the run of the agent of that name. Throws `INVALID_ARGUMENT` for two tools of one name. */
export function startRun(request: AgentRequest, agent: string): Run {
  const shared: AgentRequest = {
    ...request,
    budget: request.budget ?? new Budget(request.limits),
    frameKey: request.frameKey ?? createFrameKey(),
    // Sub-agents may work at the same time; whoever is asked has one question before them at a time.
    approve: (request.depth ?? 0) === 0 ? oneAtATime(request.approve) : request.approve,
  };
  const own = delegateTools(shared, { agent, onSpent: (spent) => run.addSpent(spent) });
  const tools = [...request.tools, ...own];
  const twice = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new TrunklineError("INVALID_ARGUMENT", `Two tools are called "${twice.name}".`);
  const run = new Run(shared, tools);
  return run;
}
