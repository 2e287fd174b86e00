// Paths that are not for clients to read or write: Trunkline's own folders and Git's. Whoever can write there decides what
// is run. Names are compared as the most forgiving file system would, so that no other spelling gets past.
import { sep } from "node:path";

/** Folders that steer what is run. */
const RESERVED = new Set([".git", ".trunkline"]);
/** What Windows makes of them in its short form. */
const SHORT_FORM = /^(?:git|trunkl)~\d+$/;

/** Whether a file or folder of this name is Git's or Trunkline's, in any spelling that a file system takes for it. */
export function isReservedName(name: string): boolean {
  const [plain = ""] = folded(name)
    // macOS passes over these characters in names.
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    // Windows takes what follows a colon for a stream of the file.
    .split(":");
  const bare = plain.replace(/[. ]+$/, "");
  return RESERVED.has(bare) || SHORT_FORM.test(bare);
}

/** Whether any part of a path is such a name. */
export function hasReservedName(path: string): boolean {
  return path.split(/[\\/]/).some(isReservedName);
}

/** Whether a path is the folder or lies in it, whatever the case of its letters. Both absolute and free of links. */
export function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [folded(path), folded(folder)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
