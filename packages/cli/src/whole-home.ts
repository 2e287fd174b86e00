import { dirname, resolve, sep } from "node:path";

/** Whether a folder is the user's own, holds it, or is the root: taking all that in is hardly ever what was meant. */
export function isWholeHome(folder: string, userHome: string): boolean {
  const user = resolve(userHome);
  const isAbove = user === folder || user.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
  return isAbove || dirname(folder) === folder;
}

/** Why such a folder is not taken in. */
export function wholeHomeReason(folder: string, userHome: string): string {
  const user = resolve(userHome);
  if (user === folder) return "it is your home folder";
  return dirname(folder) === folder ? "it is the root of the file system" : `it contains your home folder (${user})`;
}
