// Finds the permission rules that programs have for their servers. Starts nothing and writes nothing.
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileReason, isAbsent, isTrunklineError, PROGRAM_IDS, type ProgramId, TrunklineError } from "@trunkline/core";
import { foldersUpward } from "../config-files.js";
import { importSource, readProgramText } from "../import/find-imports.js";
import type { ImportPlace } from "../import/imported-server.js";
import { parseProgramText } from "../program-text.js";
import { claudeCodeRules } from "./claude-code-rules.js";
import { codexRules } from "./codex-rules.js";
import { cursorRules, entriesOnly, zedRules } from "./editor-rules.js";
import { geminiRules } from "./gemini-rules.js";
import { opencodeRules } from "./opencode-rules.js";
import type { PermissionRule, ProgramRules, RuleFile, RulePlace, RuleReader, WrittenRule } from "./rule-types.js";
import { fieldsOf } from "./shared-readers.js";

const MCP_SERVERS = [["mcpServers"]];

const READERS: Readonly<Record<ProgramId, RuleReader>> = {
  "claude-code": claudeCodeRules,
  codex: codexRules,
  gemini: geminiRules,
  opencode: opencodeRules,
  cursor: cursorRules,
  zed: zedRules,
  vscode: entriesOnly("vscode", [["servers"], ["mcp", "servers"]]),
  "claude-desktop": entriesOnly("claude-desktop", MCP_SERVERS),
  windsurf: entriesOnly("windsurf", MCP_SERVERS, ["disabledTools"]),
  cline: entriesOnly("cline", MCP_SERVERS),
  kiro: entriesOnly("kiro", MCP_SERVERS, ["disabledTools"]),
};

interface FindRulesOptions extends ImportPlace {
  readonly cwd: string;
  /** Only these programs. Default: all. */
  readonly programs?: readonly ProgramId[];
  /** Where administrators put files. Default: that of the platform. */
  readonly systemFolder?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Reads every file in which a program has rules: the user's, the administrator's, and those of its projects. */
export async function findPermissionRules(options: FindRulesOptions): Promise<ProgramRules[]> {
  const upward = await foldersUpward(options.cwd);
  const found: ProgramRules[] = [];
  for (const agent of options.programs ?? PROGRAM_IDS) {
    const folders = [...new Set([...upward, ...(await projectsOf(agent, options))])];
    const { systemFolder = systemFolderOf(options) } = options;
    found.push(await rulesOf(agent, { ...options, folders, systemFolder }));
  }
  return found;
}

function systemFolderOf({ platform, env }: ImportPlace): string {
  if (platform === "darwin") return "/Library/Application Support";
  return platform === "win32" ? env.ProgramData || "C:\\ProgramData" : "/etc";
}

async function rulesOf(
  agent: ProgramId,
  place: RulePlace & { signal?: AbortSignal | undefined },
): Promise<ProgramRules> {
  const { files, folders } = READERS[agent];
  const problems: TrunklineError[] = [];
  const written: (WrittenRule & { file: string })[] = [];
  const readFile = async ({ path, format, read }: RuleFile): Promise<void> => {
    const text = await readProgramText(path, place.signal);
    if (text === undefined) return;
    for (const rule of read(parseProgramText(text, format, path))) written.push({ ...rule, file: path });
  };
  const listed = async (): Promise<RuleFile[]> => {
    const lists = (folders?.(place) ?? []).map(async ({ folder, ...rest }) => {
      const names = await attempt(problems, () => namesIn(folder));
      return (names ?? [])
        .filter((name) => name.endsWith(`.${rest.format}`))
        .map((name): RuleFile => ({ ...rest, path: join(folder, name) }));
    });
    return (await Promise.all(lists)).flat();
  };
  const all = new Map([...files(place), ...(await listed())].map((file) => [resolve(file.path), file]));
  for (const file of all.values()) await attempt(problems, () => readFile(file));
  return {
    agent,
    problems,
    on: (server) =>
      written.flatMap(({ covers, ...rule }): PermissionRule[] => {
        const covered = covers(server);
        return covered === undefined ? [] : [{ agent, ...rule, server: server.name, ...covered }];
      }),
  };
}

async function attempt<T>(problems: TrunklineError[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isTrunklineError(error, "IO")) throw error;
    problems.push(error);
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    const reason = fileReason(error);
    if (reason === undefined) throw error;
    throw new TrunklineError("IO", `${folder} cannot be read: ${reason}.`, {
      cause: error,
      hint: "Check its permissions.",
      data: { file: folder },
    });
  }
}

/** The projects that a program has in its own file: their rules apply when it is used there. */
async function projectsOf(agent: ProgramId, place: FindRulesOptions): Promise<string[]> {
  if (agent !== "claude-code" && agent !== "codex") return [];
  const [path] = importSource(agent).userFiles(place);
  if (path === undefined) return [];
  try {
    const text = await readProgramText(path, place.signal);
    const root = parseProgramText(text ?? "", agent === "codex" ? "toml" : "json", path);
    return Object.keys(fieldsOf(root.projects)).filter((folder) => resolve(folder) === folder);
  } catch (error) {
    // It is among the files with rules, so it is named as unreadable.
    if (isTrunklineError(error, "IO")) return [];
    throw error;
  }
}
