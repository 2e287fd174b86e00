// onnxruntime-node, which runs the model. It is large and native, so `trunkline` comes without it: it is next to this
// package if npm installed that, or below the user's folder, where `trunkline models pull` puts it.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { isAbsent, isRecord, parseJson, systemCodeOf, TrunklineError } from "@trunkline/core";

/** The version that we test with; others are not used. */
export const RUNTIME = { name: "onnxruntime-node", version: "1.30.0" } as const;

/** Returns the folder for packages installed on request. */
export function packagesFolder(home: string): string {
  return resolve(home, "packages");
}

/** Finds the file to load, in the first of these places that has our version; undefined if none has. */
export async function findRuntime(manifestFiles: readonly (string | undefined)[]): Promise<string | undefined> {
  for (const manifestFile of manifestFiles) {
    const manifest = manifestFile === undefined ? undefined : await readManifest(manifestFile);
    if (!isRecord(manifest) || manifest.version !== RUNTIME.version || typeof manifest.main !== "string") continue;
    return join(dirname(manifestFile ?? ""), manifest.main);
  }
  return undefined;
}

/**
 * Where the runtime's package.json can be. In the user's folder it is read by its path: Node would go on to look in the
 * parent folders, where other users of the machine may be able to put one.
 */
export function runtimePlaces(home: string): readonly (string | undefined)[] {
  return [besideUs(), join(packagesFolder(home), "node_modules", RUNTIME.name, "package.json")];
}

/** Like {@link findRuntime}, but rejects with `NOT_FOUND`. */
export async function requireRuntime(home: string): Promise<string> {
  const file = await findRuntime(runtimePlaces(home));
  if (file !== undefined) return file;
  throw new TrunklineError("NOT_FOUND", `${RUNTIME.name} ${RUNTIME.version}, which runs the model, is not installed.`, {
    hint: "Run: trunkline models pull",
  });
}

/** Returns the package.json that npm installed with this package; undefined if there is none. */
function besideUs(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${RUNTIME.name}/package.json`);
  } catch (error) {
    if (systemCodeOf(error) === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

async function readManifest(file: string): Promise<unknown> {
  try {
    return parseJson(await readFile(file, "utf8"));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
