// Resolves a reference to the entity it names, through imports, re-exports, declared types and base classes. Follows
// only what is certain: if two entities have an equal claim to a name, there is no answer.
import { posix } from "node:path";
import {
  CALL_STEP,
  type FileEdge,
  type FileFacts,
  type GraphImport,
  type Reference,
  SUPER_STEP,
} from "../model/graph-model.js";
import { isCallable, isTypeKind } from "../reading/code-references.js";
import { type Lookup, symbolsOf } from "./lookup.js";
import { goFiles, type Module, phpType, pythonModule, resolveModule } from "./modules.js";

const { dirname, join } = posix;

/** What a reference can name. */
export type Entity = { readonly kind: "symbol"; readonly path: string; readonly name: string } | Module;

/** Guards against cycles of types and bases, and against too many paths. */
const MAX_DEPTH = 60;
const MAX_HOPS = 5_000;
const GO_BUILTINS = new Set(
  "append cap clear close complex copy delete imag len make max min new panic print println real recover bool byte error int int64 string uint any".split(
    " ",
  ),
);

/** Resolves references for one file. */
export class Entities {
  readonly #lookup: Lookup;
  readonly #modules = new Map<GraphImport, Module>();
  /** Exports of modules, by path and name. */
  readonly #offers = new Map<string, Entity | undefined>();
  #hops = 0;
  #depth = 0;

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  module(file: FileFacts, entry: GraphImport): Module {
    let module = this.#modules.get(entry);
    if (module === undefined) {
      module = resolveModule(file, entry, this.#lookup);
      this.#modules.set(entry, module);
    }
    return module;
  }

  /** Returns what the reference names; undefined if uncertain. */
  resolve(file: FileFacts, reference: Reference): Entity | undefined {
    this.#hops = 0;
    return this.#resolve(file, reference);
  }

  /** Runs `step` unless the path has become too long. */
  #deeper(step: () => Entity | undefined): Entity | undefined {
    if (this.#hops++ > MAX_HOPS || this.#depth >= MAX_DEPTH) return undefined;
    this.#depth++;
    try {
      return step();
    } finally {
      this.#depth--;
    }
  }

  #resolve(file: FileFacts, reference: Reference): Entity | undefined {
    return this.#deeper(() => this.#start(file, reference));
  }

