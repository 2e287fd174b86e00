// Determines which files make up the config, their order of precedence, and how their text is read.
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  abortError,
  isAbsent,
  isWithin,
  MAX_PROJECT_FILE_BYTES,
  readRegularFile,
  resolvedPath,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import { type DotEnv, parseEnvFile } from "./dot-env.js";
import type { ServerEntry } from "./entry-fields.js";
import { withHome } from "./home-path.js";
import type { ConfigScope } from "./loaded-config.js";

const FOLDER = ".trunkline";
/** Folders in which programs keep a project's config file; the parent folder is the project. */
const PROJECT_FOLDERS = new Set([FOLDER, ".vscode", ".cursor"]);

export interface ConfigSource {
  readonly path: string;
  readonly scope: ConfigScope;
  /** `settings` files can contain more than servers. */
  readonly kind: "mcp" | "settings";
  /** The value of `${workspaceFolder}` in this file. */
  readonly workspaceFolder: string;
  /**
   * The default working directory of the file's servers, so a project's file means the same from every folder of the
   * project. Absent for the user's own files: their servers run outside every project.
   */
  readonly defaultCwd?: string;
  /** The folder that a project's file must not leave through links. Default: `workspaceFolder`. */
  readonly boundary?: string;
  /** How the user named the file; absent if it was found by searching. */
  readonly namedBy?: string;
  /** The content, if it does not come from a file. */
  readonly text?: string;
}

interface FindOptions {
  readonly cwd: string;
  readonly env: (name: string) => string | undefined;
  readonly dotEnv: DotEnv;
  readonly folders: readonly string[];
  readonly seen: Sightings;
  /** The git root, if there is one. */
  readonly repository: string | undefined;
  readonly home: string | undefined;
  readonly userHome: string;
  readonly mcpPath: string | undefined;
  readonly mcpServers: Readonly<Record<string, ServerEntry>> | undefined;
}

/** Finds the configuration files, strongest first, and the workspace folder. */
export async function findSources(options: FindOptions): Promise<{ sources: ConfigSource[]; workspaceFolder: string }> {
  const nearest = await nearestWorkspace(options);
  if (options.mcpServers !== undefined)
    return { sources: [givenSource(options.mcpServers, options, nearest)], workspaceFolder: nearest };
  const named = namedFile(options);
  if (named !== undefined) {
    const project = await projectAround(named.path, options.home);
    const workspaceFolder = project ?? nearest;
    // A file of the workspace is about the workspace; one from elsewhere is like the user's own settings.
    const isOfWorkspace =
      named.scope === "project" || isWithin(await realPath(named.path), await realPath(workspaceFolder));
    const defaultCwd = isOfWorkspace ? { defaultCwd: workspaceFolder } : {};
    const source: ConfigSource = { ...named, kind: "mcp", workspaceFolder, ...defaultCwd };
    const ofUser = userSettings(options.home, workspaceFolder);
    // A repository's `.env` must not be able to switch off the user's own policy and servers.
    const keepsUser = named.scope === "project" && !(await isSame(named.path, ofUser[0]?.path));
    return { sources: keepsUser ? [source, ...ofUser] : [source], workspaceFolder };
  }
  const [mcp, settings] = await Promise.all([
    findUpward("mcp.json", options),
    findUpward("settings.json", { ...options, skipHome: true }),
  ]);
  const found = options.folders.find(
    (folder) => (folder === mcp?.folder && !mcp.isHome) || folder === settings?.folder,
  );
  const workspaceFolder = found ?? nearest;
  const project = (name: string, folder: string | undefined): ConfigSource => ({
    path: join(folder ?? resolve(options.cwd), FOLDER, name),
    scope: "project",
    kind: name === "mcp.json" ? "mcp" : "settings",
    workspaceFolder: folder ?? workspaceFolder,
    defaultCwd: folder ?? workspaceFolder,
  });
  const sources: ConfigSource[] = [
    mcp?.isHome
      ? { path: join(mcp.folder, FOLDER, "mcp.json"), scope: "user", kind: "mcp", workspaceFolder }
      : project("mcp.json", mcp?.folder),
  ];
  const ofProject = project("settings.json", settings?.folder);
  const [ofUser] = userSettings(options.home, workspaceFolder);
  if (ofUser === undefined) return { sources: [...sources, ofProject], workspaceFolder };
  // In the home folder itself, or through a link, the project's file is also the user's file. It counts once, as the
  // user's.
  const isOne = (await isSame(dirname(ofProject.path), options.home)) || (await isSame(ofProject.path, ofUser.path));
  if (!isOne) sources.push(ofProject);
  sources.push(ofUser);
  return { sources, workspaceFolder };
}

