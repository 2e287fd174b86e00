import { homedir } from "node:os";
import { dirname, resolve, sep } from "node:path";

/** Whether a folder is the user's own, holds it, or is the root: taking all that in is hardly ever what was meant. */
export function isWholeHome(folder: string): boolean {
  const user = resolve(homedir());
  const isAbove = user === folder || user.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
  return isAbove || dirname(folder) === folder;
}
