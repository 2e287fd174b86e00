// The rules of .gitignore files. A project's own file decides here, so it is read with care (only a regular file of a
// sensible size, never through a link) and matched without backtracking.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "@trunkline/core";
import { compileAnchoredGlob, starsIn } from "./glob.js";

/** Far more than people write; the rest of a larger file is not read. */
const MAX_FILE_BYTES = 64 * 1024;
const MAX_RULE_CHARS = 1024;
/** A rule with more is not one that anyone wrote, and takes long to match. */
const MAX_RULE_STARS = 16;
const MAX_KNOWN_FOLDERS = 1000;

/** What a file's rules say about a path: `undefined` if none applies. */
type Verdict = "ignored" | "kept" | undefined;

/** Decides about a path relative to the folder of the file, with slashes. */
export type IgnoreRules = (path: string, isFolder: boolean) => Verdict;

interface Rule {
  readonly verdict: "ignored" | "kept";
  readonly foldersOnly: boolean;
  readonly matches: (path: string) => boolean;
}

/** Parses the text of a .gitignore file. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text.split(/\r?\n/).flatMap((line) => ruleOf(line) ?? []);
  const lastVerdict = (path: string, isFolder: boolean): Verdict => {
    for (let index = rules.length - 1; index >= 0; index--) {
      const { verdict, foldersOnly, matches } = rules[index] as Rule;
      if ((isFolder || !foldersOnly) && matches(path)) return verdict;
    }
    return undefined;
  };
  /** The files of a folder are asked about one after the other. */
  const knownFolders = new Map<string, Verdict>();
  const folderVerdict = (folder: string): Verdict => {
    if (knownFolders.has(folder)) return knownFolders.get(folder);
    if (knownFolders.size >= MAX_KNOWN_FOLDERS) knownFolders.clear();
    const verdict = lastVerdict(folder, true);
    knownFolders.set(folder, verdict);
    return verdict;
  };
  return (given, isFolder) => {
    // Case is ignored on every system: a rule that leaves too much out is safer than one that does not apply.
    const path = given.toLowerCase();
    // What is inside an ignored folder stays ignored, whatever later rules say.
    for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
      if (folderVerdict(path.slice(0, slash)) === "ignored") return "ignored";
    }
    return lastVerdict(path, isFolder);
  };
}

/** Reads the rules in a folder; undefined if it has no usable .gitignore. */
export function readIgnoreRules(folder: string): IgnoreRules | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let fd: number;
  try {
    fd = openSync(join(folder, ".gitignore"), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES);
    return parseIgnoreRules(buffer.toString("utf8", 0, readSync(fd, buffer, 0, MAX_FILE_BYTES, 0)));
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function ruleOf(line: string): Rule | undefined {
  if (line.length > MAX_RULE_CHARS || line.startsWith("#") || starsIn(line) > MAX_RULE_STARS) return undefined;
  let pattern = line.replace(/^\ufeff/, "").toLowerCase();
  // Spaces at the end count only if they are escaped.
  while (pattern.endsWith(" ") && !pattern.endsWith("\\ ")) pattern = pattern.slice(0, -1);
  const verdict = pattern.startsWith("!") ? "kept" : "ignored";
  if (verdict === "kept") pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "") return undefined;
  // A rule with a slash is relative to the folder of the file; any other matches a name at any depth.
  const glob = pattern.includes("/") ? pattern.replace(/^\//, "") : `**/${pattern}`;
  return { verdict, foldersOnly, matches: compileAnchoredGlob(glob.replace(/\/\*\*$/, "/?**")) };
}
