// Packages that trunkline does not depend on, because they are large or rarely needed. We look for them next to trunkline
// (in the repository, or if someone installed them), then below the user's own folder. Nothing is installed here.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord, parseJson, systemCodeOf } from "@trunkline/core";

/** Where to look for a package, and which version to accept. */
export interface PackagePlaces {
  /** The version of trunkline; packages of other versions are not used. */
  readonly version: string;
  /** Files or folders (with a trailing slash) from which Node resolves packages, in order. */
  readonly from: readonly string[];
}

/** Returns the folder for packages installed on request. */
export function packagesFolder(home: string): string {
  return join(home, "packages");
}

/** Looks next to trunkline itself, then below the user's folder. */
export function packagePlaces(context: { version: string; home: string }): PackagePlaces {
  return { version: context.version, from: [fileURLToPath(import.meta.url), `${packagesFolder(context.home)}/`] };
}

/** Finds the file to import; undefined if this version of the package is not found. */
export async function resolvePackage(name: string, places: PackagePlaces): Promise<string | undefined> {
  for (const from of places.from) {
    const file = resolveFrom(name, from);
    if (file !== undefined && (await versionOf(file)) === places.version) return file;
  }
  return undefined;
}

function resolveFrom(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    if (systemCodeOf(error) === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Reads the version from the manifest above `dist/index.js`. */
async function versionOf(file: string): Promise<unknown> {
  const manifest = parseJson(await readFile(join(dirname(file), "..", "package.json"), "utf8"));
  return isRecord(manifest) ? manifest.version : undefined;
}
