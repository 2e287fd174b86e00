// Installs onnxruntime-node below the user's folder, for this platform only.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, writeFileAtomically } from "@trunkline/core";
import { installPackage } from "../weights/npm.js";
import type { PullOptions } from "../weights/pull.js";
import { packagesFolder, RUNTIME } from "./find-runtime.js";

/**
 * Installs the runtime with npm. Its native library is in the tarball; its install script, which would download parts
 * for graphics cards, does not run.
 */
export async function installRuntime(options: Omit<PullOptions, "model">): Promise<void> {
  const { home, npmCommand, npmEnv, onProgress, signal } = options;
  const folder = packagesFolder(home);
  const packageSpec = `${RUNTIME.name}@${RUNTIME.version}`;
  // Without a manifest here npm would install into the nearest parent folder that has one.
  const manifest = { name: "trunkline-packages", private: true };
  await writeFileAtomically(join(folder, "package.json"), `${JSON.stringify(manifest)}\n`);
  onProgress?.({ phase: "fetching", packageSpec });
  await installPackage(packageSpec, { cwd: folder, command: npmCommand, env: npmEnv, signal });
  await removeOtherPlatforms(folder);
}

/**
 * The tarball holds the library for five platforms, 290 MB together. Removes all but the one for this platform; if that
 * is not where we expect it, removes nothing.
 */
async function removeOtherPlatforms(folder: string): Promise<void> {
  const bin = join(folder, "node_modules", RUNTIME.name, "bin");
  for (const version of await foldersIn(bin)) {
    const platforms = await foldersIn(join(bin, version));
    const architectures = await foldersIn(join(bin, version, process.platform));
    if (!architectures.includes(process.arch)) continue;
    const others = [
      ...platforms.filter((name) => name !== process.platform).map((name) => join(bin, version, name)),
      ...architectures
        .filter((name) => name !== process.arch)
        .map((name) => join(bin, version, process.platform, name)),
    ];
    for (const other of others) await rm(other, { recursive: true, force: true });
  }
}

/** Returns the names of the folders in a folder, without links. */
async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
