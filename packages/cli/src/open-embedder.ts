// The embedded model, where it is on this machine.
import { type Embedder, isTrunklineError, messageOf } from "@trunkline/core";
import { embedPlaces, loadEmbedPackage, withOwnErrors } from "./embed-package.js";
import type { CommandContext } from "./terminal/context.js";

/** Opens the model; undefined where the package or the weights are not installed. Whoever opens it closes it. */
export async function openEmbedder(
  context: Pick<CommandContext, "version" | "home" | "logger">,
  signal?: AbortSignal,
): Promise<Embedder | undefined> {
  const { home, logger } = context;
  try {
    return await withOwnErrors(async () => {
      const embedPackage = await loadEmbedPackage(embedPlaces(context));
      return await embedPackage.createEmbedder({ home, logger, signal });
    });
  } catch (error) {
    if (isTrunklineError(error, "NOT_FOUND")) return undefined;
    throw error;
  }
}

/** The same for a store, which can do without: a model that is there and cannot be opened is a warning. */
export async function openStoreEmbedder(
  context: Pick<CommandContext, "version" | "home" | "logger">,
  signal: AbortSignal,
): Promise<Embedder | undefined> {
  try {
    return await openEmbedder(context, signal);
  } catch (error) {
    if (!signal.aborted) context.logger.warn("no search by meaning", { error: messageOf(error) });
    return undefined;
  }
}
