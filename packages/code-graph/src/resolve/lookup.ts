// Resolution's view of the stored files. Records which keys were asked for.
import { posix } from "node:path";
import type { FileFacts, ProjectConfig, SymbolFacts } from "../model/graph-model.js";
import { pathLookup, stemLookup } from "./lookup-keys.js";

/** The stored files, as resolution needs them. */
export interface GraphSource {
  file(path: string): FileFacts | undefined;
  /** Paths of the files that provide a key, in a fixed order. */
  providers(key: string): readonly string[];
}

const symbolMaps = new WeakMap<FileFacts, ReadonlyMap<string, SymbolFacts>>();

/** Returns a file's symbols by qualified name. */
export function symbolsOf(file: FileFacts): ReadonlyMap<string, SymbolFacts> {
  let map = symbolMaps.get(file);
  if (map === undefined) {
    map = new Map(file.symbols.map((symbol) => [symbol.qualifiedName, symbol]));
    symbolMaps.set(file, map);
  }
  return map;
}

export class Lookup {
  readonly asked = new Set<string>();
  readonly #source: GraphSource;
  readonly #files = new Map<string, FileFacts | undefined>();
  readonly #configs = new Map<string, readonly [string, FileFacts] | undefined>();

  constructor(source: GraphSource, own: FileFacts) {
    this.#source = source;
    this.#files.set(own.path, own);
  }

  providers(key: string): readonly string[] {
    this.asked.add(key);
    return this.#source.providers(key);
  }

  /** Returns a file found by {@link providers}. */
  file(path: string): FileFacts | undefined {
    if (!this.#files.has(path)) this.#files.set(path, this.#source.file(path));
    return this.#files.get(path);
  }

  has(path: string): boolean {
    return this.providers(pathLookup(path)).length > 0;
  }

  /** Returns files with this path except for the extension, and index files of this folder. */
  stem(stem: string): readonly string[] {
    return this.providers(stemLookup(stem));
  }

  /**
   * Finds the nearest of the named files, in the folder or above, that has content. Missing files are not recorded:
   * when one is added, everything below it is resolved again anyway.
   */
  nearest<K extends ProjectConfig["kind"]>(
    folder: string,
    names: readonly string[],
  ): { readonly folder: string; readonly config: Extract<ProjectConfig, { kind: K }> } | undefined {
    for (const current of foldersUp(folder)) {
      for (const name of names) {
        const found = this.config(posix.join(current, name));
        // Each name belongs to one kind.
        if (found !== undefined) return { folder: current, config: found as Extract<ProjectConfig, { kind: K }> };
      }
    }
    return undefined;
  }

  config(path: string): ProjectConfig | undefined {
    if (!this.#configs.has(path)) {
      const file = this.#source.providers(pathLookup(path)).length > 0 ? this.#source.file(path) : undefined;
      this.#configs.set(path, file === undefined ? undefined : [path, file]);
    }
    const found = this.#configs.get(path);
    if (found === undefined) return undefined;
    this.asked.add(pathLookup(path));
    return found[1].config;
  }
}

/** Returns the folder and its parents, nearest first. */
export function foldersUp(folder: string): string[] {
  const folders: string[] = [];
  for (let current = folder; ; current = posix.dirname(current)) {
    folders.push(current);
    if (current === posix.dirname(current) || current === "." || folders.length > 64) return folders;
  }
}
