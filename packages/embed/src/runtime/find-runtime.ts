// onnxruntime-node, which runs the model. It is large and native, so `trunkline` comes without it: it is next to this
// package if npm installed that, or below the user's folder, where `trunkline models pull` puts it.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isRecord, parseJson, systemCodeOf, TrunklineError } from "@trunkline/core";

/** The version that we test with; others are not used. */
export const RUNTIME = { name: "onnxruntime-node", version: "1.30.0" } as const;

/** Returns the folder for packages installed on request. */
export function packagesFolder(home: string): string {
  return join(home, "packages");
}

/** Finds the file to load, in the first of these places that has our version; undefined if none has. */
export async function findRuntime(places: readonly string[]): Promise<string | undefined> {
  for (const from of places) {
    const manifestFile = resolveFrom(from);
    if (manifestFile === undefined) continue;
    const manifest = parseJson(await readFile(manifestFile, "utf8"));
    if (!isRecord(manifest) || manifest.version !== RUNTIME.version || typeof manifest.main !== "string") continue;
    return join(dirname(manifestFile), manifest.main);
  }
  return undefined;
}

/** Files or folders (with a trailing slash) from which Node resolves packages, in order. */
export function runtimePlaces(home: string): readonly string[] {
  return [import.meta.url, `${packagesFolder(home)}/`];
}

/** Like {@link findRuntime}, but rejects with `NOT_FOUND`. */
export async function requireRuntime(home: string): Promise<string> {
  const file = await findRuntime(runtimePlaces(home));
  if (file !== undefined) return file;
  throw new TrunklineError("NOT_FOUND", `${RUNTIME.name} ${RUNTIME.version}, which runs the model, is not installed.`, {
    hint: "Run: trunkline models pull",
  });
}

function resolveFrom(from: string): string | undefined {
  try {
    return createRequire(from).resolve(`${RUNTIME.name}/package.json`);
  } catch (error) {
    if (systemCodeOf(error) === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
