// Reads documents that are files in a folder, for a grep thread.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TrunklineError } from "@trunkline/core";
import type { GrepReader } from "../../src/grep/index.js";

export function openGrepReader({ folder }: { folder: string }): GrepReader {
  return {
    read({ path }) {
      try {
        return readFileSync(join(folder, path));
      } catch (error) {
        throw new TrunklineError("NOT_FOUND", `${path} is not there.`, { cause: error });
      }
    },
  };
}
