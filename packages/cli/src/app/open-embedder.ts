// The embedded model. Its code is part of the command; its weights and onnxruntime-node are not, and only `trunkline
// models pull` installs them.
import { type Embedder, isTrunklineError, type Logger } from "@trunkline/core";

/** Opens the embedded model; undefined if it was not pulled. The caller closes it. */
export async function openEmbedder(
  context: { home: string; logger: Logger },
  signal?: AbortSignal,
): Promise<Embedder | undefined> {
  const { home, logger } = context;
  const { createEmbedder } = await import("@trunkline/embed");
  try {
    return await createEmbedder({ home, logger, signal });
  } catch (error) {
    if (isTrunklineError(error, "NOT_FOUND")) return undefined;
    throw error;
  }
}
