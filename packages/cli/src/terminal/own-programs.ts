// Which programs on the PATH are the user's own.
import type { CommandContext } from "./context.js";

export type ProgramPlaces = Pick<CommandContext, "env" | "cwd" | "userHome">;

/** Returns the environment for a program that we start by its name. A project may have put its folders on the PATH. */
export async function withoutProjectPrograms({ env, cwd, userHome }: ProgramPlaces): Promise<Record<string, string>> {
  const [{ foldersUpward, foreignFolders }, { withoutForeignPrograms }] = await Promise.all([
    import("@trunkline/config"),
    import("@trunkline/client/internal"),
  ]);
  const repository = (await foldersUpward(cwd)).at(-1) ?? cwd;
  const foreign = await foreignFolders([cwd, repository], userHome);
  const variables = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return withoutForeignPrograms(Object.fromEntries(variables), foreign);
}
