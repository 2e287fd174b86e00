// The model for search by meaning: whether it is installed, and whether the user does not want it.
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, writeFileAtomically } from "@trunkline/core";
import type { ModelState } from "@trunkline/embed";
import type { CommandContext } from "../terminal/context.js";

export type SearchModelState = ModelState;

/** Returns the state of the model that search by meaning uses. */
export async function searchModelState(context: Pick<CommandContext, "home" | "signal">): Promise<SearchModelState> {
  const { home, signal } = context;
  const { modelStatus } = await import("@trunkline/embed");
  const states = (await modelStatus({ home, signal })).map(({ state }) => state);
  if (states.includes("ready")) return "ready";
  return states.includes("damaged") ? "damaged" : "missing";
}

/** Whether the user said no to the model. Only the existence of the file counts. */
export async function isModelDeclined(home: string): Promise<boolean> {
  try {
    await lstat(declinedFile(home));
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Remembers a no, for all commands that offer the model. */
export async function declineModel(home: string): Promise<void> {
  const text = "You declined the model for search by meaning. Remove this file to be asked again.\n";
  await writeFileAtomically(declinedFile(home), text, { mode: 0o600, folderMode: 0o700 });
}

function declinedFile(home: string): string {
  return join(home, "model-declined");
}
