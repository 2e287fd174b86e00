// Resolves TypeScript and JavaScript specifiers.
import { posix } from "node:path";
import type { FileFacts, ProjectConfig } from "../model/graph-model.js";
import { foldersUp, type Lookup } from "./lookup.js";
import { stemOf } from "./lookup-keys.js";

const { dirname, join, basename } = posix;

const SOURCE = ["ts", "tsx", "mts", "cts", "d.ts", "d.mts", "d.cts", "js", "jsx", "mjs", "cjs"];
const ANY = [...SOURCE, "json", "vue", "svelte"];
/** Source extensions that a specifier with this extension can refer to, best first. */
const BY_EXTENSION: Readonly<Record<string, readonly string[]>> = {
  js: ["ts", "tsx", "d.ts", "js", "jsx"],
  jsx: ["tsx", "d.ts", "jsx"],
  mjs: ["mts", "d.mts", "mjs"],
  cjs: ["cts", "d.cts", "cjs"],
};
/** Build output folders, if the sources are in `src`. */
const BUILT = /^(?:\.\/)?(?:dist|build|lib|out|esm|cjs|es)\//;

/** Returns the stored file a specifier refers to; undefined if there is none. */
export function resolveJavascript(file: FileFacts, specifier: string, lookup: Lookup): string | undefined {
  const folder = dirname(file.path);
  const plain = specifier.replace(/[?#].*$/, (rest) => (specifier.startsWith("#") ? rest : ""));
  if (/^\.{1,2}(?:\/|$)/.test(plain)) return probe(join(folder, plain), lookup);
  if (plain.startsWith("/")) return probe(plain, lookup);
  if (plain.startsWith("#")) {
    const found = lookup.nearest<"npm">(folder, ["package.json"]);
    return found === undefined ? undefined : subpath(found.folder, found.config.imports, plain, lookup);
  }
  return byTsconfig(folder, plain, lookup) ?? byPackage(folder, plain, lookup);
}

/** Finds the file for a path with or without extension, or a folder's index file. */
function probe(path: string, lookup: Lookup): string | undefined {
  const base = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  const extension = /\.([cm]?jsx?)$/.exec(base)?.[1];
  const allowed = extension === undefined ? undefined : BY_EXTENSION[extension];
  if (allowed !== undefined) {
    const stem = base.slice(0, -(extension?.length ?? 0) - 1);
    const found = best(stem, lookup.stem(stem), allowed);
    if (found !== undefined) return found;
  }
  const candidates = lookup.stem(base);
  const found = best(base, candidates, ANY) ?? best(`${base}/index`, candidates, ANY);
  if (found !== undefined) return found;
  return /\.[\w-]+$/.test(basename(base)) && lookup.has(base) ? base : undefined;
}

function best(stem: string, candidates: readonly string[], extensions: readonly string[]): string | undefined {
  for (const extension of extensions) {
    const path = `${stem}.${extension}`;
    if (candidates.includes(path) && stemOf(path) === stem) return path;
  }
  return undefined;
}

interface Mapping {
  readonly baseUrl: string | undefined;
  readonly paths: Readonly<Record<string, readonly string[]>>;
  /** The folder that `paths` are relative to. */
  readonly pathsBase: string;
}

function byTsconfig(folder: string, specifier: string, lookup: Lookup): string | undefined {
  const found = lookup.nearest<"tsconfig">(folder, ["tsconfig.json", "jsconfig.json"]);
  if (found === undefined) return undefined;
  const mapping = mappingOf(found.config, found.folder, lookup, 0);
  const pattern = bestPattern(Object.keys(mapping.paths), specifier);
  if (pattern !== undefined) {
    const star = starOf(pattern, specifier);
    for (const target of mapping.paths[pattern] ?? []) {
      const path = probe(join(mapping.pathsBase, target.replace("*", star)), lookup);
      if (path !== undefined) return path;
    }
  }
  return mapping.baseUrl === undefined ? undefined : probe(join(mapping.baseUrl, specifier), lookup);
}

function mappingOf(
  config: Extract<ProjectConfig, { kind: "tsconfig" }>,
  folder: string,
  lookup: Lookup,
  depth: number,
): Mapping {
  let inherited: Mapping = { baseUrl: undefined, paths: {}, pathsBase: folder };
  for (const parent of depth < 5 ? (config.extends ?? []) : []) {
    if (!parent.startsWith(".") && !parent.startsWith("/")) continue;
    const base = parent.startsWith("/") ? parent : join(folder, parent);
    const path = [base, `${base}.json`, `${base}/tsconfig.json`].find(
      (candidate) => lookup.config(candidate)?.kind === "tsconfig",
    );
    const outer = path === undefined ? undefined : lookup.config(path);
    if (path !== undefined && outer?.kind === "tsconfig")
      inherited = mappingOf(outer, dirname(path), lookup, depth + 1);
  }
  const baseUrl = config.baseUrl === undefined ? inherited.baseUrl : join(folder, config.baseUrl);
  return {
    baseUrl,
    paths: config.paths ?? inherited.paths,
    pathsBase: config.paths === undefined ? inherited.pathsBase : (baseUrl ?? folder),
  };
}

/** Returns the pattern with the longest prefix before its star; one without a star wins. */
function bestPattern(patterns: readonly string[], specifier: string): string | undefined {
  let found: string | undefined;
  let length = -1;
  for (const pattern of patterns) {
    const star = pattern.indexOf("*");
    if (star === -1) {
      if (pattern === specifier) return pattern;
      continue;
    }
    const before = pattern.slice(0, star);
    const after = pattern.slice(star + 1);
    const fits =
      specifier.startsWith(before) && specifier.endsWith(after) && specifier.length >= before.length + after.length;
    if (fits && before.length > length) {
      found = pattern;
      length = before.length;
    }
  }
  return found;
}

function starOf(pattern: string, specifier: string): string {
  const star = pattern.indexOf("*");
  return star === -1 ? "" : specifier.slice(star, specifier.length - (pattern.length - star - 1));
}

function byPackage(folder: string, specifier: string, lookup: Lookup): string | undefined {
  if (specifier.includes(":")) return undefined;
  const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] ?? "");
  const manifest = chooseManifest(folder, name, lookup);
  const config = manifest === undefined ? undefined : lookup.config(manifest);
  if (manifest === undefined || config?.kind !== "npm") return undefined;
  const home = dirname(manifest);
  const rest = specifier.slice(name.length);
  const wanted = `.${rest}`;
  const listed = subpath(home, config.entries, wanted, lookup);
  if (listed !== undefined) return listed;
  const guesses = rest === "" ? ["src/index", "index", "src/main"] : [rest.slice(1), `src${rest}`];
  for (const guess of guesses) {
    const path = probe(join(home, guess), lookup);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Chooses between packages with the same name: the one Node would use, otherwise the only one outside node_modules. */
function chooseManifest(folder: string, name: string, lookup: Lookup): string | undefined {
  const manifests = lookup.providers(`npm:${name}`);
  if (manifests.length <= 1) return manifests[0];
  for (const current of foldersUp(folder)) {
    const installed = join(current, "node_modules", name, "package.json");
    if (manifests.includes(installed)) return installed;
  }
  const own = manifests.filter((path) => !path.includes("/node_modules/"));
  return own.length === 1 ? own[0] : undefined;
}

/** Finds the file for a subpath of a package. Build output is usually not stored, so its source is tried too. */
function subpath(
  home: string,
  entries: Readonly<Record<string, readonly string[]>>,
  wanted: string,
  lookup: Lookup,
): string | undefined {
  const pattern = bestPattern(Object.keys(entries), wanted);
  if (pattern === undefined) return undefined;
  const star = starOf(pattern, wanted);
  for (const target of entries[pattern] ?? []) {
    const path = target.replace("*", star);
    const options = BUILT.test(path) ? [path.replace(BUILT, "src/"), path.replace(BUILT, ""), path] : [path];
    for (const option of options) {
      const found = probe(join(home, option.replace(/\.d\.([cm]?)ts$/, ".$1js")), lookup);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
