// Files and folders that clients name. Relative ones are relative to the workspace; over HTTP all of them stay inside the
// workspace and the folders that were allowed at start, links followed.
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { systemCodeOf, TrunklineError } from "@trunkline/core";
import type { Exchange } from "../exchange.js";

/** Which folders clients may name. */
export interface PlacesOptions {
  readonly workspace: string;
  /** Further folders for clients over HTTP. */
  readonly allowPaths?: readonly string[] | undefined;
}

/** Resolves paths that a client gave. */
export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** The absolute path. Rejects with `DENIED` for one that this client may not name. */
  async resolve(path: string, { exchange, parameter }: { exchange: Exchange; parameter: string }): Promise<string> {
    const { workspace, allowPaths = [] } = this.#options;
    const absolute = resolve(workspace, path);
    if (exchange.caller.endpoint !== "http") return absolute;
    const target = await realPathOf(absolute);
    const roots = await Promise.all([workspace, ...allowPaths].map((root) => realPathOf(resolve(workspace, root))));
    if (roots.some((root) => isInside(target, root))) return absolute;
    throw new TrunklineError("DENIED", `${path} is outside the folders that clients over HTTP may use.`, {
      hint: "Use a path inside the workspace, or start the server with --allow-path <folder>.",
      data: { parameter },
    });
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
