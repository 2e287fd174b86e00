import { readdir } from "node:fs/promises";
import { systemCodeOf } from "@trunkline/core";

/** What lies in a folder; nothing where there is none. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return [];
    throw error;
  }
}
