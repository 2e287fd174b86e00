// The agents that there are from the beginning, and the way to add more.
import type { Agent } from "./agent.js";
import { reactAgent } from "./react-agent.js";
import { addAgent, agentNamed, allAgents } from "./registry.js";
import { toolsAgent } from "./tools-agent.js";

addAgent(toolsAgent);
addAgent(reactAgent);

/** Adds a way of working. Throws `INVALID_ARGUMENT` where its name is taken. */
export function registerAgent(agent: Agent): void {
  addAgent(agent);
}

/** The agent of that name. Throws `NOT_FOUND` with the nearest names. */
export function findAgent(name: string): Agent {
  return agentNamed(name);
}

/** All agents: `tools`, `react` and what was registered. */
export function listAgents(): Agent[] {
  return allAgents();
}
