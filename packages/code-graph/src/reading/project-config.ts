// Reads project files that define how imports resolve. Lenient: unreadable content is ignored.
import type { ProjectConfig } from "../model/graph-model.js";

/** Reads the file if it is a project file; undefined otherwise. */
export function readConfig(path: string, text: string): ProjectConfig | undefined {
  if (text.length > 1_000_000) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/^(?:tsconfig|jsconfig)(?:\.[\w-]+)*\.json$/.test(name)) return readTsconfig(text);
  switch (name) {
    case "package.json":
      return readPackage(text);
    case "composer.json":
      return readComposer(text);
    case "go.mod":
      return readGoMod(text);
    case "Cargo.toml":
      return readCargo(text);
    default:
      return undefined;
  }
}

/** Whether a file with this name affects the files next to and below it. */
export function isConfigPath(path: string): boolean {
  return /(?:^|\/)(?:(?:tsconfig|jsconfig)(?:\.[\w-]+)*\.json|package\.json|composer\.json|go\.mod|Cargo\.toml)$/.test(
    path,
  );
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): Json | undefined {
  for (const candidate of [text, withoutComments(text)]) {
    try {
      const value: unknown = JSON.parse(candidate);
      return isObject(value) ? value : undefined;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/** Removes comments and trailing commas, which tsconfig files allow. */
function withoutComments(text: string): string {
  return text
    .replace(/^\ufeff/, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part.startsWith('"') ? part : ""))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part.startsWith('"') ? part : ""));
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function readTsconfig(text: string): ProjectConfig | undefined {
  const json = parseJson(text);
  if (json === undefined) return undefined;
  const options = isObject(json.compilerOptions) ? json.compilerOptions : {};
  const paths = isObject(options.paths)
    ? Object.fromEntries(Object.entries(options.paths).map(([pattern, targets]) => [pattern, strings(targets)]))
    : undefined;
  const baseUrl = options.baseUrl;
  const parents = strings(json.extends);
  return {
    kind: "tsconfig",
    ...(typeof baseUrl === "string" ? { baseUrl } : {}),
    ...(paths === undefined ? {} : { paths }),
    ...(parents.length === 0 ? {} : { extends: parents }),
  };
}

function readPackage(text: string): ProjectConfig | undefined {
  const json = parseJson(text);
  if (json === undefined) return undefined;
  const entries: Record<string, string[]> = {};
  const exported = json.exports;
  if (typeof exported === "string" || Array.isArray(exported)) entries["."] = targetsOf(exported);
  else if (isObject(exported)) {
    const bySubpath = Object.keys(exported).some((key) => key.startsWith("."));
    if (!bySubpath) entries["."] = targetsOf(exported);
    else for (const [subpath, target] of Object.entries(exported)) entries[subpath] = targetsOf(target);
  }
  const main = ["source", "types", "typings", "module", "main"].flatMap((field) => strings(json[field]));
  if (main.length > 0) entries["."] = [...(entries["."] ?? []), ...main];
  const imports: Record<string, string[]> = {};
  if (isObject(json.imports))
    for (const [name, target] of Object.entries(json.imports)) imports[name] = targetsOf(target);
  const name = json.name;
  return { kind: "npm", ...(typeof name === "string" ? { name } : {}), entries, imports };
}

/** Returns all files named in a condition object. */
function targetsOf(target: unknown, depth = 0): string[] {
  if (typeof target === "string") return [target];
  if (depth > 4) return [];
  if (Array.isArray(target)) return target.flatMap((item) => targetsOf(item, depth + 1));
  return isObject(target) ? Object.values(target).flatMap((item) => targetsOf(item, depth + 1)) : [];
}

function readComposer(text: string): ProjectConfig | undefined {
  const json = parseJson(text);
  if (json === undefined) return undefined;
  const psr4: Record<string, string[]> = {};
  for (const section of ["autoload", "autoload-dev"]) {
    const autoload = json[section];
    const map = isObject(autoload) ? autoload["psr-4"] : undefined;
    if (isObject(map))
      for (const [prefix, folders] of Object.entries(map))
        psr4[prefix] = [...(psr4[prefix] ?? []), ...strings(folders)];
  }
  return { kind: "composer", psr4 };
}

function readGoMod(text: string): ProjectConfig | undefined {
  const module = /^\s*module\s+"?([^\s"]+)"?/m.exec(text)?.[1];
  if (module === undefined) return undefined;
  const replace: Record<string, string> = {};
  for (const match of text.matchAll(
    /^[ \t]*(?:replace[ \t]+)?([^\s(]+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.{1,2}\/\S*|\.{1,2})/gm,
  )) {
    replace[match[1] ?? ""] = match[2] ?? "";
  }
  return { kind: "go", module, replace };
}

function readCargo(text: string): ProjectConfig {
  const section = (name: string) => new RegExp(`^\\[${name}\\]([^[]*)`, "m").exec(text)?.[1] ?? "";
  const name = /^\s*name\s*=\s*"([^"]+)"/m.exec(section("package"))?.[1];
  const root = /^\s*path\s*=\s*"([^"]+)"/m.exec(section("lib"))?.[1];
  return { kind: "cargo", ...(name === undefined ? {} : { name }), ...(root === undefined ? {} : { root }) };
}
