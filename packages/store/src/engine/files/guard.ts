// Paths that a store never indexes or overwrites besides its own folder: Trunkline's and Git's files.
import { join, relative } from "node:path";
import {
  type FileLimits,
  hasReservedName,
  isReservedName,
  isWithin,
  realPathOf,
  TrunklineError,
} from "@trunkline/core";

/** Paths of the program that uses the store. */
export interface GuardedPaths {
  /** Folders that `add` and `watch` do not enter and `restore` does not write to. */
  readonly ownFolders?: readonly string[];
  /** Files and folders that `restore` does not write to. */
  readonly unwritable?: readonly string[];
}

/** The current paths, with links resolved. */
export class Guard {
  readonly #own: readonly string[];
  readonly #unwritable: readonly string[];

  constructor({ ownFolders = [], unwritable = [] }: GuardedPaths) {
    this.#own = ownFolders.map(realPathOf);
    this.#unwritable = [...this.#own, ...unwritable.map(realPathOf)];
  }

  /** Whether to skip a file or folder below a root. Links must be resolved in both. The root itself is not checked. */
  leavesOut(path: string, root: string): boolean {
    if (hasReservedName(relative(root, path))) return true;
    return this.#own.some((folder) => isWithin(path, folder) && !isWithin(root, folder));
  }

  /** Returns why a file must not be written below a folder (links resolved), or undefined if it can be. */
  refusal(target: string, folder: string): string | undefined {
    if (target.split("/").some(isReservedName)) return "files of Git and Trunkline are never written";
    const path = join(folder, target);
    const isGuarded = this.#unwritable.some((own) => isWithin(path, own));
    return isGuarded ? "Trunkline's own files are never written" : undefined;
  }
}

/**
 * Throws `DENIED` if a path leads elsewhere than when it was checked: someone may have put a link in its place. `real` is
 * where it leads now.
 */
export function requireUnmoved(path: string, real: string, limits: FileLimits | undefined): void {
  if (limits === undefined || limits.realPaths[path] === real) return;
  throw new TrunklineError("DENIED", `${path} has changed while it was checked: it now leads to another place.`, {
    hint: "Try again.",
  });
}
