import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { systemCodeOf, TrunklineError } from "@trunkline/core";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { readServers } from "./entries.js";
import type { ConfigScope, LoadedConfig } from "./types.js";

/** Where to look. */
export interface LoadConfigOptions {
  /** The working directory. */
  cwd: string;
  /** A file the user named: it is the whole configuration, and it has to be there and be sound. */
  mcpPath?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Reads the effective configuration. Rejects with `CONFIG_INVALID` only for a file that was named explicitly. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { cwd, mcpPath, signal } = options;
  if (mcpPath !== undefined) return await loadFile(resolve(cwd, mcpPath), "explicit", signal);
  const found = await findProjectFile(cwd);
  if (found !== undefined) return await loadFile(found, "project", signal);
  return { path: join(cwd, ".trunkline", "mcp.json"), exists: false, servers: [], diagnostics: [], secrets: [] };
}

/** `.trunkline/mcp.json` in this folder or the nearest one above it, up to the root of the git repository. */
async function findProjectFile(cwd: string): Promise<string | undefined> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const candidate = join(folder, ".trunkline", "mcp.json");
    if (await exists(candidate)) return candidate;
    if (dirname(folder) === folder || (await exists(join(folder, ".git")))) return undefined;
  }
}

async function loadFile(file: string, scope: ConfigScope, signal: AbortSignal | undefined): Promise<LoadedConfig> {
  let text: string;
  try {
    text = await readFile(file, { encoding: "utf8", ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
    throw new TrunklineError("CONFIG_INVALID", `The configuration file ${file} does not exist.`, {
      cause: error,
      hint: "Check the path given with --mcp.",
    });
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (tree === undefined || first !== undefined) {
    const at = positionOf(text, first?.offset ?? 0);
    const reason = first === undefined ? "it is empty" : printParseErrorCode(first.error);
    const message = `${file}:${at.line}:${at.column} is not valid JSON: ${reason}.`;
    if (scope === "explicit")
      throw new TrunklineError("CONFIG_INVALID", message, { hint: "Correct the file and try again." });
    return {
      path: file,
      exists: true,
      servers: [],
      diagnostics: [{ severity: "error", message, file, ...at }],
      secrets: [],
    };
  }
  const locate = (node: Node) => positionOf(text, node.offset);
  return { path: file, exists: true, ...readServers(tree, { file, scope, locate }) };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT" || systemCodeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}

/** Line and column, both from 1. */
function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf("\n");
  return { line: before.split("\n").length, column: offset - lastBreak };
}
