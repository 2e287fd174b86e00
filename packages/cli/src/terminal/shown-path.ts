// Paths as people read and type them: relative to the working directory, or to the home folder.
import { isAbsolute, relative, sep } from "node:path";

/**
 * Shows a document's or file's path relative to the working directory, or as it is if that is shorter. A name that is not
 * a path of the file system stays as it is.
 */
export function shownPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path;
  const shown = relative(cwd, path) || ".";
  return shown.length < path.length ? shown : path;
}

/** Shows a path below the home folder as `~/…`. */
export function homePath(path: string, userHome: string): string {
  return path.startsWith(`${userHome}${sep}`) ? `~${path.slice(userHome.length)}` : path;
}

/** {@link shownPath} for the key of a graph's node, which contains a path: `file:/home/ada/app/src/a.ts`. */
export function shownKey(key: string, cwd: string): string {
  const { kind, path, rest } = partsOfKey(key);
  return path === undefined ? key : `${kind}${shownPath(path, cwd)}${rest}`;
}

/** Splits `symbol:/home/ada/app/src/a.ts#open` at its path. */
export function partsOfKey(key: string): { kind: string; path?: string; rest: string } {
  const [, kind, path, rest = ""] = /^(file:|symbol:)(.+?)(#.*)?$/s.exec(key) ?? [];
  return kind === undefined || path === undefined ? { kind: key, rest: "" } : { kind, path, rest };
}

/** Fields whose keys are data. */
const OPAQUE: ReadonlySet<string> = new Set(["metadata", "headers", "explain", "config"]);

/**
 * Adds to each `path` in a result a `relativePath` next to it, and to each list of paths, named `paths` or `files`,
 * `relativePaths`.
 */
export function withRelativePaths(result: unknown, cwd: string): unknown {
  if (Array.isArray(result)) return result.map((item) => withRelativePaths(item, cwd));
  if (typeof result !== "object" || result === null || ArrayBuffer.isView(result)) return result;
  return Object.fromEntries(
    Object.entries(result).flatMap(([name, value]): [string, unknown][] => {
      if (OPAQUE.has(name)) return [[name, value]];
      if (name === "path" && typeof value === "string") {
        return [
          [name, value],
          ["relativePath", shownPath(value, cwd)],
        ];
      }
      if ((name === "paths" || name === "files") && isTexts(value)) {
        return [
          [name, value],
          ["relativePaths", value.map((path) => shownPath(path, cwd))],
        ];
      }
      return [[name, withRelativePaths(value, cwd)]];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
