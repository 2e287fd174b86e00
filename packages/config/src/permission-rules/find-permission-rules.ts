// Finds the permission rules that programs have for their servers. Starts nothing and writes nothing.
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  fileReason,
  isAbsent,
  isRecord,
  isTrunklineError,
  PROGRAM_IDS,
  type ProgramId,
  TrunklineError,
} from "@trunkline/core";
import { foldersUpward } from "../config-files.js";
import { plainValue } from "../edit.js";
import { importSource, readProgramText } from "../import/find-imports.js";
import type { ImportPlace } from "../import/imported-server.js";
import { parseConfigText } from "../parse-file.js";
import { parseProgramText } from "../program-text.js";
import { claudeCodeRules } from "./claude-code-rules.js";
import { codexRules } from "./codex-rules.js";
import { cursorRules, entriesOnly, zedRules } from "./editor-rules.js";
import { geminiRules } from "./gemini-rules.js";
import { opencodeRules } from "./opencode-rules.js";
import type {
  PermissionRule,
  ProgramRules,
  RuleFile,
  RuleFolder,
  RulePlace,
  RulePlaces,
  RuleReader,
  WrittenRule,
} from "./rule-types.js";
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
  readonly signal?: AbortSignal;
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

async function rulesOf(agent: ProgramId, place: RulePlace & { signal?: AbortSignal }): Promise<ProgramRules> {
  const reader = READERS[agent];
  const problems: TrunklineError[] = [];
  const written: (WrittenRule & { file: string })[] = [];
  const seen = new Set<string>();
  const readFile = async (file: RuleFile): Promise<void> => {
    const { path, read, more } = file;
    const text = file.text ?? (await readProgramText(path, place.signal));
    if (text === undefined) return;
    const root =
      file.format === "markdown" ? await frontMatterOf(text, file) : parseProgramText(text, file.format, path);
    const rules = isRecord(root) ? read(root) : [unreadableRule(root, file)];
    for (const rule of rules) written.push({ ...rule, file: path });
    if (isRecord(root) && more !== undefined) await readPlaces(more(root, path));
  };
  const readPlaces = async ({ files = [], folders = [] }: RulePlaces): Promise<void> => {
    const listed = await Promise.all(
      folders.map(async (folder) => (await attempt(problems, () => filesIn(folder))) ?? []),
    );
    for (const file of [...files, ...listed.flat()]) {
      if (seen.has(resolve(file.path))) continue;
      seen.add(resolve(file.path));
      await attempt(problems, () => readFile(file));
    }
  };
  await readPlaces({ files: reader.files(place), folders: reader.folders?.(place) ?? [] });
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

/** Returns the front matter, or its text if it is not valid. */
async function frontMatterOf(text: string, { path }: RuleFile): Promise<Record<string, unknown> | string> {
  const bare = text.replace(/^\uFEFF/, "");
  if (!/^---[ \t]*\r?\n/.test(bare)) return {};
  const parsed = await parseConfigText(bare, path);
  const root = parsed.ok ? plainValue(parsed.root) : undefined;
  const [, block = ""] = bare.split(/^(?:---|\.\.\.)[ \t]*\r?$/m, 2);
  return isRecord(root) ? root : block;
}

function unreadableRule(frontMatter: string, { mentions }: RuleFile): WrittenRule {
  return {
    ...{ setting: "front matter", kind: "deny", text: "text that is not valid YAML" },
    covers: ({ name }) => (mentions?.(frontMatter, name) ? { tool: "*", effect: "stops" } : undefined),
  };
}

const ENDINGS = { json: ".json", toml: ".toml", markdown: ".md" } as const;

/** More than anyone writes. Without a limit, a project could keep `setup` busy. */
const MOST_FILES = 500;
const MOST_ENTRIES = 5_000;

async function filesIn({ folder, ending, isDeep, below, ...file }: RuleFolder): Promise<RuleFile[]> {
  const paths: string[] = [];
  const open = [folder];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of await entriesOf(next)) {
      const path = join(next, entry.name);
      if (below !== undefined) paths.push(join(path, below));
      else if (entry.name.endsWith(ending ?? ENDINGS[file.format])) paths.push(path);
      if (isDeep && entry.isDirectory()) open.push(path);
      if (paths.length <= MOST_FILES && ++entries <= MOST_ENTRIES) continue;
      throw unreadable(folder, `it has more than ${MOST_FILES} files`, { hint: "Move what does not belong in it." });
    }
  }
  return paths.map((path) => ({ ...file, path }));
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    const reason = fileReason(error);
    if (reason === undefined) throw error;
    throw unreadable(folder, reason, { cause: error, hint: "Check its permissions." });
  }
}

function unreadable(folder: string, reason: string, options: { cause?: unknown; hint: string }): TrunklineError {
  return new TrunklineError("IO", `${folder} cannot be read: ${reason}.`, { ...options, data: { file: folder } });
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
