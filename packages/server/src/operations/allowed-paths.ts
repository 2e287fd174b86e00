// Files and folders named by clients. Relative paths are resolved against the workspace. Over HTTP, all paths have to
// stay inside the workspace and the folders allowed at startup, after following links. The program's own folders are
// off limits to all clients, because files written there decide what gets run.
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { hasReservedName, isWithin, systemCodeOf, TrunklineError } from "@trunkline/core";
import type { Exchange } from "../interfaces/exchange.js";

export interface PlacesOptions {
  /** The folder that relative paths are resolved against; HTTP clients may read it. */
  readonly workspace: string;
  /** Additional folders that HTTP clients may read and write. */
  readonly allowPaths?: readonly string[] | undefined;
  /** The program's own folders, such as the user's configuration: clients never read or write there. */
  readonly ownFolders?: readonly string[] | undefined;
  /** Additional files and folders that clients may not write, such as a configuration file given explicitly. */
  readonly unwritable?: readonly string[] | undefined;
}

/** Who uses a path, and for what. */
interface PlaceUse {
  readonly exchange: Exchange;
  readonly parameter: string;
  /** The path will be written to. */
  readonly writes?: boolean;
}

/** Resolves paths given by a client. */
export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Returns the absolute path. Rejects with `DENIED` if this client may not use it. */
  async resolve(path: string, use: PlaceUse): Promise<string> {
    const { workspace, allowPaths = [] } = this.#options;
    const { exchange, parameter } = use;
    const absolute = resolve(workspace, path);
    const target = await realPathOf(absolute);
    await this.#keepOff(path, { ...use, absolute, target });
    if (exchange.caller.endpoint !== "http") return absolute;
    const roots = await Promise.all([workspace, ...allowPaths].map((root) => realPathOf(resolve(workspace, root))));
    if (roots.some((root) => isInside(target, root))) return absolute;
    throw new TrunklineError("DENIED", `${path} is outside the folders that HTTP clients may use.`, {
      hint: "Use a path inside the workspace, or start the server with --allow-path <folder>.",
      data: { parameter },
    });
  }

  /**
   * Rejects with `DENIED` for the program's own files and for folders where Git keeps hooks and other files it runs.
   */
  async #keepOff(
    path: string,
    { absolute, target, parameter, writes = false }: PlaceUse & { absolute: string; target: string },
  ): Promise<void> {
    const { ownFolders = [], unwritable = [] } = this.#options;
    const data = { parameter };
    for (const folder of ownFolders) {
      if (![absolute, target].some((each) => isWithin(each, folder)) && !isWithin(target, await realPathOf(folder)))
        continue;
      throw new TrunklineError("DENIED", `${path} is in Trunkline's own folder, which clients may not read or write.`, {
        hint: "Use another folder.",
        data,
      });
    }
    if (!writes) return;
    // Check the name itself too: a link with that name can lead anywhere.
    if (hasReservedName(absolute) || hasReservedName(target)) {
      throw new TrunklineError(
        "DENIED",
        `${path} is in a folder of Git or Trunkline, which clients may not write to.`,
        {
          hint: "Use another folder.",
          data,
        },
      );
    }
    for (const file of unwritable) {
      if (!isWithin(absolute, file) && !isWithin(target, await realPathOf(file))) continue;
      throw new TrunklineError("DENIED", `${path} is part of Trunkline's configuration, which clients may not write.`, {
        hint: "Use another name.",
        data,
      });
    }
  }
}

const MOST_LINKS = 40;

/** Returns the real path: follows links, even dangling ones, and keeps the parts that do not exist. */
async function realPathOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || links > MOST_LINKS) throw unreadable(path, error);
  }
  const target = await linkTarget(path);
  if (target !== undefined) return await realPathOf(resolve(dirname(path), target), links + 1);
  const parent = dirname(path);
  return parent === path ? path : join(await realPathOf(parent, links), basename(path));
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isMissing(error) || systemCodeOf(error) === "EINVAL") return undefined;
    throw unreadable(path, error);
  }
}

function isMissing(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

function unreadable(path: string, cause: unknown): TrunklineError {
  return new TrunklineError("IO", `Cannot access ${path}.`, { cause });
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || resolve(way) === way);
}
