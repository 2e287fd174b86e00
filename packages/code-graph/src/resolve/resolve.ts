// Resolves the edges of one file: what it says about itself, and what its imports, calls, bases and links refer to
// among all files.
import { posix } from "node:path";
import {
  CALL_STEP,
  type FileEdge,
  type FileFacts,
  type GraphEdge,
  type GraphImport,
  type LinkFacts,
  type Reference,
  SUPER_STEP,
} from "../model/graph-model.js";
import { externalKey, fileKey, symbolKey } from "../model/node-keys.js";
import { Entities, type Entity } from "./entities.js";
import { foldersUp, type GraphSource, Lookup, symbolsOf } from "./lookup.js";
import { goFiles } from "./modules.js";

const { dirname, join } = posix;

/** What the index stores about a resolved file. */
export interface ResolvedFile {
  readonly path: string;
  /** All edges that originate in this file's text. They replace its earlier ones. */
  readonly edges: readonly GraphEdge[];
  /**
   * The keys the file asked for: when a file that provides one of them is added, changed or removed, this file is
   * resolved again.
   */
  readonly dependsOn: readonly string[];
}

/** Resolves one file against all others. Pure: depends only on `file` and `source`. */
export function resolveFile(file: FileFacts, source: GraphSource): ResolvedFile {
  const lookup = new Lookup(source, file);
  const entities = new Entities(lookup);
  const edges = new EdgeSet();
  for (const edge of file.edges) edges.add(resolveEdge(file, edge, entities));
  for (const entry of file.imports) for (const edge of importEdges(file, entry, { entities, lookup })) edges.add(edge);
  for (const link of file.links) edges.add(linkEdge(file, link, lookup));
  return { path: file.path, edges: edges.all, dependsOn: [...lookup.asked].sort() };
}

/** Merges equal edges, keeping the first line. */
class EdgeSet {
  readonly all: GraphEdge[] = [];
  readonly #seen = new Set<string>();

  add(edge: GraphEdge): void {
    const identity = `${edge.from}\n${edge.relation}\n${edge.to}`;
    if (this.#seen.has(identity)) return;
    this.#seen.add(identity);
    this.all.push(edge);
  }
}

function resolveEdge(file: FileFacts, edge: FileEdge, entities: Entities): GraphEdge {
  const { from, relation, line } = edge;
  if (edge.to !== undefined) return { from, to: edge.to, relation, line, resolved: true };
  const target = edge.target ?? { root: "unknown", of: "", steps: [] };
  const entity = entities.meant(entities.resolve(file, target));
  const key = entity === undefined || entity.kind === "external" ? undefined : keyOf(entity);
  // A member written outside its class points to the class.
  if (relation === "CONTAINS") {
    return key === undefined
      ? { from: fileKey(file.path), to: from, relation: "DEFINES", line, resolved: true }
      : { from: key, to: from, relation, line, resolved: true };
  }
  if (key !== undefined) return { from, to: key, relation, line, resolved: true };
  const name = entity?.kind === "external" ? entity.name : nameOf(target, edge.name ?? "");
  return { from, to: externalKey(name), relation, line, resolved: false };
}

function keyOf(entity: Entity): string | undefined {
  switch (entity.kind) {
    case "symbol":
      return symbolKey(entity.path, entity.name);
    case "file":
      return fileKey(entity.path);
    case "folder":
    case "files":
    case "external":
      return undefined;
  }
}

/** Returns the name to store for an unresolved target: its global name, or the last part if the rest is local. */
function nameOf(target: Reference, written: string): string {
  const names = target.steps.filter((step) => step !== CALL_STEP && step !== SUPER_STEP);
  if (target.root === "global") return [target.of, ...names].join(".").slice(0, 300);
  const last = names.at(-1) ?? written.split(".").at(-1) ?? written;
  return last === "" ? written : last;
}

function* importEdges(
  file: FileFacts,
  entry: GraphImport,
  context: { readonly entities: Entities; readonly lookup: Lookup },
): Iterable<GraphEdge> {
  const { entities, lookup } = context;
  const from = fileKey(file.path);
  const edge = (to: string, resolved: boolean): GraphEdge => ({
    from,
    to,
    relation: "IMPORTS",
    line: entry.line,
    resolved,
  });
  const module = entities.module(file, entry);
  switch (module.kind) {
    case "external":
      yield edge(externalKey(module.name), false);
      return;
    case "files":
      for (const path of module.paths) if (path !== file.path) yield edge(fileKey(path), true);
      return;
    case "file": {
      // `from . import prices` imports a module if one has that name.
      const paths = new Set<string>();
      for (const { imported } of file.language === "python" ? entry.names : []) {
        const found = imported === "*" ? undefined : entities.imported(file, entry, imported);
        paths.add(found?.kind === "file" ? found.path : module.path);
      }
      if (paths.size === 0) paths.add(module.path);
      for (const path of paths) if (path !== file.path) yield edge(fileKey(path), true);
      return;
    }
    case "folder": {
      const files = goFiles(module.path, lookup);
      for (const path of files) if (path !== file.path) yield edge(fileKey(path), true);
      if (files.length > 0) return;
      for (const { imported } of entry.names) {
        const found = imported === "*" ? undefined : entities.imported(file, entry, imported);
        if (found?.kind === "file") yield edge(fileKey(found.path), true);
        else yield edge(externalKey(`${entry.specifier}${entry.specifier.endsWith(".") ? "" : "."}${imported}`), false);
      }
      return;
    }
  }
}

function linkEdge(file: FileFacts, link: LinkFacts, lookup: Lookup): GraphEdge {
  const from = fileKey(file.path);
  const edge = (to: string, resolved: boolean): GraphEdge => ({
    from,
    to,
    relation: "REFERENCES",
    line: link.line,
    resolved,
  });
  const external = () =>
    edge(externalKey(link.anchor === undefined ? link.target : `${link.target}#${link.anchor}`), false);
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(link.target)) return edge(externalKey(link.target), false);
  const path = link.target === "" ? file.path : linkedFile(file.path, decode(link.target.replace(/\?.*$/, "")), lookup);
  if (path === undefined) return external();
  const target = lookup.file(path);
  const anchor = link.anchor === undefined ? undefined : decode(link.anchor);
  if (anchor !== undefined && target !== undefined) {
    const symbols = symbolsOf(target);
    const heading = [anchor, anchor.toLowerCase()].find((name) => symbols.get(name)?.kind === "heading");
    if (heading !== undefined) return edge(symbolKey(path, heading), true);
  }
  // A link to a missing heading in the same file says nothing about another node.
  return path === file.path ? external() : edge(fileKey(path), true);
}

function linkedFile(from: string, target: string, lookup: Lookup): string | undefined {
  if (!target.startsWith("/")) return linkedPath(join(dirname(from), target), lookup);
  const direct = linkedPath(target, lookup);
  if (direct !== undefined) return direct;
  // For a path from a site's root: the only parent folder that has it.
  const found = new Set<string>();
  for (const folder of foldersUp(dirname(from))) {
    const path = linkedPath(join(folder, target), lookup);
    if (path !== undefined) found.add(path);
  }
  const [only, ...others] = found;
  return others.length === 0 ? only : undefined;
}

function linkedPath(path: string, lookup: Lookup): string | undefined {
  const base = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  if (lookup.has(base)) return base;
  const candidates = lookup.stem(base);
  return [".md", ".mdx", ".html", "/README.md", "/readme.md", "/index.md", "/index.html"]
    .map((end) => base + end)
    .find((name) => candidates.includes(name));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
