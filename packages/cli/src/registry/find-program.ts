// Whether this machine has a program, without starting it.
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** Whether a program is on the PATH. Folders that depend on the working directory do not count. */
export async function hasProgram(
  name: string,
  { env, platform }: { env: Readonly<Record<string, string | undefined>>; platform: NodeJS.Platform },
): Promise<boolean> {
  const path = Object.entries(env).find(([key]) => key.toUpperCase() === "PATH")?.[1] ?? "";
  const endings = platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    for (const ending of endings) {
      const isThere = await access(join(folder, name + ending), constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return true;
    }
  }
  return false;
}
