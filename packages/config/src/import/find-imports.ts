// Finds and reads other programs' files. Starts nothing and writes nothing.
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  fileReason,
  isAbsent,
  isRecord,
  isTrunklineError,
  KNOWN_PROGRAMS,
  MAX_PROJECT_FILE_BYTES,
  nearestNames,
  PROGRAM_IDS,
  type ProgramId,
  readRegularFile,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import { foldersUpward } from "../config-files.js";
import { codex } from "./codex.js";
import type { ImportContext, ImportPlace, ImportSource, ParsedServers, ProgramReader } from "./imported-server.js";
import { JSON_READERS } from "./programs.js";
import { parseJsonFile } from "./read-servers.js";

const READERS: Readonly<Record<ProgramId, ProgramReader>> = { ...JSON_READERS, codex };

/** Every program. If two have a server of the same name, the first one counts. */
export const IMPORT_SOURCES: readonly ImportSource[] = PROGRAM_IDS.map((id) => ({
  id,
  title: KNOWN_PROGRAMS[id],
  ...READERS[id],
}));

/** One file of another program. */
export interface FoundImport extends ParsedServers {
  readonly source: ImportSource;
  readonly path: string;
  /** The text that the servers were read from; empty if it could not be read. */
  readonly text: string;
  /** Whether the file belongs to the user or the project, which decides where its servers go by default. */
  readonly scope: "user" | "project";
  /** Why the file could not be read; if set, there are no servers. */
  readonly problem?: TrunklineError;
}

interface FindImportsOptions extends ImportPlace {
  readonly cwd: string;
  /** Only these programs, by id. Default: all. */
  readonly programs?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Finds the files that exist. For project files, only the nearest one of each kind counts. */
export async function findImports(options: FindImportsOptions): Promise<FoundImport[]> {
  const sources = options.programs === undefined ? IMPORT_SOURCES : options.programs.map(importSource);
  const folders = await foldersUpward(options.cwd);
  const found: FoundImport[] = [];
  for (const source of new Set(sources)) {
    const userFiles = source.userFiles(options);
    for (const relative of source.projectFiles) {
      for (const folder of folders) {
        const path = join(folder, relative);
        // In the user's home folder, the user's file looks like a project's.
        if (userFiles.includes(path)) continue;
        const read = await tryRead(source, path, { ...options, folders, maxBytes: MAX_PROJECT_FILE_BYTES });
        if (read === undefined) continue;
        found.push({ source, path, scope: "project", ...read });
        break;
      }
    }
    for (const path of userFiles) {
      const read = await tryRead(source, path, { ...options, folders });
      if (read !== undefined) found.push({ source, path, scope: "user", ...read });
    }
  }
  return found;
}

/** Reads a file the user named. If no program is given, the content tells which one wrote it. */
export async function readImport(
  file: string,
  options: FindImportsOptions & { readonly program?: string },
): Promise<FoundImport> {
  const path = resolve(options.cwd, file);
  // `--from <(…)` is a pipe.
  const text = await readProgramText(path, options.signal, { mayBePipe: true });
  if (text === undefined) {
    throw new TrunklineError("USAGE", `The file ${path} does not exist.`, {
      hint: "Check the path given with --from.",
    });
  }
  const folders = await foldersUpward(options.cwd);
  const source = options.program === undefined ? recognise(text, path) : importSource(options.program);
  const top = folders.at(-1) ?? options.cwd;
  const inProject = (await isGitRoot(top)) && path.startsWith(join(top, "/"));
  const parsed = source.parse(text, contextOf(path, { ...options, folders }));
  return { source, path, scope: inProject ? "project" : "user", text, ...parsed };
}

/** Finds a program by id. Throws `USAGE` with the nearest id if there is none. */
export function importSource(id: string): ImportSource {
  const source = IMPORT_SOURCES.find((candidate) => candidate.id === id);
  if (source !== undefined) return source;
  const [near] = nearestNames(id, PROGRAM_IDS);
  throw new TrunklineError("USAGE", `There is no program "${id}" to import from.`, {
    hint: near === undefined ? `Known: ${PROGRAM_IDS.join(", ")}, or all.` : `Did you mean ${near}?`,
  });
}

type Reading = FindImportsOptions & { readonly folders: readonly string[]; readonly maxBytes?: number };

async function tryRead(
  source: ImportSource,
  path: string,
  options: Reading,
): Promise<(ParsedServers & { text: string; problem?: TrunklineError }) | undefined> {
  try {
    const { signal, maxBytes } = options;
    const text = await readProgramText(path, signal, maxBytes === undefined ? {} : { maxBytes });
    if (text === undefined) return undefined;
    return { text, ...source.parse(text, contextOf(path, options)) };
  } catch (error) {
    if (!isTrunklineError(error, "IO")) throw error;
    return { text: "", servers: [], skipped: [], problem: error };
  }
}

function contextOf(path: string, options: Reading): ImportContext {
  const { userHome, platform, env, folders } = options;
  return { userHome, platform, env, folders, path };
}

/** Recognises the program by its key. */
function recognise(text: string, path: string): ImportSource {
  if (path.endsWith(".toml")) return importSource("codex");
  const sameName = IMPORT_SOURCES.find(({ userFiles, projectFiles }) => {
    const files = [...userFiles({ userHome: "/", platform: "linux", env: {} }), ...projectFiles];
    const ending = join(basename(dirname(path)), basename(path)).replaceAll("\\", "/");
    return files.some((file) => `/${file}`.endsWith(`/${ending}`));
  });
  if (sameName !== undefined) return sameName;
  const root = parseJsonFile(text, path);
  if (isRecord(root.context_servers)) return importSource("zed");
  if (isRecord(root.mcpServers)) return importSource("claude-code");
  if (isRecord(root.servers) || (isRecord(root.mcp) && isRecord(root.mcp.servers))) return importSource("vscode");
  if (isRecord(root.mcp)) return importSource("opencode");
  throw new TrunklineError("USAGE", `${path} does not look like a configuration file of a known program.`, {
    hint: `Say which program it is from: trunkline import <program> --from ${path}`,
  });
}

const HINTS: Readonly<Record<string, string>> = {
  EISDIR: "Name a file inside it.",
  EFTYPE: "Remove it: no program writes its settings that way, so it came with the folder.",
  EFBIG: "Remove what does not belong in it.",
};

/** Reads a file of another program; undefined if there is none. */
export async function readProgramText(
  path: string,
  signal: AbortSignal | undefined,
  { mayBePipe = false, ...limits }: { mayBePipe?: boolean; maxBytes?: number } = {},
): Promise<string | undefined> {
  try {
    const reading = mayBePipe
      ? readFile(path, signal === undefined ? {} : { signal })
      : readRegularFile(path, { signal, ...limits });
    return (await reading).toString("utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    const reason = fileReason(error);
    if (reason === undefined || signal?.aborted) throw error;
    const hint = HINTS[systemCodeOf(error) ?? ""] ?? "Check its permissions.";
    throw new TrunklineError("IO", `${path} cannot be read: ${reason}.`, { cause: error, hint, data: { file: path } });
  }
}

async function isGitRoot(folder: string): Promise<boolean> {
  try {
    await stat(join(folder, ".git"));
    return true;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
