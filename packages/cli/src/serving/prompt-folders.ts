import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isFolderSync } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

/**
 * Where `PROMPT-*.md` files are looked for, the strongest first: the folder given, that of the environment, the project's
 * (here or above, up to the root of the git repository), the user's own.
 */
export function promptFolders(
  context: Pick<CommandContext, "cwd" | "env" | "home">,
  given: string | undefined,
): string[] {
  const { cwd, env, home } = context;
  const named = [given, env.TRUNKLINE_PROMPTS].flatMap((folder) => (folder ? [resolve(cwd, folder)] : []));
  return [...new Set([...named, projectFolder(cwd, home), join(home, "prompts")])];
}

/** The nearest one that is there, else the one that would be made here. */
function projectFolder(cwd: string, home: string): string {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const own = join(folder, ".trunkline");
    if (own !== home && isFolderSync(join(own, "prompts"))) return join(own, "prompts");
    const isTop = dirname(folder) === folder || statSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined;
    if (isTop) return join(resolve(cwd), ".trunkline", "prompts");
  }
}
