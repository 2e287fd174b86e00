// Lookup keys: the names under which other files find a file. For every file, the index stores the keys it provides and
// the keys its resolution asked for. When a file is added, changed or removed, all files that asked for one of its keys
// are affected, whether they found something or not.
import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { FileFacts } from "../model/graph-model.js";
import { isConfigPath } from "../reading/project-config.js";

const { dirname, basename } = posix;

const INDEX_NAMES = new Set(["index", "__init__", "mod", "readme"]);

/** Returns the key of a file by its path. */
export function pathLookup(path: string): string {
  return `path:${path}`;
}

/** Returns the key of files imported by this path without extension, or as this folder. */
export function stemLookup(stem: string): string {
  return `stem:${stem}`;
}

/** Returns the path without its extension; `.d.ts` counts as one. */
export function stemOf(path: string): string {
  const name = basename(path);
  const declaration = /\.d\.[cm]?ts$/.exec(name)?.[0];
  if (declaration !== undefined) return path.slice(0, -declaration.length);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? path.slice(0, path.length - (name.length - dot)) : path;
}

/** Returns all keys a file provides. */
export function providedKeys(file: FileFacts): string[] {
  const { path } = file;
  const keys = new Set([pathLookup(path)]);
  const stem = stemOf(path);
  keys.add(stemLookup(stem));
  if (INDEX_NAMES.has(basename(stem).toLowerCase())) keys.add(stemLookup(dirname(stem)));
  switch (file.language) {
    case "go":
      keys.add(`go:${dirname(path)}`);
      break;
    case "java":
    case "csharp":
    case "php":
      for (const key of typeKeys(file)) keys.add(key);
      break;
    default:
  }
  const config = file.config;
  if (config?.kind === "npm" && config.name !== undefined) keys.add(`npm:${config.name}`);
  if (config?.kind === "go") keys.add(`go-module:${config.module}`);
  if (config?.kind === "cargo" && config.name !== undefined) keys.add(`cargo:${config.name.replace(/-/g, "_")}`);
  return [...keys];
}

/** Yields the keys of types and functions by full name, in languages where it is unique in the program. */
function* typeKeys(file: FileFacts): Iterable<string> {
  const { language } = file;
  for (const namespace of file.namespaces) yield `${language}-namespace:${namespace}`;
  if (language === "csharp") {
    const modules = new Set(file.namespaces);
    for (const symbol of file.symbols) {
      if (symbol.kind === "method" || symbol.kind === "property" || symbol.kind === "module") continue;
      const at = symbol.qualifiedName.lastIndexOf(".");
      const outer = at === -1 ? "" : symbol.qualifiedName.slice(0, at);
      if (outer === "" || modules.has(outer)) yield `csharp:${symbol.qualifiedName}`;
    }
    return;
  }
  const namespace = file.namespaces[0];
  const separator = language === "php" ? "\\" : ".";
  for (const symbol of file.symbols) {
    if (symbol.qualifiedName.includes(".") || symbol.kind === "variable") continue;
    yield `${language}:${namespace === undefined ? "" : namespace + separator}${symbol.qualifiedName}`;
  }
}

/**
 * Hashes what other files can see of a file. If the hash is unchanged, no other file has to be resolved again: a change
 * inside a function does not spread.
 */
export function interfaceHash(file: FileFacts): string {
  const seen = {
    symbols: file.symbols.map(({ qualifiedName, kind, exported, type }) => [
      qualifiedName,
      kind,
      exported ?? null,
      type ?? null,
    ]),
    imports: file.imports.map(({ specifier, kind, names, relative }) => [specifier, kind, names, relative ?? null]),
    exports: file.exports,
    bases: file.edges
      .filter(({ relation }) => relation === "INHERITS" || relation === "IMPLEMENTS")
      .map(({ from, to, target }) => [from, to ?? null, target ?? null]),
    namespaces: file.namespaces,
    config: file.config ?? null,
  };
  return createHash("sha256").update(JSON.stringify(seen)).digest("hex");
}

/** What must be resolved again besides the file itself. */
export interface Affected {
  /** Files that asked for one of these keys. */
  readonly keys: readonly string[];
  /** All files in and below this folder. */
  readonly under?: string;
}

/** Returns what a change affects. A new file has no `before`, a removed one no `after`. */
export function affectedBy(before: FileFacts | undefined, after: FileFacts | undefined): Affected {
  if (before !== undefined && after !== undefined && interfaceHash(before) === interfaceHash(after))
    return { keys: [] };
  const keys = new Set<string>();
  for (const file of [before, after]) if (file !== undefined) for (const key of providedKeys(file)) keys.add(key);
  const path = after?.path ?? before?.path ?? "";
  return isConfigPath(path) ? { keys: [...keys], under: dirname(path) } : { keys: [...keys] };
}
