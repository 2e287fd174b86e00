// Files and folders that clients name. Relative ones are relative to the workspace; over HTTP all of them stay inside the
// workspace and the folders that were allowed at start, links followed. The program's own folders are nobody's: whoever
// writes there decides what is run.
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { hasReservedName, isWithin, systemCodeOf, TrunklineError } from "@trunkline/core";
import type { Exchange } from "../interfaces/exchange.js";

/** Which folders clients may name. */
export interface PlacesOptions {
  /** The folder that relative paths are relative to, and that clients over HTTP may read. */
  readonly workspace: string;
  /** Further folders that clients over HTTP may read and write. */
  readonly allowPaths?: readonly string[] | undefined;
  /** Folders of the program itself, such as that of the user's configuration: clients never read or write there. */
  readonly ownFolders?: readonly string[] | undefined;
  /** Further files and folders that clients do not write, such as a configuration that was named. */
  readonly unwritable?: readonly string[] | undefined;
}

/** Who names a path, and for what. */
interface PlaceUse {
  readonly exchange: Exchange;
  readonly parameter: string;
  /** Something will be written there. */
  readonly writes?: boolean;
}

/** Resolves paths that a client gave. */
export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** The absolute path. Rejects with `DENIED` for one that this client may not name. */
  async resolve(path: string, use: PlaceUse): Promise<string> {
    const { workspace, allowPaths = [] } = this.#options;
    const { exchange, parameter } = use;
    const absolute = resolve(workspace, path);
    const target = await realPathOf(absolute);
    await this.#keepOff(path, { ...use, absolute, target });
    if (exchange.caller.endpoint !== "http") return absolute;
    const roots = await Promise.all([workspace, ...allowPaths].map((root) => realPathOf(resolve(workspace, root))));
    if (roots.some((root) => isInside(target, root))) return absolute;
    throw new TrunklineError("DENIED", `${path} is outside the folders that clients over HTTP may use.`, {
      hint: "Use a path inside the workspace, or start the server with --allow-path <folder>.",
      data: { parameter },
    });
  }

  /** Rejects with `DENIED` for what is the program's own, and for where Git keeps what it runs. */
  async #keepOff(
    path: string,
    { absolute, target, parameter, writes = false }: PlaceUse & { absolute: string; target: string },
  ): Promise<void> {
    const { ownFolders = [], unwritable = [] } = this.#options;
    const data = { parameter };
    for (const folder of ownFolders) {
      if (![absolute, target].some((each) => isWithin(each, folder)) && !isWithin(target, await realPathOf(folder)))
        continue;
      throw new TrunklineError(
        "DENIED",
        `${path} is in Trunkline's own folder, which clients neither read nor write.`,
        {
          hint: "Use another folder.",
          data,
        },
      );
    }
    if (!writes) return;
    // By its name too: a link of that name may lead anywhere.
    if (hasReservedName(absolute) || hasReservedName(target)) {
      throw new TrunklineError(
        "DENIED",
        `${path} is in a folder of Git or of Trunkline, where clients write nothing.`,
        {
          hint: "Use another folder.",
          data,
        },
      );
    }
    for (const file of unwritable) {
      if (!isWithin(absolute, file) && !isWithin(target, await realPathOf(file))) continue;
      throw new TrunklineError("DENIED", `${path} is part of Trunkline's configuration, which clients do not write.`, {
        hint: "Use another name.",
        data,
      });
    }
  }
}

const MOST_LINKS = 40;

/** Where a path really is: links are followed, also those that lead to nothing yet, and what does not exist is kept. */
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
  return new TrunklineError("IO", `${path} cannot be looked at.`, { cause });
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || resolve(way) === way);
}
