// Paths that clients must not read or write: Trunkline's own folders and Git's. Write access there means control over
// what runs. Names are compared as the most lenient file system would, so that no alternative spelling gets through.
import { relative, resolve, sep } from "node:path";

/** Folders that control what runs. */
const RESERVED = new Set([".git", ".trunkline"]);
/** Their short names on Windows. */
const SHORT_FORM = /^(?:git|trunkl)~\d+$/;

/** Whether a name belongs to Git or Trunkline in any spelling a file system accepts. */
export function isReservedName(name: string): boolean {
  const bare = comparableName(name);
  return RESERVED.has(bare) || SHORT_FORM.test(bare);
}

/** Returns the form in which all spellings that some file system treats as the same name are equal. */
export function comparableName(name: string): string {
  const [plain = ""] = folded(name)
    // macOS ignores these characters in names.
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    // Windows treats what follows a colon as a stream of the file.
    .split(":");
  return plain.replace(/[. ]+$/, "");
}

/** Whether any part of a path is a reserved name. */
export function hasReservedName(path: string): boolean {
  return path.split(/[\\/]/).some(isReservedName);
}

/** Whether a path is the folder or inside it, ignoring case. Both must be absolute and free of links. */
export function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [folded(path), folded(folder)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

/** Whether a path is the folder or inside it, exactly as spelled. Both must be absolute and free of links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || resolve(way) === way);
}

/** Upper case first: file systems that ignore case treat `ſ` as `s` and `K` as `k`. */
function folded(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}
