// Offers to download the model for search by meaning, where a person first needs it: `setup`, `init` and `install`.
import { isTrunklineError, messageOf, printable } from "@trunkline/core";
import { declineModel, isModelDeclined, searchModelState } from "../../app/search-model.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { askYesNo } from "../../terminal/questions.js";
import { pullModels } from "./run.js";

/**
 * At a terminal, offers to download the model if it is missing. A no is remembered, so no command asks twice. A failed
 * download is not a failure of the command.
 */
export async function offerModel(context: CommandContext): Promise<void> {
  await followModelAnswer(context, await askForModel(context));
}

/** Asks, and changes nothing. Undefined if there is nothing to ask. */
export async function askForModel(context: CommandContext): Promise<boolean | undefined> {
  const { home } = context;
  if (!isAtTerminal(context) || (await isModelDeclined(home)) || (await searchModelState(context)) === "ready")
    return undefined;
  context.note("Search by meaning, for tools and documents, needs a model that runs on this");
  context.note("machine and sends nothing anywhere: 23 MB, and 25 to 90 MB to run it.");
  return await askYesNo(context, "Download it now with npm?");
}

/** Downloads the model, or remembers the no. */
export async function followModelAnswer(context: CommandContext, isWanted: boolean | undefined): Promise<void> {
  if (isWanted === undefined) return;
  if (!isWanted) {
    await declineModel(context.home);
    context.note("Without the model, search finds words. `trunkline models pull` downloads it later.");
    return;
  }
  try {
    await pullModels(context, { name: undefined });
    context.note("The first search by meaning takes a while: trunkline store search --type semantic <question>");
  } catch (error) {
    if (context.signal.aborted) throw error;
    const hint = isTrunklineError(error) && error.hint !== undefined ? `\n  ${printable(error.hint)}` : "";
    context.note(`The model was not downloaded: ${printable(messageOf(error))}${hint}`);
    context.note("`trunkline models pull` tries again.");
  }
}
