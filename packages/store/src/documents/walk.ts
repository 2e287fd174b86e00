// Walks a folder. Files come in a stable order, .gitignore applies at every level, symbolic links are never followed out
// of the folder, and files that can hold secrets are left out.
import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { basename, join, sep } from "node:path";
import { isSensitiveInFolder, isSensitiveToRead, systemCodeOf } from "@trunkline/core";
import type { FileProblem } from "../contract/index.js";
import { type IgnoreRules, readIgnoreRules } from "../engine/files/gitignore.js";
import { compileGlobs } from "../engine/files/glob.js";
import type { Guard } from "../engine/files/guard.js";
import { isGeneratedFolder, isLarge, isSecret, type LeftOut } from "../engine/files/left-out.js";

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
  /** Whether to leave out packages, build output, hidden folders and large files. */
  readonly skipGenerated: boolean;
  /** Counts what is left out. */
  readonly leftOut: LeftOut;
  /** Called with each file and folder that is left out although it may belong to the project. */
  readonly onUnread: (path: string) => void;
  readonly onProblem: (problem: FileProblem) => void;
  readonly check: () => void;
}

interface Walk extends WalkOptions {
  /** Whether the root itself is a folder of secrets. */
  readonly hasSecrets: boolean;
}

interface WalkedFile {
  readonly path: string;
  /** The path with its own link resolved, to be opened without following another. */
  readonly source: string;
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
  const walking = { ...options, hasSecrets: isSensitiveToRead(options.realRoot) };
  yield* walkFolder(walking, "", [], (path) => included(path) && !excluded(path), excluded);
}

function* walkFolder(
  options: Walk,
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
      if (isLeftOut(options, relative, path)) continue;
      yield* walkFolder(options, `${relative}/`, rules, wanted, excluded);
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      if (isIgnored(rules, relative, false) || !wanted(relative)) continue;
      if (isSecretFile(options, base, entry.name)) continue;
      const source = entry.isFile() ? path : linkTarget(path, options);
      const stats = source === undefined ? undefined : factsOf(source, options);
      if (source === undefined || stats?.isFile() !== true) continue;
      if (options.skipGenerated && isLarge(stats.size)) {
        options.leftOut.large++;
        options.onUnread(path);
      } else yield { path, source, stats };
    }
  }
}

/** Whether a folder is left out: one of secrets, or one that a tool has generated. */
function isLeftOut(
  { realRoot, skipGenerated, leftOut, onUnread }: WalkOptions,
  relative: string,
  path: string,
): boolean {
  const name = basename(relative);
  const isGenerated = skipGenerated && isGeneratedFolder(name);
  if (!isGenerated && !isSecret(join(realRoot, relative))) return false;
  leftOut.folders.add(name);
  if (isGenerated) onUnread(path);
  return true;
}

/** Folders of secrets are not entered, unless the root is one. */
function isSecretFile({ realRoot, hasSecrets, leftOut }: Walk, base: string, name: string): boolean {
  if (!hasSecrets && !isSensitiveInFolder(`${realRoot}/${base}`, name)) return false;
  leftOut.sensitive++;
  return true;
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

/** Returns the target of a link if it is inside the root and may be added. */
function linkTarget(path: string, options: WalkOptions): string | undefined {
  try {
    const target = realpathSync(path);
    const inside = target.startsWith(options.realRoot.endsWith(sep) ? options.realRoot : options.realRoot + sep);
    if (!inside || target.startsWith(options.store + sep)) {
      options.onProblem({ path, message: "a symbolic link that points outside the folder" });
      return undefined;
    }
    if (options.guard.leavesOut(target, options.realRoot)) return undefined;
    if (!isSensitiveToRead(target)) return target;
    options.leftOut.sensitive++;
    return undefined;
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
