// The user's own settings without anything of a project: for decisions that no project may influence.
import { join } from "node:path";
import { isAbsent } from "@trunkline/core";
import { readText } from "./config-files.js";
import { parseConfigText } from "./parse-file.js";
import type { FileSettings } from "./setting-fields.js";
import { readSettings } from "./settings.js";

/** Reads `settings.json` in Trunkline's home. A missing or malformed file has no settings. */
export async function readUserSettings(home: string, signal?: AbortSignal): Promise<FileSettings> {
  const file = join(home, "settings.json");
  try {
    const parsed = await parseConfigText(await readText(file, signal), file);
    return parsed.ok ? readSettings(parsed.root, { file, scope: "user" }).settings : {};
  } catch (error) {
    if (isAbsent(error)) return {};
    throw error;
  }
}
