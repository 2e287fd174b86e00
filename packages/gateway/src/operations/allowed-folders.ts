// The folders that a client may use: those given at startup (the workspace and --allow-path), those in the user's
// settings, the roots its editor declares, and what the user has allowed meanwhile.
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Root } from "@trunkline/client";
import {
  isAbsent,
  isInside,
  isRecord,
  isSensitiveToRead,
  isWithin,
  LOCAL_PRINCIPAL,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import type { Caller, Exchange } from "../interfaces/exchange.js";

export type FileUse = "read" | "write";

/** `paths` in the user's settings. */
interface PathSettings {
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** What happens with paths outside the allowed folders. */
  readonly outside: "ask" | "deny";
}

export interface FolderOptions {
  /** The folder that relative paths are resolved against. */
  readonly workspace: string;
  /** Folders that every client may read and write. Default: the workspace. */
  readonly allowedFolders?: readonly string[];
  /** The user's home folder. It is never a root, nor is a folder that contains it. */
  readonly userHome?: string;
  /** The user's settings. They can be loaded late, and can change. */
  readonly pathSettings?: () => Promise<PathSettings>;
}

/** Keeps the allowed folders of each client. All paths in it are real paths. */
export class AllowedFolders {
  readonly #options: FolderOptions;
  /** By client. */
  readonly #roots = new Map<string, readonly string[]>();
  readonly #granted = new Map<string, Record<FileUse, Set<string>>>();

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  /** Returns the folders for everyone and for this client, without asking it for roots. */
  async known({ id }: Caller, use: FileUse): Promise<string[]> {
    const { workspace, allowedFolders = [workspace], pathSettings } = this.#options;
    const settings = await pathSettings?.();
    const named = [...allowedFolders, ...(settings?.[use] ?? [])];
    const real = await Promise.all(named.map((folder) => realPathOf(resolve(workspace, folder))));
    return [...real, ...(this.#granted.get(id)?.[use] ?? []), ...(this.#roots.get(id) ?? [])];
  }

  async outside(): Promise<PathSettings["outside"]> {
    return (await this.#options.pathSettings?.())?.outside ?? "ask";
  }

  /** Asks a local client for its roots, unless it has reported them. A client that does not answer has none. */
  async roots({ caller, channel, signal }: Exchange): Promise<readonly string[]> {
    if (caller.principal !== LOCAL_PRINCIPAL || caller.endpoint !== "stdio") return [];
    if (this.#roots.has(caller.id) || channel.ask === undefined || channel.abilities?.roots === undefined) return [];
    let answer: unknown;
    try {
      answer = await channel.ask({ method: "roots/list", params: {} }, { server: "trunkline", signal });
    } catch {
      signal.throwIfAborted();
      return [];
    }
    const roots = isRecord(answer) && Array.isArray(answer.roots) ? answer.roots.filter(isRoot) : [];
    // A modern client reports no changes, so it is asked whenever its roots matter.
    if (caller.era === "legacy") await this.setRoots(caller, roots);
    return await this.#usable(roots);
  }

  async setRoots(caller: Caller, roots: readonly Root[]): Promise<void> {
    this.#roots.set(caller.id, await this.#usable(roots));
  }

  /** The user has allowed these paths until the client disconnects. */
  grant({ id }: Caller, use: FileUse, paths: readonly string[]): void {
    const granted = this.#granted.get(id) ?? { read: new Set(), write: new Set() };
    for (const path of paths) granted[use].add(path);
    this.#granted.set(id, granted);
  }

  release({ id }: Caller): void {
    this.#roots.delete(id);
    this.#granted.delete(id);
  }

  /** Resolves roots, and drops those that would allow far more than a project. */
  async #usable(roots: readonly Root[]): Promise<string[]> {
    const { userHome } = this.#options;
    const home = userHome === undefined ? undefined : await realPathOf(userHome);
    const folders: string[] = [];
    for (const { uri } of roots) {
      const path = folderOf(uri);
      if (path === undefined) continue;
      const folder = await realPathOf(path);
      const isWhole = dirname(folder) === folder || (home !== undefined && isWithin(home, folder));
      if (!isWhole && !isSensitiveToRead(folder)) folders.push(folder);
    }
    return folders;
  }
}

/** Returns the innermost folder that contains the path. */
export function folderAround(path: string, folders: readonly string[]): string | undefined {
  return folders
    .filter((folder) => isInside(path, folder))
    .reduce<string | undefined>((inner, folder) => (folder.length > (inner?.length ?? -1) ? folder : inner), undefined);
}

/** Returns the path below an allowed folder: only its names count, not where the folder is. */
export function below(path: string, folder: string): string {
  return relative(folder, path);
}

function isRoot(root: unknown): root is Root {
  return isRecord(root) && typeof root.uri === "string";
}

function folderOf(uri: string): string | undefined {
  if (!uri.startsWith("file:")) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

const MOST_LINKS = 40;

/** Returns the real path: follows links, even dangling ones, and keeps the parts that do not exist. */
export async function realPathOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isAbsent(error) || links > MOST_LINKS) throw unreadable(path, error);
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
    if (isAbsent(error) || systemCodeOf(error) === "EINVAL") return undefined;
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): TrunklineError {
  return new TrunklineError("IO", `Cannot access ${path}.`, { cause });
}