/**
 * The servers start in the current folder, like any command that is typed there. Nothing is remembered about them, so
 * their definitions are not pinned.
 */
function givenSource(
  servers: Readonly<Record<string, ServerEntry>>,
  { cwd }: FindOptions,
  workspaceFolder: string,
): ConfigSource {
  const entries = Object.entries(servers).map(([name, entry]) => [name, { ...entry, pin: "off" }]);
  const text = JSON.stringify({ mcpServers: Object.fromEntries(entries) });
  const place = { path: GIVEN_PATH, namedBy: GIVEN_PATH, workspaceFolder, defaultCwd: resolve(cwd) };
  return { ...place, scope: "explicit", kind: "mcp", text };
}

/** Stands for the path of a file in messages. */
const GIVEN_PATH = "the given servers";

/** Returns the user's own settings file, if there is a home for it. */
function userSettings(home: string | undefined, workspaceFolder: string): ConfigSource[] {
  if (home === undefined) return [];
  return [{ path: join(home, "settings.json"), scope: "user", kind: "settings", workspaceFolder }];
}

/**
 * What exists, as far as it was looked at while reading one configuration. Each look waits for a thread of its own, so
 * looking several times, or one by one, takes most of the time.
 */
export class Sightings {
  readonly #known = new Map<string, Promise<boolean>>();

  /** A file that cannot be checked counts as existing: reading it will report the problem. */
  exists(path: string): Promise<boolean> {
    const known = this.#known.get(path) ?? isThere(path);
    this.#known.set(path, known);
    return known;
  }

  /** Looks for everything in a folder that decides about its configuration, at the same time. */
  look(folder: string): void {
    for (const name of [".git", ".env", FOLDER]) void this.exists(join(folder, name));
  }
}

/** Returns the folder and its parents, nearest first, up to the git root or else the file system root. */
export async function foldersUpward(cwd: string, seen?: Sightings): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    seen?.look(folder);
    if (dirname(folder) === folder) return folders;
    const git = join(folder, ".git");
    if (await (seen?.exists(git) ?? isThere(git))) return folders;
  }
}

/**
 * Returns the file named by `--mcp` or `TRUNKLINE_MCP_FILE`. If named in `.env`, it is relative to that file's folder
 * and has project scope: the author of a repository also writes its `.env`, and must not be able to approve what it
 * runs.
 */
function namedFile(
  options: FindOptions,
): { path: string; namedBy: string; scope: ConfigScope; boundary?: string } | undefined {
  const { cwd, mcpPath, userHome } = options;
  if (mcpPath !== undefined) {
    if (mcpPath !== "") return { path: resolve(cwd, withHome(mcpPath, userHome)), namedBy: "--mcp", scope: "explicit" };
    throw new TrunklineError("CONFIG_INVALID", "The path given with --mcp is empty.", { hint: "Pass a file name." });
  }
  const own = options.env(MCP_FILE_VARIABLE);
  if (own) return { path: resolve(cwd, withHome(own, userHome)), namedBy: MCP_FILE_VARIABLE, scope: "explicit" };
  const { value, folder = cwd } = options.dotEnv.get(MCP_FILE_VARIABLE) ?? {};
  if (!value) return undefined;
  const namedBy = `${MCP_FILE_VARIABLE} in ${join(folder, ".env")}`;
  const boundary = options.repository ?? folder;
  return { path: resolve(folder, withHome(value, userHome)), namedBy, scope: "project", boundary };
}

const MCP_FILE_VARIABLE = "TRUNKLINE_MCP_FILE";

async function findUpward(
  name: string,
  options: FindOptions & { skipHome?: boolean },
): Promise<{ folder: string; isHome: boolean } | undefined> {
  for (const folder of options.folders) {
    const { seen } = options;
    if (!(await seen.exists(join(folder, FOLDER))) || !(await seen.exists(join(folder, FOLDER, name)))) continue;
    const isHome = await isSame(join(folder, FOLDER), options.home);
    if (!isHome || options.skipHome !== true) return { folder, isHome };
  }
  return undefined;
}

/**
 * Finds the nearest folder with a `.trunkline` other than the user's own, or else the repository root, or else this
 * folder.
 */
