// Agents by name: the built-in ones, which index.ts registers, and those that a program adds.
import { nearestNames, TrunklineError } from "@trunkline/core";
import type { Agent } from "./agent.js";

const agents = new Map<string, Agent>();

/** Registers an agent. Throws `INVALID_ARGUMENT` if another agent has its name. */
export function registerAgent(agent: Agent): void {
  const known = agents.get(agent.name);
  if (known !== undefined && known !== agent) {
    throw new TrunklineError("INVALID_ARGUMENT", `There is already an agent named "${agent.name}".`);
  }
  agents.set(agent.name, agent);
}

/** Throws `NOT_FOUND`, with the nearest names, if there is no such agent. */
export function findAgent(name: string): Agent {
  const found = agents.get(name);
  if (found !== undefined) return found;
  const names = [...agents.keys()];
  const nearest = nearestNames(name, names);
  throw new TrunklineError("NOT_FOUND", `No agent is named "${name}".`, {
    hint: nearest.length > 0 ? `Did you mean ${nearest.join(" or ")}?` : `Available agents: ${names.join(", ")}.`,
  });
}

/** All agents in registration order: `tools`, `react`, then others. */
export function listAgents(): Agent[] {
  return [...agents.values()];
}
