// An output folder that cannot be escaped. Every step down goes through an open folder, so a symbolic link has no
// effect, whether planted before or during the write. A file gets its name only when it is complete.
import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { makeFolder, placeFileSync, systemCodeOf } from "@trunkline/core";

interface OutputFile {
  readonly overwrite: boolean;
  /** Default: that of any new file. */
  readonly mode?: number;
  readonly mtimeUs?: number;
  /** Returns `same` or the reason not to write, given the path of the existing file, if there is one. */
  readonly refusal: (existing: string | undefined) => string | undefined;
  readonly chunks: () => Iterable<Uint8Array>;
  /** Whether to wait until the content is on disk, given the path of the file that it replaces, if any. Default: yes. */
  readonly flush?: (existing: string | undefined) => boolean;
}

interface OpenFolder {
  readonly fd: number;
  /** A path that refers to this folder even if it is renamed. */
  readonly path: string;
  /** Whether it was created here and was empty. */
  readonly isNew: boolean;
}

/** Maximum number of folders to keep open. */
const MOST_OPEN = 64;

export class OutputFolder {
  readonly #root: OpenFolder;
  readonly #open = new Map<string, OpenFolder>();

  private constructor(root: OpenFolder) {
    this.#root = root;
  }

  /** Creates the folder if it does not exist. The path itself can contain links, because the caller named it. */
  static make(path: string): OutputFolder {
    makeFolder(path);
    return new OutputFolder(openFolder(realpathSync(path), false));
  }

  /** The real path of the folder that is open, whatever its name leads to by now. */
  get realPath(): string {
    return realpathSync(this.#root.path);
  }

  /**
   * Writes one file. Returns `restored`, `same` if it already exists with this content, or the reason it was not
   * written.
   */
  write(target: string, file: OutputFile): "restored" | "same" | (string & {}) {
    const parts = target.split("/");
    const name = parts.pop() as string;
    const folder = this.#enter(parts);
    if (folder === undefined) return "a part of its path is not a folder";
    const path = join(folder.path, name);
    // A file that appears in a new folder meanwhile is found, and kept, when ours gets its name.
    const isFree = folder.isNew && !file.overwrite;
    const there = isFree ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile()) return "something other than a file exists there";
    const refusal = file.refusal(there === undefined ? undefined : path);
    if (refusal !== undefined) return refusal;
    const isFlushed = file.flush?.(there === undefined ? undefined : path) ?? true;
    return this.#writeWhole(folder, name, { ...file, isFlushed });
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd);
    this.#open.clear();
    closeSync(this.#root.fd);
  }

  #writeWhole(folder: OpenFolder, name: string, file: OutputFile & { isFlushed: boolean }): "restored" | (string & {}) {
    const placed = placeFileSync(
      join(folder.path, name),
      (fd) => {
        for (const chunk of file.chunks()) writeSync(fd, chunk);
        if (file.mode !== undefined) fchmodSync(fd, file.mode & 0o777);
        if (file.mtimeUs !== undefined) futimesSync(fd, file.mtimeUs / 1e6, file.mtimeUs / 1e6);
      },
      { mode: file.mode === undefined ? 0o644 : 0o600, overwrite: file.overwrite, flush: file.isFlushed },
    );
    return placed ? "restored" : "a different file exists there";
  }

  #enter(parts: readonly string[]): OpenFolder | undefined {
    let folder = this.#root;
    let key = "";
    for (const part of parts) {
      key += `${part}/`;
      const known = this.#open.get(key);
      if (known !== undefined) {
        folder = known;
        continue;
      }
      const path = join(folder.path, part);
      const next = enterFolder(path);
      if (next === undefined) return undefined;
      this.#open.set(key, next);
      folder = next;
    }
    this.#closeOldest(parts);
    return folder;
  }

  #closeOldest(current: readonly string[]): void {
    const path = `${current.join("/")}/`;
    for (const [key, { fd }] of this.#open) {
      if (this.#open.size <= MOST_OPEN) return;
      if (path.startsWith(key)) continue;
      closeSync(fd);
      this.#open.delete(key);
    }
  }
}

function enterFolder(path: string): OpenFolder | undefined {
  let isNew = true;
  try {
    mkdirSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
    isNew = false;
  }
  try {
    return openFolder(path, isNew);
  } catch (error) {
    if (["ENOTDIR", "ELOOP"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}

function openFolder(path: string, isNew: boolean): OpenFolder {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  // Linux can name a file relative to an open folder. Other systems check the real path, which leaves a race.
  return { fd, path: process.platform === "linux" ? `/proc/self/fd/${fd}` : realpathSync(path), isNew };
}
