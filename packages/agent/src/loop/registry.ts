// Agents by name.
import { nearestNames, TrunklineError } from "@trunkline/core";
import type { Agent } from "./agent.js";

const agents = new Map<string, Agent>();

/** Adds an agent under its name. Throws `INVALID_ARGUMENT` where the name is taken by another one. */
export function addAgent(agent: Agent): void {
  const known = agents.get(agent.name);
  if (known !== undefined && known !== agent) {
    throw new TrunklineError("INVALID_ARGUMENT", `There is already an agent called "${agent.name}".`);
  }
  agents.set(agent.name, agent);
}

/** The agent of that name. Throws `NOT_FOUND` with the nearest names. */
export function agentNamed(name: string): Agent {
  const found = agents.get(name);
  if (found !== undefined) return found;
  const names = [...agents.keys()];
  const nearest = nearestNames(name, names);
  throw new TrunklineError("NOT_FOUND", `There is no agent called "${name}".`, {
    hint: nearest.length > 0 ? `Did you mean ${nearest.join(" or ")}?` : `Agents are ${names.join(", ")}.`,
  });
}

/** All agents, in the order in which they were added. */
export function allAgents(): Agent[] {
  return [...agents.values()];
}
