// Watches folders and files for a session. Events only say where to look. Bursts are collected, then each path is
// checked in its current state, so an editor that writes a new file and renames it causes only one change.
import { lstatSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type Logger, realPathOf } from "@trunkline/core";
import { type FSWatcher, watch } from "chokidar";
import { type IgnoreRules, readIgnoreRules } from "../engine/files/gitignore.js";
import { compileGlobs } from "../engine/files/glob.js";
import { Guard, type GuardedPaths } from "../engine/files/guard.js";
import { hasIgnoreFile, isGeneratedFolder } from "../engine/files/left-out.js";
import type { TakeChangesParams } from "./take-changes.js";

/** How long a path has to be quiet, and how long a burst can delay its processing. */
const QUIET_MS = 50;
const LONGEST_MS = 500;

/** A watched file or folder, as given and with links resolved. */
export type WatchedRoot = Pick<TakeChangesParams, "root" | "realRoot">;

/** The part of the store that a watcher needs. */
interface WatchTarget {
  /** Indexes paths; called one at a time. */
  take(root: WatchedRoot, paths: readonly string[]): Promise<void>;
  readonly logger: Logger;
}

/** Places that are never watched. */
interface UnwatchedPlaces {
  /** The store's folder. */
  readonly store: string;
  readonly guarded: GuardedPaths;
  readonly exclude?: readonly string[];
}

/** Watches one root. */
export class Watcher {
  readonly #root: string;
  readonly #realRoot: string;
  readonly #guard: Guard;
  readonly #target: WatchTarget;
  readonly #isExcluded: (path: string) => boolean;
  readonly #skipGenerated: boolean;
  readonly #watcher: FSWatcher;
  readonly #rules = new Map<string, IgnoreRules | undefined>();
  #dirty = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #firstAt = 0;
  #taking: Promise<void> = Promise.resolve();

  private constructor(root: string, target: WatchTarget, { store, guarded, exclude }: UnwatchedPlaces) {
    this.#root = root;
    this.#realRoot = realPathOf(root);
    this.#guard = new Guard(guarded);
    this.#target = target;
    this.#isExcluded = compileGlobs(exclude);
    this.#skipGenerated = !hasIgnoreFile(this.#realRoot);
    this.#watcher = watch(root, {
      ignoreInitial: true,
      followSymlinks: false,
      atomic: false,
      ignored: (path, stats) => path === store || this.#isIgnored(path, stats?.isDirectory() ?? false),
    });
    this.#watcher.on("all", (event, path) => {
      if (event === "add" || event === "change" || event === "unlink") this.#note(path);
      if (path.endsWith(`${sep}.gitignore`)) this.#rules.clear();
    });
    this.#watcher.on("error", (error) => target.logger.warn("watching failed", { root, error }));
  }

  /** Starts watching. Resolves once changes are being detected. */
  static async start(root: string, target: WatchTarget, places: UnwatchedPlaces): Promise<Watcher> {
    lstatSync(root);
    const watcher = new Watcher(root, target, places);
    await new Promise<void>((resolve) => watcher.#watcher.once("ready", () => resolve()));
    return watcher;
  }

  /** Stops after all detected changes are indexed. */
  async stop(): Promise<void> {
    await this.#watcher.close();
    clearTimeout(this.#timer);
    this.#flush();
    await this.#taking;
  }

  #note(path: string): void {
    const now = performance.now();
    if (this.#dirty.size === 0) this.#firstAt = now;
    this.#dirty.add(path);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, Math.min(QUIET_MS, this.#firstAt + LONGEST_MS - now)));
  }

  #flush(): void {
    if (this.#dirty.size === 0) return;
    const paths = [...this.#dirty];
    this.#dirty = new Set();
    this.#taking = this.#taking
      .then(() => this.#target.take({ root: this.#root, realRoot: this.#realRoot }, paths))
      .catch((error: unknown) =>
        this.#target.logger.warn("changed files could not be indexed", { root: this.#root, error }),
      );
  }

  /** Applies the .gitignore files between the root and the path, and leaves out the same folders as `add`. */
  #isIgnored(path: string, isFolder: boolean): boolean {
    const way = relative(this.#root, path);
    if (way === "" || way.startsWith("..")) return false;
    // The watcher follows no links, so the rest of the path is the same below the real root.
    if (this.#guard.leavesOut(join(this.#realRoot, way), this.#realRoot)) return true;
    const names = way.split(sep);
    if (names.some((_, index) => this.#isExcluded(names.slice(0, index + 1).join("/")))) return true;
    const folders = isFolder ? names : names.slice(0, -1);
    if (this.#skipGenerated && folders.some(isGeneratedFolder)) return true;
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const rules = this.#rulesIn(folder);
      const name = relative(folder, path).split(sep).join("/");
      // It is unknown here whether the path is a folder, so rules for folders apply too.
      const verdict = rules?.(name, false) ?? rules?.(name, true);
      if (verdict === "ignored") return true;
      if (verdict === "kept" || folder === this.#root || folder === dirname(folder)) return false;
    }
  }

  #rulesIn(folder: string): IgnoreRules | undefined {
    if (this.#rules.has(folder)) return this.#rules.get(folder);
    const rules = readIgnoreRules(folder);
    this.#rules.set(folder, rules);
    return rules;
  }
}
