// Where Git looks for hooks if a repository's configuration names another folder than `.git/hooks`, which is reserved.
import { dirname, join, resolve } from "node:path";
import { isAbsent, isInside, isWithin, readRegularFile, systemCodeOf } from "@trunkline/core";

/** Returns the hook folders of the repositories around a path, up to an allowed folder. */
export async function hookFolders(path: string, root: string): Promise<string[]> {
  const found: string[] = [];
  for (let folder = path; isInside(folder, root); folder = dirname(folder)) {
    const hooks = await hooksOf(folder);
    // A setting that covers the whole repository would make every file in it a hook.
    if (hooks !== undefined && !isWithin(folder, hooks)) found.push(hooks);
    if (folder === dirname(folder)) break;
  }
  return found;
}

async function hooksOf(repository: string): Promise<string | undefined> {
  const config = (await configOf(join(repository, ".git"))) ?? "";
  let isCore = false;
  let hooks: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) isCore = section.trim().toLowerCase() === "core";
    const value = /\bhookspath\s*=\s*"?([^"#;]*)/i.exec(line)?.[1]?.trim();
    if (isCore && value) hooks = resolve(repository, value);
  }
  return hooks;
}

/** Reads the configuration of a repository. The `.git` of a worktree is a file that names the repository's folder. */
async function configOf(git: string): Promise<string | undefined> {
  const own = await textOf(join(git, "config"));
  if (own !== undefined) return own;
  const target = /^gitdir:\s*(.+)$/m.exec((await textOf(git)) ?? "")?.[1]?.trim();
  if (target === undefined) return undefined;
  const folder = resolve(dirname(git), target);
  const common = (await textOf(join(folder, "commondir")))?.trim();
  return await textOf(join(common === undefined ? folder : resolve(folder, common), "config"));
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path)).toString("utf8");
  } catch (error) {
    if (isAbsent(error) || ["EISDIR", "EFTYPE", "EFBIG", "EACCES", "EPERM"].includes(systemCodeOf(error) ?? ""))
      return undefined;
    throw error;
  }
}
