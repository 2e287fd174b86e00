// Lists in a program's file that keep it from starting a server although it has an entry.
import { entryIn } from "@trunkline/config";
import { isTrunklineError, printable } from "@trunkline/core";
import type { AgentProgram } from "./agent-programs.js";
import { ENTRY_NAME } from "./program-states.js";

/** Says what to change if the program would not start Trunkline; undefined if it would. */
export function allowListNote({ id, title }: AgentProgram, path: string, text: string): string | undefined {
  if (id !== "gemini") return undefined;
  const [allowed, excluded] = ["allowed", "excluded"].map((list) => listIn(text, path, list));
  if (allowed !== undefined && !allowed.includes(ENTRY_NAME))
    return `${title} starts only the servers in "mcp.allowed" of ${printable(path)}: add "${ENTRY_NAME}" to the list.`;
  if (excluded?.includes(ENTRY_NAME))
    return `${title} does not start the servers in "mcp.excluded" of ${printable(path)}: remove "${ENTRY_NAME}" from the list.`;
  return undefined;
}

function listIn(text: string, path: string, list: string): readonly unknown[] | undefined {
  try {
    const value = entryIn(text, { format: "json", path: ["mcp", list] }, path);
    return Array.isArray(value) ? value : undefined;
  } catch (error) {
    // Something else is called "mcp" there.
    if (isTrunklineError(error)) return undefined;
    throw error;
  }
}
