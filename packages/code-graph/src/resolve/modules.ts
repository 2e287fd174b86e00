// Resolves import specifiers, language by language.
import { posix } from "node:path";
import type { FileFacts, GraphImport } from "../model/graph-model.js";
import { resolveJavascript } from "./javascript-names.js";
import { foldersUp, type Lookup } from "./lookup.js";

const { dirname, join, basename } = posix;

/**
 * - `file`: the module is one file.
 * - `folder`: the module is all files of a folder (a Go package), or the folder itself (a Python package without
 * `__init__`).
 * - `files`: the module spans these files (a C# namespace, a Java package).
 * - `external`: the module is not stored.
 */
export type Module =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "files"; readonly paths: readonly string[] }
  | { readonly kind: "external"; readonly name: string };

export function resolveModule(file: FileFacts, entry: GraphImport, lookup: Lookup): Module {
  const path = resolveStored(file, entry, lookup);
  if (path === undefined) return { kind: "external", name: entry.specifier };
  return typeof path === "string" ? { kind: "file", path } : path;
}

function resolveStored(file: FileFacts, entry: GraphImport, lookup: Lookup): string | Module | undefined {
  switch (file.language) {
    case "typescript":
    case "tsx":
    case "javascript":
      return resolveJavascript(file, entry.specifier, lookup);
    case "python":
      return resolvePython(file, entry, lookup);
    case "go":
      return resolveGo(file, entry.specifier, lookup);
    case "rust":
      return resolveRust(file, entry, lookup);
    case "c":
    case "cpp":
      return resolveInclude(file, entry, lookup);
    case "java":
    case "csharp":
      return resolveNamespace(file, entry, lookup);
    case "ruby":
      return resolveRuby(file, entry, lookup);
    case "php":
      return resolvePhp(file, entry, lookup);
    default:
      return undefined;
  }
}

/** Finds a Python module below a folder. */
export function pythonModule(stem: string, lookup: Lookup): string | undefined {
  const candidates = lookup.stem(stem);
  return [`${stem}/__init__.py`, `${stem}.py`, `${stem}/__init__.pyi`, `${stem}.pyi`].find((path) =>
    candidates.includes(path),
  );
}

function resolvePython(file: FileFacts, entry: GraphImport, lookup: Lookup): string | Module | undefined {
  const { specifier } = entry;
  const dots = /^\.*/.exec(specifier)?.[0].length ?? 0;
  const parts = specifier
    .slice(dots)
    .split(".")
    .filter((part) => part !== "");
  const folder = dirname(file.path);
  if (dots > 0) {
    let base = folder;
    for (let up = 1; up < dots; up++) base = dirname(base);
    const stem = join(base, ...parts);
    return pythonModule(stem, lookup) ?? { kind: "folder", path: stem };
  }
  for (const root of pythonRoots(folder, lookup)) {
    const found = pythonModule(join(root, ...parts), lookup);
    if (found !== undefined) return found;
    // A package without `__init__` is visible only through its contents.
    const isFolder = entry.names.some(
      ({ imported }) => imported !== "*" && pythonModule(join(root, ...parts, imported), lookup) !== undefined,
    );
    if (isFolder) return { kind: "folder", path: join(root, ...parts) };
  }
  return undefined;
}

/** Returns where a program's packages can start: next to the file's outermost package, and above. */
function pythonRoots(folder: string, lookup: Lookup): string[] {
  let root = folder;
  while (root !== dirname(root) && lookup.stem(root).some((path) => /\/__init__\.pyi?$/.test(path)))
    root = dirname(root);
  return foldersUp(root).flatMap((current) => [current, join(current, "src")]);
}

