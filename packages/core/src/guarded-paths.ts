// Paths that clients must not read or write: Trunkline's own folders and Git's. Write access there means control over
// what runs. Names are compared as the most lenient file system would, so that no alternative spelling gets through.
import { sep } from "node:path";

/** Folders that control what runs. */
const RESERVED = new Set([".git", ".trunkline"]);
/** Their short names on Windows. */
const SHORT_FORM = /^(?:git|trunkl)~\d+$/;

/** Whether a name belongs to Git or Trunkline in any spelling a file system accepts. */
export function isReservedName(name: string): boolean {
  const [plain = ""] = folded(name)
    // macOS ignores these characters in names.
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    // Windows treats what follows a colon as a stream of the file.
    .split(":");
  const bare = plain.replace(/[. ]+$/, "");
  return RESERVED.has(bare) || SHORT_FORM.test(bare);
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

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
