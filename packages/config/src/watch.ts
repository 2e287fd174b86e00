// Detects changes to the configuration files. Watches folders, not files: editors replace a file by renaming a new one
// over it, and a file that does not exist yet must be noticed when it appears.
import { type FSWatcher, statSync, watch } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isAbsent, systemCodeOf } from "@trunkline/core";
import type { LoadedConfig } from "./loaded-config.js";

interface WatchConfigOptions {
  /** Called once the files have been unchanged for `debounceMs`; one call at a time. `close` rethrows its errors. */
  onChange: () => void | Promise<void>;
  /** Aborting it stops watching. */
  signal?: AbortSignal;
  /** Default: 200 ms, because editors write a file in several steps. */
  debounceMs?: number;
}

export interface ConfigWatch extends AsyncDisposable {
  /** Resolves when the folders are watched. */
  readonly ready: Promise<void>;
  /** Compares the files at once, without waiting for events. Resolves when `onChange` has run, if they have changed. */
  check(): Promise<void>;
  /** Stops watching and waits for a running `onChange`. Idempotent. */
  close(): Promise<void>;
}

const DEFAULT_DEBOUNCE_MS = 200;
/**
 * Polling interval when file system events are unavailable: the system is out of watches, or the folder is on a network
 * drive.
 */
const POLL_MS = 2_000;

/** Calls `onChange` whenever a configuration file is created, removed or changed. Does not keep the process alive. */
export function watchConfig(config: Pick<LoadedConfig, "files">, options: WatchConfigOptions): ConfigWatch {
  return new FolderWatch(
    config.files.map(({ path }) => path),
    options,
  );
}

class FolderWatch implements ConfigWatch {
  readonly ready: Promise<void>;
  readonly #paths: readonly string[];
  readonly #options: WatchConfigOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onAbort = () => this.#stop();
  #state: string;
  #timer: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #work: Promise<void>;
  #failure: { error: unknown } | undefined;
  #closed = false;

  constructor(paths: readonly string[], options: WatchConfigOptions) {
    this.#paths = paths;
    this.#options = options;
    // Before anything is awaited, so every later change is noticed, even while the folders are not watched yet.
    this.#state = stateOf(paths);
    this.#work = this.#keep(() => this.#check());
    this.ready = this.#work;
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#stop();
  }

  check(): Promise<void> {
    this.#work = this.#work.then(() => this.#keep(() => this.#check()));
    return this.#work;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#work;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #stop(): void {
    this.#closed = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Restarts the timer; when it fires, the files are compared with their last state. */
  #stir(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.check(), this.#options.debounceMs ?? DEFAULT_DEBOUNCE_MS);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    if (this.#closed) return;
    await this.#arm();
    const state = stateOf(this.#paths);
    if (this.#closed || state === this.#state) return;
    this.#state = state;
    await this.#options.onChange();
  }

  /** Watches the needed folders, then checks again: a folder may have appeared while its parent was being watched. */
  async #arm(): Promise<void> {
    for (let wanted = await this.#folders(), known = ""; ; wanted = await this.#folders()) {
      const now = [...wanted].join("\n");
      if (this.#closed || now === known) return;
      known = now;
      for (const [folder, watcher] of this.#watchers) {
        if (wanted.has(folder)) continue;
        watcher.close();
        this.#watchers.delete(folder);
      }
      for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
    }
  }

  /** Returns the folder of each file and link target, or the nearest existing parent if that folder is missing. */
  async #folders(): Promise<Set<string>> {
    const folders = new Set<string>();
    for (const path of this.#paths) {
      folders.add(await nearestFolder(dirname(path)));
      const target = await targetOf(path);
      if (target !== undefined) folders.add(dirname(target));
    }
    return folders;
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#stir());
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(folder);
        this.#stir();
      });
      this.#watchers.set(folder, watcher);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
      this.#poll ??= setInterval(() => this.#stir(), POLL_MS).unref();
    }
  }

  async #keep(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}

/** Identifies the files' content without reading it. */
function stateOf(paths: readonly string[]): string {
  const states = paths.map((path) => {
    try {
      const { ino, size, mtimeNs } = statSync(path, { bigint: true });
      return `${ino} ${size} ${mtimeNs}`;
    } catch (error) {
      return `none ${systemCodeOf(error)}`;
    }
  });
  return states.join("\n");
}

async function nearestFolder(folder: string): Promise<string> {
  for (let current = folder; ; current = dirname(current)) {
    try {
      if ((await stat(current)).isDirectory() || dirname(current) === current) return current;
    } catch (error) {
      if (!isAbsent(error) || dirname(current) === current) return current;
    }
  }
}

async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