function resolveGo(file: FileFacts, specifier: string, lookup: Lookup): Module | undefined {
  const folder = dirname(file.path);
  if (/^\.{1,2}\//.test(specifier)) return goFolder(join(folder, specifier), lookup);
  // Standard library paths have no dot in their first part, but neither do those of some modules, so only the lookup
  // decides.
  const parts = specifier.split("/");
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join("/");
    const manifests = lookup.providers(`go-module:${name}`);
    const near = foldersUp(folder);
    const manifest = manifests.length <= 1 ? manifests[0] : manifests.find((path) => near.includes(dirname(path)));
    if (manifest === undefined) continue;
    const found = goFolder(join(dirname(manifest), ...parts.slice(length)), lookup);
    if (found !== undefined) return found;
  }
  const own = lookup.nearest<"go">(folder, ["go.mod"]);
  for (const [name, target] of Object.entries(own?.config.replace ?? {})) {
    if (own !== undefined && (specifier === name || specifier.startsWith(`${name}/`))) {
      return goFolder(join(own.folder, target, specifier.slice(name.length)), lookup);
    }
  }
  return undefined;
}

function goFolder(path: string, lookup: Lookup): Module | undefined {
  return goFiles(path, lookup).length > 0 ? { kind: "folder", path } : undefined;
}

/** Returns the files of a Go package, without tests. */
export function goFiles(folder: string, lookup: Lookup): string[] {
  return lookup.providers(`go:${folder}`).filter((path) => !path.endsWith("_test.go"));
}

function rustModule(stem: string, lookup: Lookup): string | undefined {
  const candidates = lookup.stem(stem);
  return [`${stem}.rs`, `${stem}/mod.rs`].find((path) => candidates.includes(path));
}

/** Returns the folder of the modules a file declares. */
function rustFolder(path: string): string {
  const folder = dirname(path);
  return /^(?:main|lib|mod)\.rs$/.test(basename(path)) ? folder : join(folder, basename(path, ".rs"));
}

function resolveRust(file: FileFacts, entry: GraphImport, lookup: Lookup): string | undefined {
  const own = rustFolder(file.path);
  if (entry.kind === "mod") return rustModule(join(own, entry.specifier), lookup);
  const parts = entry.specifier.split("::").filter((part) => part !== "");
  const first = parts.shift();
  let base: string | undefined;
  let root: string | undefined;
  if (first === "self") [base, root] = [own, file.path];
  else if (first === "super") {
    base = dirname(own);
    while (parts[0] === "super") {
      parts.shift();
      base = dirname(base);
    }
    root = rustModule(base, lookup) ?? rustCrate(base, lookup);
  } else if (first === "crate") {
    root = foldersUp(dirname(file.path))
      .map((folder) => rustCrate(folder, lookup))
      .find((path) => path !== undefined);
    base = root === undefined ? undefined : dirname(root);
  } else if (first !== undefined) {
    const declared = file.imports.find(({ kind, specifier }) => kind === "mod" && specifier === first);
    if (declared !== undefined) [base, root] = [join(own, first), rustModule(join(own, first), lookup)];
    else {
      const manifests = lookup.providers(`cargo:${first}`);
      const manifest = manifests.length === 1 ? manifests[0] : undefined;
      const config = manifest === undefined ? undefined : lookup.config(manifest);
      if (manifest === undefined || config?.kind !== "cargo") return undefined;
      root = [config.root ?? "src/lib.rs", "src/main.rs"]
        .map((path) => join(dirname(manifest), path))
        .find((path) => lookup.has(path));
      base = root === undefined ? undefined : dirname(root);
    }
  }
  if (base === undefined) return undefined;
  // The last parts of a path can be types; a single imported name can itself be a module.
  const name = entry.names.length === 1 ? entry.names[0]?.imported : undefined;
  const full = name === undefined || name === "*" ? parts : [...parts, name];
  for (let length = full.length; length > 0; length--) {
    const found = rustModule(join(base, ...full.slice(0, length)), lookup);
    if (found !== undefined) return found;
  }
  return root === file.path ? undefined : root;
}

function rustCrate(folder: string, lookup: Lookup): string | undefined {
  return [`${folder}/lib.rs`, `${folder}/main.rs`].find((path) => lookup.has(path));
}

