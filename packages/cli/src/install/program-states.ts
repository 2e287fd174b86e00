// Which agent programs are on this machine, and which of them have Trunkline.
import { type EntryPlace, type ImportPlace, readProgramFile } from "@trunkline/config";
import { TrunklineError } from "@trunkline/core";
import { AGENT_PROGRAMS, type AgentProgram, isPresent, userFile } from "./agent-programs.js";
import { startsTrunkline } from "./launch-command.js";

/** The name of the entry. */
export const ENTRY_NAME = "trunkline";

export interface ProgramState {
  readonly program: AgentProgram;
  /** The user's own file. */
  readonly path: string;
  /** `other`: it has an entry of that name that does not start Trunkline. */
  readonly state: "installed" | "other" | "not installed" | "not found here" | "unreadable";
  /** Why the file is unreadable. */
  readonly problem?: TrunklineError;
}

/** Returns the state of every program, in listing order. */
export async function programStates(place: ImportPlace): Promise<ProgramState[]> {
  return await Promise.all(
    AGENT_PROGRAMS.map(async (program) => {
      const path = await userFile(program, place);
      return { program, path, ...(await stateOf(program, path, place)) };
    }),
  );
}

/** Where a program's file has the entry. */
export function entryPlace({ format, table }: AgentProgram): EntryPlace {
  return { format, path: [table, ENTRY_NAME] };
}

async function stateOf(
  program: AgentProgram,
  path: string,
  place: ImportPlace,
): Promise<Pick<ProgramState, "state" | "problem">> {
  try {
    const { entry } = await readProgramFile(path, entryPlace(program));
    if (startsTrunkline(entry)) return { state: "installed" };
    if (entry !== undefined) return { state: "other" };
    return { state: (await isPresent(program, place)) ? "not installed" : "not found here" };
  } catch (error) {
    if (error instanceof TrunklineError) return { state: "unreadable", problem: error };
    throw error;
  }
}
