// What a store never takes in and never writes over, besides its own folder: where Trunkline's and Git's own files are.
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { hasReservedName, isReservedName, isWithin, systemCodeOf } from "@trunkline/core";

/** Paths of the program that uses the store. */
export interface GuardedPaths {
  /** Folders that are neither entered by `add` and `watch` nor written by `restore`. */
  readonly ownFolders?: readonly string[] | undefined;
  /** Files and folders that `restore` does not write. */
  readonly unwritable?: readonly string[] | undefined;
}

/** The paths as they are now, links followed. */
export class Guard {
  readonly #own: readonly string[];
  readonly #unwritable: readonly string[];

  constructor({ ownFolders = [], unwritable = [] }: GuardedPaths) {
    this.#own = ownFolders.map(realPathOf);
    this.#unwritable = [...this.#own, ...unwritable.map(realPathOf)];
  }

  /** Whether a file or folder below a root is left out: both without links. What the root itself is does not matter. */
  leavesOut(path: string, root: string): boolean {
    if (hasReservedName(relative(root, path))) return true;
    return this.#own.some((folder) => isWithin(path, folder) && !isWithin(root, folder));
  }

  /** Why a file is not written below a folder without links; undefined where it may be. */
  refusal(target: string, folder: string): string | undefined {
    if (target.split("/").some(isReservedName)) return "files of Git and of Trunkline itself are not written";
    const path = join(folder, target);
    const isGuarded = this.#unwritable.some((own) => isWithin(path, own));
    return isGuarded ? "Trunkline's own configuration is not written" : undefined;
  }
}

/** Where a path really is; what does not exist yet is kept. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
