// Offers to download the model for search by meaning, where a person first needs it: `init` and `install`.
import { isTrunklineError, messageOf, printable } from "@trunkline/core";
import { embedPlaces, loadEmbedPackage, withOwnErrors } from "../../app/embed-package.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { askYesNo } from "../../terminal/questions.js";
import { pullModels } from "./run.js";

/** At a terminal, asks whether to download the model if it is missing. A failed download is not a failure of the command. */
export async function offerModel(context: CommandContext): Promise<void> {
  if (!isAtTerminal(context) || (await hasModel(context))) return;
  context.note("Search by meaning needs a model, which runs on this machine and sends nothing anywhere.");
  if (!(await askYesNo(context, "Download it now with npm?"))) {
    context.note("Without it, search finds words. `trunkline models pull` downloads it later.");
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

async function hasModel(context: CommandContext): Promise<boolean> {
  const { home, signal } = context;
  try {
    const embed = await loadEmbedPackage(embedPlaces(context));
    const models = await withOwnErrors(() => embed.modelStatus({ home, signal }));
    return models.some(({ state }) => state === "ready");
  } catch (error) {
    if (isTrunklineError(error, "NOT_FOUND")) return false;
    throw error;
  }
}
