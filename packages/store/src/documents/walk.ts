// Walks a folder. Files come in a stable order, .gitignore applies at every level, and symbolic links are never
// followed out of the folder.
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join, sep } from "node:path";
import { systemCodeOf } from "@trunkline/core";
import type { FileProblem } from "../contract/index.js";
import { type IgnoreRules, readIgnoreRules } from "../engine/files/gitignore.js";
import { compileGlobs } from "../engine/files/glob.js";
import type { Guard } from "../engine/files/guard.js";

interface WalkOptions {
  /** Absolute, as the caller wrote it: file paths start with it. */
  readonly root: string;
  /** The same folder with links resolved. */
  readonly realRoot: string;
  readonly recursive: boolean;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[] | undefined;
  /** The store's folder with links resolved. It is never entered. */
  readonly store: string;
  /** Other folders that are never entered: Git's and Trunkline's. */
  readonly guard: Guard;
  readonly onProblem: (problem: FileProblem) => void;
  readonly check: () => void;
}

interface WalkedFile {
  readonly path: string;
  readonly stats: Stats;
}

interface Rules {
  /** Path of the folder relative to the root, with a trailing slash; empty for the root. */
  readonly base: string;
  readonly rules: IgnoreRules;
}

/** Yields every file below the root that the rules allow. */
export function* walk(options: WalkOptions): Generator<WalkedFile> {
  const included = options.include?.length ? compileGlobs(options.include) : () => true;
  const excluded = compileGlobs(options.exclude);
  yield* walkFolder(options, "", [], (path) => included(path) && !excluded(path), excluded);
}

function* walkFolder(
  options: WalkOptions,
  base: string,
  outer: readonly Rules[],
  wanted: (path: string) => boolean,
  excluded: (path: string) => boolean,
): Generator<WalkedFile> {
  options.check();
  const folder = base === "" ? options.root : join(options.root, base);
  const entries = readFolder(folder, options);
  const inner = entries.some((entry) => entry.name === ".gitignore") ? readRules(folder, base) : undefined;
  const rules = inner === undefined ? outer : [...outer, inner];
  for (const entry of entries) {
    const relative = base + entry.name;
    const path = folder.endsWith(sep) ? folder + entry.name : folder + sep + entry.name;
    if (entry.isDirectory()) {
      const skipped = !options.recursive || isStore(options, relative) || isGuarded(options, relative);
      if (skipped || isIgnored(rules, relative, true) || excluded(relative)) continue;
      yield* walkFolder(options, `${relative}/`, rules, wanted, excluded);
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      if (isIgnored(rules, relative, false) || !wanted(relative)) continue;
      const stats = entry.isFile() ? factsOf(path, options) : linkTarget(path, options);
      if (stats !== undefined) yield { path, stats };
    }
  }
}

function isStore({ realRoot, store }: WalkOptions, relative: string): boolean {
  return join(realRoot, relative) === store;
}

function isGuarded({ realRoot, guard }: WalkOptions, relative: string): boolean {
  return guard.leavesOut(join(realRoot, relative), realRoot);
}

function readFolder(folder: string, { onProblem }: WalkOptions) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
    );
  } catch (error) {
    onProblem({ path: folder, message: problemText(error) });
    return [];
  }
}

function factsOf(path: string, { onProblem }: WalkOptions): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    // Node replaces bytes in a name that are not UTF-8, so no file with the resulting name exists.
    const isRenamed = systemCodeOf(error) === "ENOENT" && path.includes("\ufffd");
    onProblem({ path, message: isRenamed ? "its name is not UTF-8" : problemText(error) });
    return undefined;
  }
}

/** Returns the target of a link if it is a file inside the root. */
function linkTarget(path: string, options: WalkOptions): Stats | undefined {
  try {
    const target = realpathSync(path);
    const inside = target.startsWith(options.realRoot.endsWith(sep) ? options.realRoot : options.realRoot + sep);
    if (!inside || target.startsWith(options.store + sep)) {
      options.onProblem({ path, message: "a symbolic link that points outside the folder" });
      return undefined;
    }
    if (options.guard.leavesOut(target, options.realRoot)) return undefined;
    const stats = statSync(target);
    return stats.isFile() ? stats : undefined;
  } catch (error) {
    const leadsNowhere = ["ENOENT", "ENOTDIR", "ELOOP"].includes(systemCodeOf(error) ?? "");
    const message = leadsNowhere ? "a broken symbolic link" : problemText(error);
    options.onProblem({ path, message });
    return undefined;
  }
}

function readRules(folder: string, base: string): Rules | undefined {
  const rules = readIgnoreRules(folder);
  return rules === undefined ? undefined : { base, rules };
}

/** Checks the rules; the innermost file with a rule for the path decides. */
function isIgnored(rules: readonly Rules[], path: string, isFolder: boolean): boolean {
  for (let index = rules.length - 1; index >= 0; index--) {
    const { base, rules: own } = rules[index] as Rules;
    const verdict = own(path.slice(base.length), isFolder);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

/** Returns a readable reason why a file could not be added. */
export function problemText(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === "ENOENT") return "disappeared before it could be read";
  if (code === "EACCES" || code === "EPERM") return "access denied";
  return error instanceof Error ? error.message : String(error);
}