async function nearestWorkspace({ folders, seen, home, userHome, cwd }: FindOptions): Promise<string> {
  for (const folder of folders) {
    const own = join(folder, FOLDER);
    if ((await seen.exists(own)) && !(await isSame(own, home))) return folder;
    // Some people keep their home folder in Git. That does not make it the workspace of everything in it.
    if ((await seen.exists(join(folder, ".git"))) && !isWithin(resolve(userHome), folder)) return folder;
  }
  return resolve(cwd);
}

/**
 * Finds the project a file belongs to by its location: `.vscode/mcp.json` belongs to the folder that contains
 * `.vscode`.
 */
async function projectAround(path: string, home: string | undefined): Promise<string | undefined> {
  const folder = dirname(path);
  if (!PROJECT_FOLDERS.has(basename(folder)) || (await isSame(folder, home))) return undefined;
  return dirname(folder);
}

/** Returns the git root among folders from {@link foldersUpward}. */
export async function repositoryOf(
  folders: readonly string[],
  seen: Sightings = new Sightings(),
): Promise<string | undefined> {
  const last = folders.at(-1);
  return last !== undefined && (await seen.exists(join(last, ".git"))) ? last : undefined;
}

/** Whether a path inside a folder leads out of it through a link. */
export async function leavesFolder(path: string, folder: string): Promise<boolean> {
  if (!isWithin(path, folder)) return false;
  const [real, realFolder] = await Promise.all([realPath(path), realPath(folder)]);
  return !isWithin(real, realFolder);
}

/** Resolves links as far as possible. */
export async function realPath(path: string): Promise<string> {
  try {
    return await resolvedPath(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return path;
  }
}

async function isSame(path: string, other: string | undefined): Promise<boolean> {
  if (other === undefined) return false;
  if (path === other) return true;
  try {
    const [one, two] = await Promise.all([realpath(path), realpath(other)]);
    return one === two;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return !isAbsent(error);
  }
}

interface DotEnvOptions {
  /** A link in this folder may lead anywhere: it is the user's own. */
  readonly userHome?: string;
  readonly signal?: AbortSignal;
  /** Called with each `.env` that is a link out of its folder or repository. It is not read. */
  readonly onLink?: (path: string) => void;
  readonly seen?: Sightings;
}

/**
 * Reads the variables of all `.env` files in these folders, ordered nearest first. For each name, the nearest file
 * wins.
 */
export async function readDotEnv(folders: readonly string[], options: DotEnvOptions = {}): Promise<DotEnv> {
  const found = new Map<string, { value: string; folder: string }>();
  const { seen = new Sightings() } = options;
  const repository = await repositoryOf(folders, seen);
  for (const folder of folders) {
    const path = join(folder, ".env");
    if (!(await seen.exists(path))) continue;
    if (folder !== options.userHome && (await leavesFolder(path, repository ?? folder))) {
      options.onLink?.(path);
      continue;
    }
    const text = await readOptional(path, options.signal, { maxBytes: MAX_PROJECT_FILE_BYTES });
    if (text === undefined) continue;
    for (const [name, value] of Object.entries(parseEnvFile(text))) {
      if (!found.has(name)) found.set(name, { value, folder });
    }
  }
  return found;
}

/** Decodes a file's bytes: strips a byte order mark and accepts UTF-16 as written by Windows editors and shells. */
export function decodeConfigText(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Reads a file's text. System errors are thrown as they are; an abort throws a `TrunklineError`. A pipe is read only with
 * `mayBePipe`: for a file that the user has named.
 */
export async function readText(
  path: string,
  signal: AbortSignal | undefined,
  { mayBePipe = false, ...limits }: { mayBePipe?: boolean; maxBytes?: number } = {},
): Promise<string> {
  try {
    const reading = mayBePipe
      ? readFile(path, signal === undefined ? {} : { signal })
      : readRegularFile(path, { signal, ...limits });
    return decodeConfigText(await reading);
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "Reading the configuration");
    throw error;
  }
}

/** Reads a file's text; returns undefined if the file does not exist, is not a regular file, or is not readable. */
export async function readOptional(
  path: string,
  signal: AbortSignal | undefined,
  limits: { maxBytes?: number } = {},
): Promise<string | undefined> {
  try {
    return await readText(path, signal, limits);
  } catch (error) {
    if (isAbsent(error) || ["EISDIR", "EFTYPE", "EFBIG", "EACCES", "EPERM"].includes(systemCodeOf(error) ?? ""))
      return undefined;
    throw error;
  }
}