  #start(file: FileFacts, reference: Reference): Entity | undefined {
    switch (reference.root) {
      case "symbol":
        return this.#follow({ kind: "symbol", path: file.path, name: reference.of }, reference.steps);
      case "import": {
        const entity = this.#imported(file, reference.of);
        return entity === undefined ? undefined : this.#follow(entity, reference.steps);
      }
      case "global":
        return this.#global(file, reference);
      case "unknown":
        return undefined;
    }
  }

  /** Returns what an import binds to a local name. */
  #imported(file: FileFacts, local: string): Entity | undefined {
    for (const entry of file.imports) {
      if (entry.kind === "reexport") continue;
      const name = entry.names.find((candidate) => candidate.local === local);
      if (name !== undefined) return this.imported(file, entry, name.imported);
    }
    return undefined;
  }

  imported(file: FileFacts, entry: GraphImport, name: string): Entity | undefined {
    const module = this.module(file, entry);
    if (module.kind === "external") return name === "*" ? module : { kind: "external", name: `${module.name}#${name}` };
    if (module.kind === "file" && isTyped(file.language)) return this.#typeIn(file, module.path, entry, name);
    if (name === "*") return module;
    return this.#member(module, name);
  }

  /** Finds an imported type: Java, C#, PHP and Rust import types, not modules. */
  #typeIn(file: FileFacts, path: string, entry: GraphImport, name: string): Entity | undefined {
    const target = this.#lookup.file(path);
    if (target === undefined) return undefined;
    const symbols = symbolsOf(target);
    if (file.language === "rust") {
      // `use crate::config` names the module itself, `use crate::config::load` something inside it.
      if (name === "*") return { kind: "file", path };
      const own = path.replace(/\/mod\.rs$|\.rs$/, "");
      if (own.endsWith(`/${name}`) && !entry.specifier.endsWith(`::${name}`) && !symbols.has(name))
        return { kind: "file", path };
      return this.#exported(target, name, new Set());
    }
    const last = entry.specifier.slice(
      Math.max(entry.specifier.lastIndexOf("."), entry.specifier.lastIndexOf("\\")) + 1,
    );
    const found = file.language === "csharp" ? entry.specifier : last;
    const type = symbols.get(found) ?? target.symbols.find((symbol) => symbol.name === last && isTypeKind(symbol.kind));
    if (type === undefined) return undefined;
    const entity: Entity = { kind: "symbol", path, name: type.qualifiedName };
    return name === "*" ? entity : this.#member(entity, name);
  }

  #follow(start: Entity, steps: readonly string[]): Entity | undefined {
    let entity: Entity | undefined = start;
    for (const [index, step] of steps.entries()) {
      if (entity === undefined || this.#hops++ > MAX_HOPS) return undefined;
      if (entity.kind === "external") return { kind: "external", name: spellExternal(entity.name, steps.slice(index)) };
      entity =
        step === CALL_STEP
          ? this.#called(entity)
          : step === SUPER_STEP
            ? this.#base(entity, steps[index + 1])
            : this.#member(entity, step);
    }
    return entity;
  }

  /** Returns the result of calling the entity. */
  #called(entity: Entity): Entity | undefined {
    const made = entity.kind === "file" ? this.#assigned(entity.path) : entity;
    if (made?.kind !== "symbol") return undefined;
    const file = this.#lookup.file(made.path);
    const symbol = file === undefined ? undefined : symbolsOf(file).get(made.name);
    if (file === undefined || symbol === undefined) return undefined;
    if (isTypeKind(symbol.kind)) return made;
    return isCallable(symbol.kind) && symbol.type !== undefined ? this.#resolve(file, symbol.type) : undefined;
  }

  /** Returns the first base class that has `next`, or the only one. */
  #base(entity: Entity, next: string | undefined): Entity | undefined {
    const bases = this.#bases(entity);
    if (next === undefined || next === CALL_STEP) return bases.length === 1 ? bases[0] : undefined;
    return bases.find((base) => this.#member(base, next) !== undefined) ?? (bases.length === 1 ? bases[0] : undefined);
  }

  #bases(entity: Entity): Entity[] {
    if (entity.kind !== "symbol") return [];
    const file = this.#lookup.file(entity.path);
    if (file === undefined) return [];
    const bases: Entity[] = [];
    for (const edge of basesOf(file).get(`symbol:${entity.path}#${entity.name}`) ?? []) {
      const base: Entity | undefined =
        edge.to === undefined
          ? edge.target === undefined
            ? undefined
            : this.#resolve(file, edge.target)
          : { kind: "symbol", path: file.path, name: edge.to.slice(edge.to.lastIndexOf("#") + 1) };
      if (base !== undefined) bases.push(base);
    }
    return bases;
  }

  #member(entity: Entity, name: string): Entity | undefined {
    return this.#deeper(() => this.#directMember(entity, name));
  }

  #directMember(entity: Entity, name: string): Entity | undefined {
    switch (entity.kind) {
      case "external":
        return { kind: "external", name: spellExternal(entity.name, [name]) };
      case "file": {
        const identity = `${entity.path}\n${name}`;
        if (!this.#offers.has(identity)) {
          const file = this.#lookup.file(entity.path);
          this.#offers.set(identity, file === undefined ? undefined : this.#exported(file, name, new Set()));
        }
        return this.#offers.get(identity);
      }
      case "folder":
        return this.#inFolder(entity.path, name);
      case "files":
        return this.#only(entity.paths.map((path) => this.#topLevel(path, name)));
      case "symbol":
        return this.#memberOfSymbol(entity, name);
    }
  }

  #memberOfSymbol(entity: Extract<Entity, { kind: "symbol" }>, name: string): Entity | undefined {
    const file = this.#lookup.file(entity.path);
    const symbol = file === undefined ? undefined : symbolsOf(file).get(entity.name);
    if (file === undefined || symbol === undefined) return undefined;
    const child = `${entity.name}.${name}`;
    if (symbolsOf(file).has(child)) return { kind: "symbol", path: entity.path, name: child };
    if (file.language === "go") {
      const found = this.#only(
        goFiles(dirname(file.path), this.#lookup).map((path) => {
          const other = this.#lookup.file(path);
          return other !== undefined && symbolsOf(other).has(child) ? { kind: "symbol", path, name: child } : undefined;
        }),
      );
      if (found !== undefined) return found;
    }
    if (symbol.type !== undefined && !isCallable(symbol.kind)) {
      const type = this.#resolve(file, symbol.type);
      const found = type === undefined || same(type, entity) ? undefined : this.#member(type, name);
      if (found !== undefined) return found;
    }
    const inherited = this.#bases(entity).map((base) => (same(base, entity) ? undefined : this.#member(base, name)));
    // In all languages with an order, the first base that has the member wins; an unknown base before it might have it
    // too.
    const first = inherited.find((found) => found !== undefined);
    return first?.kind === "external" ? undefined : first;
  }

  /** Returns what a module exports under a name. */
  #exported(file: FileFacts, name: string, visited: Set<string>): Entity | undefined {
    if (visited.has(file.path) || visited.size > MAX_DEPTH || this.#hops++ > MAX_HOPS) return undefined;
    visited.add(file.path);
    switch (file.language) {
      case "typescript":
      case "tsx":
      case "javascript":
        return this.#exportedByJavascript(file, name, visited);
      case "python":
        return this.#exportedByPython(file, name, visited);
      case "rust": {
        if (symbolsOf(file).has(name)) return { kind: "symbol", path: file.path, name };
        const passed = file.imports.find((entry) => entry.names.some(({ local }) => local === name));
        const imported = passed?.names.find(({ local }) => local === name);
        return passed === undefined || imported === undefined
          ? undefined
          : this.imported(file, passed, imported.imported);
      }
      default:
        return this.#topLevel(file.path, name);
    }
  }

  #exportedByJavascript(file: FileFacts, name: string, visited: Set<string>): Entity | undefined {
    const offered = file.exports.find((entry) => entry.name === name);
    if (offered !== undefined) {
      if (symbolsOf(file).has(offered.local)) return { kind: "symbol", path: file.path, name: offered.local };
      return this.#imported(file, offered.local);
    }
    const stars: GraphImport[] = [];
    for (const entry of file.imports) {
      if (entry.kind !== "reexport") continue;
      for (const { imported, local } of entry.names) {
        if (local === name && local !== "*") return this.#through(file, entry, imported, visited);
        if (local === "*" && name !== "default") stars.push(entry);
      }
    }
    const found = this.#only(stars.map((entry) => this.#through(file, entry, name, new Set(visited))));
    // A name missing from the stored files can come from a package that is not stored, so it stays unresolved.
    if (found !== undefined) return found.kind === "external" ? undefined : found;
    const assigned = name === "=" ? undefined : this.#assigned(file.path);
    if (assigned === undefined) return undefined;
    return name === "default" ? assigned : this.#member(assigned, name);
  }

  /** Returns the entity that a call or base class means: a module stands for the value assigned to it. */
  meant(entity: Entity | undefined): Entity | undefined {
    return entity?.kind === "file" ? (this.#assigned(entity.path) ?? entity) : entity;
  }

  /** Returns what CommonJS assigns to `module.exports`. */
  #assigned(path: string): Entity | undefined {
    const file = this.#lookup.file(path);
    const offered = file?.exports.find((entry) => entry.name === "=");
    if (file === undefined || offered === undefined) return undefined;
    if (symbolsOf(file).has(offered.local)) return { kind: "symbol", path, name: offered.local };
    return this.#imported(file, offered.local);
  }

  #through(file: FileFacts, entry: GraphImport, imported: string, visited: Set<string>): Entity | undefined {
    const module = this.module(file, entry);
    if (module.kind !== "file")
      return module.kind === "external" && imported !== "*"
        ? { kind: "external", name: `${module.name}#${imported}` }
        : module;
    if (imported === "*") return module;
    const target = this.#lookup.file(module.path);
    return target === undefined ? undefined : this.#exported(target, imported, visited);
  }

  #exportedByPython(file: FileFacts, name: string, visited: Set<string>): Entity | undefined {
    if (symbolsOf(file).has(name)) return { kind: "symbol", path: file.path, name };
    const imported = this.#imported(file, name);
    if (imported !== undefined) return imported;
    const stars = file.imports.filter((entry) => entry.names.some(({ local }) => local === "*"));
    const found = this.#only(stars.map((entry) => this.#through(file, entry, name, new Set(visited))));
    if (found !== undefined && found.kind !== "external") return found;
    if (!/\/__init__\.pyi?$/.test(file.path)) return undefined;
    const module = pythonModule(join(dirname(file.path), name), this.#lookup);
    return module === undefined ? undefined : { kind: "file", path: module };
  }

  #inFolder(folder: string, name: string): Entity | undefined {
    const files = goFiles(folder, this.#lookup);
    if (files.length > 0) return this.#only(files.map((path) => this.#topLevel(path, name)));
    const module = pythonModule(join(folder, name), this.#lookup);
    return module === undefined ? undefined : { kind: "file", path: module };
  }

  #topLevel(path: string, name: string): Entity | undefined {
    const file = this.#lookup.file(path);
    if (file === undefined) return undefined;
    if (symbolsOf(file).has(name)) return { kind: "symbol", path, name };
    for (const namespace of file.language === "csharp" ? file.namespaces : []) {
      if (symbolsOf(file).has(`${namespace}.${name}`)) return { kind: "symbol", path, name: `${namespace}.${name}` };
    }
    return undefined;
  }

  /** Resolves a name the file itself does not bind: it comes from the same package or from a wildcard import. */
  #global(file: FileFacts, { of, steps }: Reference): Entity | undefined {
    const start = this.#globalName(file, of);
    return start === undefined ? undefined : this.#follow(start, steps);
  }

  #globalName(file: FileFacts, name: string): Entity | undefined {
    const lookup = this.#lookup;
    switch (file.language) {
      case "go": {
        if (GO_BUILTINS.has(name)) return undefined;
        const isTest = file.path.endsWith("_test.go");
        const beside = lookup.providers(`go:${dirname(file.path)}`).filter((path) => {
          if (path === file.path || (!isTest && path.endsWith("_test.go"))) return false;
          // A folder can contain a package's tests under a different package name.
          return lookup.file(path)?.namespaces[0] === file.namespaces[0];
        });
        return this.#only(beside.map((path) => this.#topLevel(path, name))) ?? this.#fromStars(file, name);
      }
      case "python":
      case "rust":
        return this.#fromStars(file, name);
      case "java":
        return (
          this.#typeNamed(
            file,
            file.namespaces.map((space) => `java:${space}.${name}`),
            name,
          ) ?? this.#fromStars(file, name)
        );
      case "csharp": {
        const spaces = [
          ...file.namespaces,
          ...file.imports.filter(({ kind }) => kind === "use").map(({ specifier }) => specifier),
        ];
        return this.#typeNamed(
          file,
          spaces.map((space) => `csharp:${space}.${name}`),
          name,
        );
      }
      case "php": {
        const full = file.namespaces[0] === undefined ? name : `${file.namespaces[0]}\\${name}`;
        const path = phpType(dirname(file.path), full, lookup);
        return path === undefined || path === file.path ? undefined : this.#topLevel(path, name);
      }
      case "c":
      case "cpp":
      case "ruby":
        return this.#fromStars(file, name);
      default:
        return undefined;
    }
  }

  #typeNamed(file: FileFacts, keys: readonly string[], name: string): Entity | undefined {
    const paths = new Set(keys.flatMap((key) => this.#lookup.providers(key)));
    paths.delete(file.path);
    const [only, ...others] = paths;
    return only === undefined || others.length > 0 ? undefined : this.#topLevel(only, name);
  }

  #fromStars(file: FileFacts, name: string): Entity | undefined {
    const found: (Entity | undefined)[] = [];
    for (const entry of file.imports) {
      if (entry.kind === "reexport" || !entry.names.some(({ local }) => local === "*")) continue;
      const module = this.module(file, entry);
      if (module.kind !== "external") found.push(this.#member(module, name));
    }
    return this.#only(found);
  }

  /** Returns the single entity among all candidates; undefined if there are two. */
  #only(entities: readonly (Entity | undefined)[]): Entity | undefined {
    let only: Entity | undefined;
    for (const entity of entities) {
      if (entity === undefined) continue;
      if (only !== undefined && !same(only, entity)) return undefined;
      only = entity;
    }
    return only;
  }
}

