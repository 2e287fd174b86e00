// A graph in memory. Mirrors the tables of the on-disk index: the files' graphs, the keys they provide, the keys they
// asked for, and the edges by owner. Reports which files a change affects.

import type { FileGraph, GraphEdge, GraphSymbol, Relation } from "./model/graph-model.js";
import { fileKey } from "./model/node-keys.js";
import type { GraphSource } from "./resolve/lookup.js";
import { affectedBy, providedKeys } from "./resolve/lookup-keys.js";
import { type ResolvedFile, resolveFile } from "./resolve/resolve.js";
import type { Neighbours, NodeDescription } from "./traverse.js";

export class MemoryGraph implements GraphSource, Neighbours {
  readonly #files = new Map<string, FileGraph>();
  readonly #symbols = new Map<string, GraphSymbol & { readonly path: string }>();
  readonly #providers = new Map<string, Set<string>>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #resolved = new Map<string, ResolvedFile>();
  readonly #outgoing = new Map<string, Set<GraphEdge>>();
  readonly #incoming = new Map<string, Set<GraphEdge>>();

  file(path: string): FileGraph | undefined {
    return this.#files.get(path);
  }

  providers(key: string): readonly string[] {
    return [...(this.#providers.get(key) ?? [])].sort();
  }

  /** Adds or updates files. Returns the paths that were resolved: these files and those that depend on them. */
  put(files: readonly FileGraph[]): string[] {
    return this.#change(files.map((after) => [after.path, after]));
  }

  /** Removes files. Returns the paths that were resolved again. */
  remove(paths: readonly string[]): string[] {
    return this.#change(paths.map((path) => [path, undefined]));
  }

  #change(changes: readonly (readonly [string, FileGraph | undefined])[]): string[] {
    const touched = new Set<string>();
    for (const [path, after] of changes) {
      const before = this.#files.get(path);
      const affected = affectedBy(before, after);
      for (const key of affected.keys) for (const dependent of this.#dependents.get(key) ?? []) touched.add(dependent);
      if (affected.under !== undefined) {
        const prefix = affected.under.endsWith("/") ? affected.under : `${affected.under}/`;
        for (const other of this.#files.keys()) if (other.startsWith(prefix)) touched.add(other);
      }
      if (before !== undefined) this.#forget(before);
      if (after !== undefined) {
        this.#files.set(path, after);
        for (const symbol of after.symbols) this.#symbols.set(symbol.key, { ...symbol, path });
        for (const key of providedKeys(after)) into(this.#providers, key, path);
        touched.add(path);
      }
    }
    const resolved = [...touched].filter((path) => this.#files.has(path)).sort();
    for (const path of resolved) this.#resolve(path);
    return resolved;
  }

  #forget(file: FileGraph): void {
    this.#files.delete(file.path);
    for (const symbol of file.symbols) this.#symbols.delete(symbol.key);
    for (const key of providedKeys(file)) this.#providers.get(key)?.delete(file.path);
    this.#unlink(file.path);
  }

  #unlink(path: string): void {
    const old = this.#resolved.get(path);
    if (old === undefined) return;
    this.#resolved.delete(path);
    for (const key of old.dependsOn) this.#dependents.get(key)?.delete(path);
    for (const edge of old.edges) {
      this.#outgoing.get(edge.from)?.delete(edge);
      this.#incoming.get(edge.to)?.delete(edge);
    }
  }

  #resolve(path: string): void {
    const file = this.#files.get(path);
    if (file === undefined) return;
    this.#unlink(path);
    const resolved = resolveFile(file, this);
    this.#resolved.set(path, resolved);
    for (const key of resolved.dependsOn) into(this.#dependents, key, path);
    for (const edge of resolved.edges) {
      into(this.#outgoing, edge.from, edge);
      into(this.#incoming, edge.to, edge);
    }
  }

  *edges(key: string, filter: { readonly relation?: Relation; readonly reverse: boolean }): Iterable<GraphEdge> {
    for (const edge of (filter.reverse ? this.#incoming : this.#outgoing).get(key) ?? []) {
      if (filter.relation === undefined || edge.relation === filter.relation) yield edge;
    }
  }

  /** Returns all edges that originate in one file's text. */
  edgesOf(path: string): readonly GraphEdge[] {
    return this.#resolved.get(path)?.edges ?? [];
  }

  *symbols(key: string): Iterable<string> {
    for (const symbol of this.#files.get(key.slice(fileKey("").length))?.symbols ?? []) yield symbol.key;
  }

  describe(key: string): NodeDescription | undefined {
    const symbol = this.#symbols.get(key);
    return symbol === undefined ? undefined : { type: symbol.kind, name: symbol.name, path: symbol.path };
  }
}

function into<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, new Set([value]));
  else values.add(value);
}
