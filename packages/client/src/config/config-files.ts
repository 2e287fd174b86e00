// Which files make up the configuration, in which order they count, and how their text is read.
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { abortError, systemCodeOf, TrunklineError } from "@trunkline/core";
import { type DotEnv, parseEnvFile } from "./dot-env.js";
import { withHome } from "./home-path.js";
import type { ConfigScope } from "./loaded-config.js";

/** The folder of a project's files. */
const FOLDER = ".trunkline";
/** Folders in which programs keep a project's file: what contains them is that project. */
const PROJECT_FOLDERS = new Set([FOLDER, ".vscode", ".cursor"]);

/** A file to read. */
export interface ConfigSource {
  readonly path: string;
  readonly scope: ConfigScope;
  /** `settings` may well hold other things than servers. */
  readonly kind: "mcp" | "settings";
  /** What `${workspaceFolder}` stands for in it. */
  readonly workspaceFolder: string;
  /** Where its servers run unless they say otherwise: a project's file means the same from every folder of the project. */
  readonly defaultCwd?: string;
  /** How the user named the file; absent for one that was looked for. */
  readonly namedBy?: string;
}

/** What {@link findSources} looks at. */
interface FindOptions {
  readonly cwd: string;
  readonly env: (name: string) => string | undefined;
  readonly dotEnv: DotEnv;
  readonly folders: readonly string[];
  readonly home: string | undefined;
  readonly userHome: string;
  readonly mcpPath: string | undefined;
}

/** The files of the effective configuration, the strongest first, and the workspace folder of the whole. */
export async function findSources(options: FindOptions): Promise<{ sources: ConfigSource[]; workspaceFolder: string }> {
  const named = namedFile(options);
  const nearest = await nearestWorkspace(options);
  if (named !== undefined) {
    const project = await projectAround(named.path, options.home);
    const workspaceFolder = project ?? nearest;
    const defaultCwd = project === undefined ? {} : { defaultCwd: project };
    return { sources: [{ ...named, kind: "mcp", workspaceFolder, ...defaultCwd }], workspaceFolder };
  }
  const mcp = await findUpward("mcp.json", options);
  const settings = await findUpward("settings.json", { ...options, skipHome: true });
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
  const user = (path: string, kind: ConfigSource["kind"]): ConfigSource => ({
    path,
    scope: "user",
    kind,
    workspaceFolder,
  });
  const sources = [mcp?.isHome ? user(join(mcp.folder, FOLDER, "mcp.json"), "mcp") : project("mcp.json", mcp?.folder)];
  const ofProject = project("settings.json", settings?.folder);
  if (options.home === undefined) return { sources: [...sources, ofProject], workspaceFolder };
  const ofUser = user(join(options.home, "settings.json"), "settings");
  // In the home folder itself, or through a link, the project's file is the user's: it counts once, as the user's.
  const isOne = (await isSame(dirname(ofProject.path), options.home)) || (await isSame(ofProject.path, ofUser.path));
  if (!isOne) sources.push(ofProject);
  sources.push(ofUser);
  return { sources, workspaceFolder };
}

/** The folder and those above it, the nearest first, up to the root of the git repository, else of the file system. */
export async function foldersUpward(cwd: string): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    if (dirname(folder) === folder || (await exists(join(folder, ".git")))) return folders;
  }
}

/**
 * The file that `--mcp` or else `TRUNKLINE_MCP_FILE` names. In `.env` it is relative to the folder of that file, and it has
 * the scope of the project: whoever wrote a repository wrote its `.env`, and must not be able to confirm what it runs.
 */
function namedFile(options: FindOptions): { path: string; namedBy: string; scope: ConfigScope } | undefined {
  const { cwd, mcpPath, userHome } = options;
  if (mcpPath !== undefined) {
    if (mcpPath !== "") return { path: resolve(cwd, withHome(mcpPath, userHome)), namedBy: "--mcp", scope: "explicit" };
    throw new TrunklineError("CONFIG_INVALID", "The path given with --mcp is empty.", { hint: "Name a file." });
  }
  const own = options.env(MCP_FILE_VARIABLE);
  if (own) return { path: resolve(cwd, withHome(own, userHome)), namedBy: MCP_FILE_VARIABLE, scope: "explicit" };
  const { value, folder = cwd } = options.dotEnv.get(MCP_FILE_VARIABLE) ?? {};
  if (!value) return undefined;
  const namedBy = `${MCP_FILE_VARIABLE} in ${join(folder, ".env")}`;
  return { path: resolve(folder, withHome(value, userHome)), namedBy, scope: "project" };
}

const MCP_FILE_VARIABLE = "TRUNKLINE_MCP_FILE";

async function findUpward(
  name: string,
  options: FindOptions & { skipHome?: boolean },
): Promise<{ folder: string; isHome: boolean } | undefined> {
  for (const folder of options.folders) {
    if (!(await exists(join(folder, FOLDER, name)))) continue;
    const isHome = await isSame(join(folder, FOLDER), options.home);
    if (!isHome || options.skipHome !== true) return { folder, isHome };
  }
  return undefined;
}

/** The nearest folder with a `.trunkline` that is not the user's own, or the root of the repository, or else this one. */
async function nearestWorkspace({ folders, home, cwd }: FindOptions): Promise<string> {
  for (const folder of folders) {
    const own = join(folder, FOLDER);
    if ((await exists(own)) && !(await isSame(own, home))) return folder;
    if (await exists(join(folder, ".git"))) return folder;
  }
  return resolve(cwd);
}

/** The project that a file belongs to by its place: `.vscode/mcp.json` means the folder that holds `.vscode`. */
async function projectAround(path: string, home: string | undefined): Promise<string | undefined> {
  const folder = dirname(path);
  if (!PROJECT_FOLDERS.has(basename(folder)) || (await isSame(folder, home))) return undefined;
  return dirname(folder);
}

async function isSame(path: string, other: string | undefined): Promise<boolean> {
  if (other === undefined) return false;
  if (path === other) return true;
  try {
    return (await realpath(path)) === (await realpath(other));
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** What cannot be looked at is there: reading it says what is wrong. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return !isMissing(error);
  }
}

/** The variables of all `.env` in these folders, which are given the nearest first: the nearest wins, name by name. */
export async function readDotEnv(folders: readonly string[], signal: AbortSignal | undefined): Promise<DotEnv> {
  const found = new Map<string, { value: string; folder: string }>();
  for (const folder of folders) {
    const text = await readOptional(join(folder, ".env"), signal);
    if (text === undefined) continue;
    for (const [name, value] of Object.entries(parseEnvFile(text))) {
      if (!found.has(name)) found.set(name, { value, folder });
    }
  }
  return found;
}

/** Text from the bytes of a file: a byte order mark goes, and UTF-16 as Windows' editors and shells write it is understood. */
export function decodeConfigText(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/** The text of a file. What the system reports is thrown as it is; an abort is a `TrunklineError`. */
export async function readText(path: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    return decodeConfigText(await readFile(path, signal === undefined ? {} : { signal }));
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "Reading the configuration");
    throw error;
  }
}

/** The text of a file; undefined where there is no such file, or a folder of that name, or no permission to read it. */
export async function readOptional(path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return await readText(path, signal);
  } catch (error) {
    if (isMissing(error) || ["EISDIR", "EACCES", "EPERM"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** Whether a system error says that there is nothing at that path. */
export function isMissing(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