const baseMaps = new WeakMap<FileFacts, ReadonlyMap<string, readonly FileEdge[]>>();

/** Returns the edges from a file's classes to whatever they inherit members from, by class key. */
function basesOf(file: FileFacts): ReadonlyMap<string, readonly FileEdge[]> {
  let map = baseMaps.get(file);
  if (map === undefined) {
    const made = new Map<string, FileEdge[]>();
    for (const edge of file.edges) {
      // Modules included in Ruby provide members like base classes do.
      if (edge.relation !== "INHERITS" && (edge.relation !== "IMPLEMENTS" || file.language !== "ruby")) continue;
      const edges = made.get(edge.from);
      if (edges === undefined) made.set(edge.from, [edge]);
      else edges.push(edge);
    }
    map = made;
    baseMaps.set(file, map);
  }
  return map;
}

function isTyped(language: FileFacts["language"]): boolean {
  return language === "java" || language === "csharp" || language === "php" || language === "rust";
}

function same(a: Entity, b: Entity): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Spells a name inside a package that is not stored: `node:fs#promises.readFile`. */
function spellExternal(name: string, steps: readonly string[]): string {
  const names = steps.filter((step) => step !== CALL_STEP && step !== SUPER_STEP);
  if (names.length === 0) return name;
  return `${name}${name.includes("#") ? "." : "#"}${names.join(".")}`.slice(0, 300);
}