/** Looks next to the file, then below its parent folders, where projects keep headers. */
function resolveInclude(file: FileFacts, entry: GraphImport, lookup: Lookup): string | undefined {
  const folder = dirname(file.path);
  const beside = join(folder, entry.specifier);
  if (entry.relative === true && lookup.has(beside)) return beside;
  if (!entry.specifier.includes("/") && entry.relative !== true) return undefined;
  for (const current of foldersUp(folder)) {
    for (const root of [current, join(current, "include"), join(current, "src")]) {
      const path = join(root, entry.specifier);
      if (path !== file.path && lookup.has(path)) return path;
    }
  }
  return undefined;
}

/** Resolves Java and C# imports by a type's full name, or by the namespace's types that the file mentions. */
function resolveNamespace(file: FileFacts, entry: GraphImport, lookup: Lookup): Module | undefined {
  const language = file.language ?? "";
  if (entry.kind !== "use") {
    // A nested type is in the outer type's file.
    for (let name = entry.specifier; name.includes("."); name = name.slice(0, name.lastIndexOf("."))) {
      const paths = lookup.providers(`${language}:${name}`);
      if (paths.length === 1 && paths[0] !== undefined) return { kind: "file", path: paths[0] };
      if (paths.length > 1) return language === "csharp" ? { kind: "files", paths } : undefined;
      if (/^\p{Ll}/u.test(name.slice(name.lastIndexOf(".") + 1))) break;
    }
    const isAll = entry.names.some(({ local }) => local === "*");
    if (!isAll) return undefined;
  }
  const mentioned = new Set(file.mentions);
  const paths = lookup.providers(`${language}-namespace:${entry.specifier}`).filter((path) => {
    const other = path === file.path ? undefined : lookup.file(path);
    return (
      other?.symbols.some(
        (symbol) => mentioned.has(symbol.name) && isTypeOf(other, symbol.qualifiedName, entry.specifier),
      ) === true
    );
  });
  return paths.length === 0 ? undefined : { kind: "files", paths };
}

function isTypeOf(file: FileFacts, qualifiedName: string, namespace: string): boolean {
  if (file.language === "java") return !qualifiedName.includes(".");
  return qualifiedName.startsWith(`${namespace}.`) && !qualifiedName.slice(namespace.length + 1).includes(".");
}

function resolveRuby(file: FileFacts, entry: GraphImport, lookup: Lookup): string | undefined {
  const name = entry.specifier.endsWith(".rb") ? entry.specifier : `${entry.specifier}.rb`;
  const folder = dirname(file.path);
  if (entry.relative === true || /^\.{1,2}\//.test(entry.specifier)) {
    const path = join(folder, name);
    return lookup.has(path) ? path : undefined;
  }
  return foldersUp(folder)
    .map((current) => join(current, "lib", name))
    .find((path) => path !== file.path && lookup.has(path));
}

function resolvePhp(file: FileFacts, entry: GraphImport, lookup: Lookup): string | undefined {
  const folder = dirname(file.path);
  if (entry.kind === "include") {
    const path = join(folder, entry.specifier);
    return lookup.has(path) ? path : undefined;
  }
  return phpType(folder, entry.specifier, lookup);
}

/** Finds the file of a PHP class or function, first by the project's own map, then by what files declare. */
export function phpType(folder: string, name: string, lookup: Lookup): string | undefined {
  const found = lookup.nearest<"composer">(folder, ["composer.json"]);
  const prefixes = Object.entries(found?.config.psr4 ?? {}).sort(([a], [b]) => b.length - a.length);
  for (const [prefix, folders] of prefixes) {
    if (found === undefined || !name.startsWith(prefix)) continue;
    const rest = `${name.slice(prefix.length).replace(/\\/g, "/")}.php`;
    const path = folders.map((root) => join(found.folder, root, rest)).find((candidate) => lookup.has(candidate));
    if (path !== undefined) return path;
  }
  const paths = lookup.providers(`php:${name}`);
  return paths.length === 1 ? paths[0] : undefined;
}
